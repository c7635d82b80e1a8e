//! Rows that need not be read of a table, as its scans' filters say.

use caudal_core::RowFilter;

use crate::plan;

/// Of table `t`, in words: `k` is its first column.
async fn rows(sql: &[&str]) -> String {
    let plan = plan(sql).await.unwrap();
    plan.tables[0].needs.rows.as_ref().map_or("all".to_string(), text)
}

fn text(filter: &RowFilter) -> String {
    let parts = |parts: &[RowFilter]| parts.iter().map(text).collect::<Vec<_>>();
    match filter {
        RowFilter::Any(any) => format!("({})", parts(any).join(" or ")),
        RowFilter::All(all) => parts(all).join(" and "),
        RowFilter::Column(column, test) => {
            let test = format!("{test:?}").replace("Int(", "(");
            format!("{} {test}", ["k", "n", "s", "d", "_row"][*column])
        }
    }
}

#[tokio::test]
async fn conditions_on_columns_are_understood() {
    for (condition, expected) in [
        ("k = 3", "k OneOf([(3)])"),
        ("3 < k AND n <= 7", "k Greater((3)) and n AtMost((7))"),
        ("k BETWEEN 1 AND $least", "k AtLeast((1)) and k AtMost((3))"),
        ("s IN ('a', 'b', 'c', 'd')", r#"s OneOf([Text("a"), Text("b"), Text("c"), Text("d")])"#),
        // DataFusion makes one comparison after the other of it.
        ("s IN ('a', 'b', NULL)", r#"(s OneOf([Text("a")]) or s OneOf([Text("b")]))"#),
        ("s IS NULL OR n IS NOT NULL", "(s IsNull or n IsNotNull)"),
        ("d >= '1970-01-11'", "d AtLeast((10))"),
        (
            "(k = 1 AND n < 2) OR (k = 2 AND n > 9)",
            "(k OneOf([(1)]) and n Less((2)) or k OneOf([(2)]) and n Greater((9)))",
        ),
        // What is not understood says nothing, but for the rest of its conjunction.
        ("k = 3 AND abs(n) = 1", "k OneOf([(3)])"),
        ("k = 3 OR abs(n) = 1", "all"),
        ("NOT k = 3", "all"),
        ("k NOT IN (1, 2)", "all"),
        ("k = n", "all"),
        ("k + 1 = 3", "all"),
        ("_row > 10", "all"),
    ] {
        let sql = format!("SELECT s FROM t WHERE {condition}");
        assert_eq!(rows(&[&sql]).await, expected, "{condition}");
    }
}

#[tokio::test]
async fn every_scan_counts() {
    let three = "SELECT s FROM t WHERE k = 3";
    assert_eq!(
        rows(&[three, "SELECT s FROM t WHERE n > 7"]).await,
        "(k OneOf([(3)]) or n Greater((7)))"
    );
    assert_eq!(rows(&[three, three]).await, "k OneOf([(3)])");
    assert_eq!(rows(&[three, "SELECT count(*) FROM t"]).await, "all");
    assert_eq!(rows(&[three, "SELECT k FROM u WHERE n = 1"]).await, "k OneOf([(3)])");
    let both = "SELECT s FROM t WHERE k = 3 UNION ALL SELECT s FROM t WHERE k = 4";
    assert_eq!(rows(&[both]).await, "(k OneOf([(3)]) or k OneOf([(4)]))");
    assert_eq!(
        rows(&["SELECT k FROM t WHERE n > 1 GROUP BY k HAVING count(*) > 2"]).await,
        "n Greater((1))"
    );
}

#[tokio::test]
async fn only_conditions_right_above_a_scan_are_its_own() {
    for (sql, expected) in [
        // Rows without a partner have to be there.
        ("SELECT u.s FROM u LEFT JOIN t ON u.k = t.k WHERE t.n IS NULL", "all"),
        ("SELECT u.s FROM u LEFT JOIN t ON u.k = t.k AND t.n > 3", "n Greater((3))"),
        ("SELECT t.s FROM t LEFT JOIN u ON u.k = t.k AND t.n > 3", "all"),
        ("SELECT t.s FROM t FULL JOIN u ON u.k = t.k AND t.n > 3", "all"),
        ("SELECT count(*) FILTER (WHERE k = 3) FROM t", "all"),
        ("SELECT s FROM (SELECT * FROM t ORDER BY n LIMIT 5) AS x WHERE k = 3", "all"),
        (
            "SELECT s, r FROM (SELECT *, row_number() OVER (ORDER BY n) AS r FROM t) AS x WHERE k = 3",
            "all",
        ),
        ("SELECT b FROM (SELECT n AS a, s AS b FROM t) AS x WHERE a = 3", "n OneOf([(3)])"),
    ] {
        assert_eq!(rows(&[sql]).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn too_many_constants_are_not_told() {
    let any = |count| {
        let values: Vec<_> = (0..count).map(|n: usize| (n * 3).to_string()).collect();
        format!("SELECT s FROM t WHERE k IN ({})", values.join(", "))
    };
    assert!(rows(&[&any(900)]).await.starts_with("k OneOf"));
    assert_eq!(rows(&[&any(900), &any(950)]).await, "all");
}
