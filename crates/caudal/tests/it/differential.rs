//! Hundreds of random queries over random tables equal what DataFusion alone answers.

use caudal_oracle::compare;
use caudal_oracle::random_sql::query;
use caudal_testing::Seeds;
use fastrand::Rng;

use crate::harness::{Run, plain};
use crate::random_sql::tables;

/// Seeds of a run; `CAUDAL_SEEDS=5000` for a longer one, `CAUDAL_SEED=17` to replay one.
const SEEDS: u64 = 120;
const QUERIES_PER_SEED: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries_equal_datafusion() {
    let seeds = Seeds::of(SEEDS);
    let (mut answered, mut refused, mut rows) = (0, 0, 0);
    for seed in seeds.range() {
        let mut rng = Rng::with_seed(seed);
        let tables = tables(&mut rng);
        let queries: Vec<_> = (0..QUERIES_PER_SEED).map(|_| query(&mut rng)).collect();
        let shards = [1, 2, 4, 7][rng.usize(..4)];
        for query in queries {
            let replay = || format!("CAUDAL_SEED={seed}, {shards} shards\n{}", query.sql);
            let theirs = plain(&tables, &query.sql).await;
            let sql = [query.sql.clone()];
            let ours = Run::new(&tables, &sql, shards).answers().await;
            let ours = ours.and_then(|(mut answers, _)| answers.swap_remove(0));
            match (ours, theirs) {
                (Ok(ours), Ok(theirs)) => {
                    let same = compare(&ours, &theirs, query.ordered);
                    rows += same.unwrap_or_else(|difference| panic!("{difference}\n{}", replay()));
                    answered += 1;
                }
                (Err(_), Err(_)) => refused += 1,
                (ours, theirs) => panic!(
                    "ours: {:?}\ntheirs: {:?}\n{}",
                    ours.map(|rows| rows.len()),
                    theirs.map(|rows| rows.len()),
                    replay()
                ),
            }
        }
    }
    println!("{answered} answers equal, {rows} rows in all; {refused} refused by both");
    assert!(
        !seeds.suffice() || (answered > 400 && rows > 10_000),
        "{answered} answers, {rows} rows"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scalar_subquery_has_one_row_or_none() {
    let tables = tables(&mut Rng::with_seed(7));
    let ask = async |sql: &str| {
        let queries = [sql.to_string()];
        let (mut answers, _) = Run::new(&tables, &queries, 4).answers().await.unwrap();
        answers.swap_remove(0)
    };
    for sql in ["SELECT k FROM t WHERE n > (SELECT n FROM u)", "SELECT (SELECT k FROM t) AS a"] {
        let refusal = ask(sql).await.expect_err(sql);
        assert!(refusal.contains("more than one row"), "{refusal}");
    }
    for sql in [
        "SELECT (SELECT k FROM t WHERE k > 1000) AS a, count(*) FROM u",
        "SELECT k FROM t WHERE n >= (SELECT DISTINCT 3 FROM u)",
        "SELECT k FROM t WHERE n = (SELECT n FROM u ORDER BY n, k, s LIMIT 1)",
    ] {
        let theirs = plain(&tables, sql).await.unwrap();
        compare(&ask(sql).await.unwrap(), &theirs, false).unwrap();
    }
}
