//! A session's fingerprint is the same in every process, and tells different sessions apart.

use std::process::Command;

use crate::plan;

const QUERIES: [&str; 7] = [
    "SELECT k, sum(n), count(DISTINCT s) FROM t GROUP BY k",
    "SELECT t.s FROM t JOIN u ON t.k = u.k WHERE u.n > (SELECT avg(n) FROM t)",
    "SELECT s, row_number() OVER (PARTITION BY k ORDER BY n) FROM t UNION ALL SELECT 'x', 1",
    "SELECT now() FROM t WHERE k IN (SELECT k FROM u GROUP BY k HAVING count(*) > $least)",
    "SELECT s FROM t ORDER BY n DESC, s LIMIT 3",
    "SELECT k, max(n) FROM t GROUP BY k ORDER BY max(n) LIMIT 3",
    "SELECT k, sum(CASE s WHEN 'a' THEN 1 WHEN 'b' THEN 2 WHEN 'c' THEN 3 END) OVER (PARTITION BY k) FROM t WHERE k IN (1, 2, 3, 5)",
];

#[tokio::test]
async fn the_same_in_every_process() {
    let here = format!("{:032x}", plan(&QUERIES).await.unwrap().fingerprint);
    // The child runs this very test, and says its own fingerprint instead of starting children.
    if std::env::var_os("CAUDAL_FINGERPRINT_CHILD").is_some() {
        println!("fingerprint={here}");
        return;
    }
    for _ in 0..6 {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fingerprint::the_same_in_every_process", "--nocapture"])
            .env("CAUDAL_FINGERPRINT_CHILD", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(child.stdout).unwrap();
        assert!(said.contains(&format!("fingerprint={here}")), "{said}");
    }
}

#[tokio::test]
async fn different_for_different_questions() {
    let of = async |sql: &str| plan(&[sql]).await.unwrap().fingerprint;
    assert_ne!(of("SELECT s FROM t WHERE n > 1").await, of("SELECT s FROM t WHERE n > 2").await);
    assert_ne!(of("SELECT s FROM t").await, of("SELECT s FROM u").await);
    // The same text on a screen, but not the same values.
    assert_ne!(of("SELECT 1 AS a FROM t").await, of("SELECT '1' AS a FROM t").await);
}

/// Stages that two queries share, also where operators keep something of their own: a top-k its threshold.
#[tokio::test]
async fn what_is_the_same_runs_once() {
    for sql in [QUERIES[0], QUERIES[1], QUERIES[4], QUERIES[5]] {
        let (alone, twice) = (plan(&[sql]).await.unwrap(), plan(&[sql, sql]).await.unwrap());
        assert_eq!(twice.stages.len(), alone.stages.len() + 1, "all but the last: {sql}");
    }
}
