//! Refusals, with the place and the name that was meant.

use caudal_core::Coded;

use crate::plan;

async fn refusal(sql: &str) -> String {
    let error = plan(&[sql]).await.map(|_| ()).expect_err(sql);
    let place = error.excerpt().map(|excerpt| format!("\n{excerpt}")).unwrap_or_default();
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{}: {error}{place}{hint}", error.code())
}

#[tokio::test]
async fn refusals() {
    let mut all = vec![];
    for sql in [
        "SELEC 1",
        "SELECT s\nFROM t\nWHERE n >",
        "SELECT s FROM tt",
        "SELECT ss FROM t",
        "SELECT x.zzzzzz FROM t AS x",
        "SELECT lenght(s) FROM t",
        "INSERT INTO t VALUES (1, 2, 'x', NULL)",
        "CREATE TABLE x AS SELECT * FROM t",
        "DROP TABLE t",
        "EXPLAIN SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT random() FROM t",
        "SELECT s FROM t WHERE n > $unknown",
        "SELECT s + 1 FROM t WHERE d > 'not a date'",
        "SELECT k, s FROM t GROUP BY k",
        "",
    ] {
        all.push(format!("{sql}\n\n{}", refusal(sql).await));
    }
    insta::assert_snapshot!(all.join("\n\n----\n\n"));
}
