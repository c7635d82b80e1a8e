//! Queries that look alike are answered as if each were alone: many in one run, and many in one query.

use arrow::array::RecordBatch;
use arrow::compute::cast;
use caudal_oracle::compare;
use caudal_oracle::lookalikes::{KINDS, part};
use fastrand::Rng;

use crate::harness::{Answer, Run, Table};
use crate::random_sql::tables;

/// Tables of which all are large enough that look-alikes differ.
const SEED: u64 = 11;

async fn ask(tables: &[Table], queries: &[String], shards: usize) -> Vec<Answer> {
    let (answers, _) = Run::new(tables, queries, shards).answers().await.unwrap();
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn together_as_alone() {
    let tables = tables(&mut Rng::with_seed(SEED));
    let (mut pairs, mut wrong) = (0, vec![]);
    for kind in KINDS {
        let queries = kind.queries();
        let alone = alone(&tables, &queries).await;
        // A pair that gives the same either way proves nothing, and does not count.
        for (at, one) in alone.iter().enumerate() {
            let others = alone[at + 1..].iter();
            pairs += others.filter(|other| compare(one, other, false).is_err()).count();
        }
        let together = ask(&tables, &queries, 3).await;
        for ((together, alone), query) in together.into_iter().zip(&alone).zip(&queries) {
            let compared = together.and_then(|together| compare(&together, alone, false));
            wrong.extend(compared.err().map(|difference| format!("{query}\n{difference}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    println!("{pairs} pairs that differ");
    assert!(pairs > 1200, "{pairs} pairs that differ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_one_query_as_alone() {
    let tables = tables(&mut Rng::with_seed(SEED));
    let (mut compared, mut wrong) = (0, vec![]);
    for kind in KINDS {
        // Each part by itself has its number in front, as in the union.
        let numbered: Vec<_> =
            (0..).zip(kind.queries()).map(|(n, query)| part(n, &query)).collect();
        let sql = numbered.join(" UNION ALL ");
        let expected = alone(&tables, &numbered).await;
        // Parts of different types cannot stand in one union.
        let run = Run::new(&tables, std::slice::from_ref(&sql), 2);
        let Ok((mut answers, _)) = run.answers().await else { continue };
        let same = answers.swap_remove(0).and_then(|united| {
            let expected = expected.iter().flatten().map(|rows| as_in(&united, rows));
            compare(&united, &expected.collect::<Vec<_>>(), false)
        });
        compared += 1;
        wrong.extend(same.err().map(|difference| format!("{sql}\n{difference}")));
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(compared * 10 > KINDS.len() * 8, "{compared} of {} kinds", KINDS.len());
}

/// The answer to each query in a session of its own.
async fn alone(tables: &[Table], queries: &[String]) -> Vec<Vec<RecordBatch>> {
    let mut alone = vec![];
    for query in queries {
        let answer = ask(tables, std::slice::from_ref(query), 3).await.swap_remove(0);
        alone.push(answer.unwrap_or_else(|error| panic!("{query}\n{error}")));
    }
    alone
}

/// The rows with the types that they have in the union.
fn as_in(united: &[RecordBatch], rows: &RecordBatch) -> RecordBatch {
    let Some(first) = united.first() else { return rows.clone() };
    let types = first.schema();
    let columns = rows.columns().iter().zip(types.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type()).unwrap()).collect();
    RecordBatch::try_new(first.schema(), columns).unwrap()
}
