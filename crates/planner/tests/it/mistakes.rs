//! Seventy mistakes that people make, each told with its place, its kind and its cure.

use caudal_core::{Coded, Failure, codes};

use crate::plan;

const MISTAKES: &[(&str, &str)] = &[
    ("a misspelt first word", "SELEC s FROM t"),
    ("a misspelt FROM", "SELECT s FORM t"),
    ("a misspelt WHERE", "SELECT s FROM t WEHRE n > 1"),
    ("a misspelt GROUP", "SELECT s, count(*) FROM t GRUOP BY s"),
    ("a misspelt function", "SELECT cuont(*) FROM t"),
    ("a misspelt column", "SELECT sn FROM (SELECT s AS string, n AS num FROM t) WHERE numm > 1"),
    (
        "a column of another table",
        "SELECT a.num FROM t AS a JOIN (SELECT n AS num, k AS kk FROM t) AS b ON a.k = b.kk",
    ),
    (
        "a column written otherwise, which another table has",
        "SELECT a.app_id FROM (SELECT n AS \"AppID\" FROM t) AS a JOIN (SELECT k AS app_id FROM t) AS b ON true",
    ),
    ("a misspelt table", "SELECT s FROM tt"),
    ("a misspelt alias of a table", "SELECT tbl.s FROM t AS tab"),
    ("a missing comma", "SELECT s n k FROM t"),
    ("a comma too many", "SELECT s FROM t WHERE n IN (1, 2,)"),
    ("a missing FROM", "SELECT s, n"),
    ("a missing BY", "SELECT s FROM t ORDER n"),
    ("clauses in another order", "SELECT s FROM t LIMIT 5 WHERE n > 1"),
    ("a quote that is not closed", "SELECT s FROM t WHERE s = 'abc"),
    ("a name that is not closed", "SELECT \"s FROM t"),
    ("a parenthesis that is not closed", "SELECT count(n FROM t"),
    ("a parenthesis too many", "SELECT count(n)) FROM t"),
    ("a comment that is not closed", "SELECT s /* all FROM t"),
    ("a text in double quotes", "SELECT s FROM t WHERE s = \"Buenos Aires\""),
    ("a word of SQL as a name", "SELECT order FROM t"),
    ("a CASE without END", "SELECT CASE WHEN n > 1 THEN 2 FROM t"),
    ("two statements", "SELECT 1;\nSELECT 2"),
    ("nothing", ""),
    ("a statement that writes", "INSERT INTO t VALUES (1)"),
    ("a parameter without a value", "SELECT s FROM t WHERE n > $most"),
    ("a sum of text", "SELECT sum(s) FROM t"),
    ("a function of the wrong type", "SELECT k, date_trunc('month', n) FROM t"),
    ("too many arguments", "SELECT upper(s, 1) FROM t"),
    ("too few arguments", "SELECT replace(s) FROM t"),
    ("text plus a number", "SELECT n + upper(s) FROM t"),
    ("a date times a number", "SELECT d * 2 FROM t"),
    ("a condition that is none", "SELECT s FROM t WHERE n + 1"),
    ("an aggregate in WHERE", "SELECT s FROM t WHERE count(*) > 1 GROUP BY s"),
    ("a window in WHERE", "SELECT s FROM t WHERE row_number() OVER (ORDER BY n) = 1"),
    ("an aggregate in GROUP BY", "SELECT sum(n) FROM t GROUP BY sum(n)"),
    ("an aggregate of an aggregate", "SELECT max(sum(n)) FROM t GROUP BY s"),
    ("a column that is not grouped", "SELECT k, s, count(*) FROM t GROUP BY k"),
    ("a column beside an aggregate", "SELECT s, count(*) FROM t"),
    ("HAVING without groups", "SELECT s FROM t HAVING n > 1"),
    ("an alias in WHERE", "SELECT n * 2 AS twice FROM t WHERE twice > 4"),
    ("a column of two tables", "SELECT s FROM t JOIN u ON t.k = u.k"),
    ("a position that is not there", "SELECT s FROM t ORDER BY 2"),
    ("a UNION of different widths", "SELECT s, n FROM t UNION ALL SELECT s FROM u"),
    ("a UNION of different types", "SELECT d FROM t UNION ALL SELECT n > 1 FROM u"),
    ("a limit that is a text", "SELECT s FROM t LIMIT 'ten'"),
    ("a limit below zero", "SELECT s FROM t LIMIT -1"),
    ("a text that is no number", "SELECT CAST('abc' AS INT) FROM t"),
    ("a text that is no date", "SELECT s FROM t WHERE d > DATE '2024-02-31'"),
    ("a subquery of two columns", "SELECT s FROM t WHERE n = (SELECT n, k FROM u)"),
    ("IN with two columns", "SELECT s FROM t WHERE n IN (SELECT n, k FROM u)"),
    (
        "a recursion without RECURSIVE",
        "WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    ),
    ("too many names for columns", "SELECT a FROM (SELECT n, k FROM t) AS x(a, b, c)"),
    ("TOP", "SELECT TOP 5 s FROM t"),
    ("PIVOT", "SELECT * FROM t PIVOT (sum(n) FOR s IN ('a', 'b'))"),
    ("SELECT INTO", "SELECT s INTO x FROM t"),
    ("values of different widths", "SELECT * FROM (VALUES (1, 2), (3)) AS v"),
    ("HAVING without groups and columns", "SELECT 1 FROM t HAVING true"),
    ("a key that is twice in ROLLUP", "SELECT s FROM t GROUP BY ROLLUP (s, s)"),
    ("a number of tiles from a column", "SELECT ntile(n) OVER (ORDER BY n) FROM t"),
    ("a distance from a column", "SELECT lag(n, k) OVER (ORDER BY n) FROM t"),
    ("a limit from a subquery", "SELECT s FROM t LIMIT (SELECT 2)"),
    ("FETCH WITH TIES", "SELECT s FROM t ORDER BY s FETCH FIRST 2 ROWS WITH TIES"),
    ("a field of a text", "SELECT (s).a FROM t"),
    ("a text that is no decimal", "SELECT CAST('abc' AS DECIMAL(5, 2)) FROM t"),
    ("an aggregate of unnest", "SELECT sum(unnest([1]))"),
    ("a date beside a number", "SELECT s FROM t WHERE d > 2019"),
    ("a number as a date", "SELECT CAST(n AS DATE) FROM t"),
    (
        "a frame of days without a unit",
        "SELECT count(*) OVER (ORDER BY d RANGE 7 PRECEDING) FROM t",
    ),
    (
        "a recursion that changes its type",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 0.5 FROM r WHERE n < 3) SELECT n FROM r",
    ),
    ("a comparison with ALL", "SELECT s FROM t WHERE n >= ALL (SELECT n, k FROM u)"),
];

#[tokio::test]
async fn mistakes() {
    let (mut told, mut planned) = (vec![], vec![]);
    for (what, sql) in MISTAKES {
        let error = match plan(&[sql]).await {
            Err(error) => Failure::of(&error),
            Ok(_) => {
                planned.push(what);
                continue;
            }
        };
        let excerpt = error.excerpt.map(|excerpt| format!("\n{excerpt}")).unwrap_or_default();
        let hint = error.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        let message = format!("error[{}]: {}{excerpt}{hint}", error.code, error.message);
        for theirs in
            ["DataFusion", "Error during planning", "Utf8View", "Int64", "Ident {", "Span"]
        {
            assert!(!message.contains(theirs), "{sql}: {message}");
        }
        told.push(format!("# {what}\n{message}"));
    }
    assert!(planned.is_empty(), "planned: {planned:?}");
    assert!(told.len() >= 50);
    insta::assert_snapshot!(told.join("\n\n"));
}

#[tokio::test]
async fn every_query_that_is_refused_is_told() {
    let sql = ["SELECT nn FROM t", "SELECT n FROM t", "SELECT"];
    let plan = plan(&sql).await.unwrap();
    let codes: Vec<_> =
        plan.queries.iter().map(|query| query.answer.as_ref().err().map(|e| e.code())).collect();
    assert_eq!(codes, [Some(codes::UNKNOWN_COLUMN), None, Some(codes::SYNTAX)]);
    assert_eq!(plan.stages.len(), 1, "of the one that can be answered");

    let error = crate::plan(&[sql[0], sql[2]]).await.unwrap_err();
    let refusals = error.refusals().unwrap();
    let codes: Vec<_> = refusals.iter().map(|refusal| refusal.code).collect();
    assert_eq!(codes, ["CDL-2003", "CDL-2001"]);
}
