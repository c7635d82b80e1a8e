//! Integers and decimals do not wrap: in no expression, no aggregate, no clause, however the rows are divided.

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
use arrow::datatypes::DataType;

use crate::harness::{Answer, Run, Table, cells, schema};

const OVERFLOW: &str = "a number does not fit into its type";

/// `n`: k from 1 to 4; a is MAX, 1, -5 and NULL; m is MIN, -1, 2 and 3; d is the largest decimal, 1, -5 and NULL.
fn numbers(order: [usize; 4]) -> Table {
    let largest = 10i128.pow(38) - 1;
    let a = [Some(i64::MAX), Some(1), Some(-5), None];
    let d = [Some(largest), Some(1), Some(-5), None];
    let m = [i64::MIN, -1, 2, 3];
    let schema = schema(&[
        ("k", DataType::Int64),
        ("a", DataType::Int64),
        ("m", DataType::Int64),
        ("d", DataType::Decimal128(38, 0)),
    ]);
    let fragment = |row: usize| {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![row as i64 + 1])),
            Arc::new(Int64Array::from(vec![a[row]])),
            Arc::new(Int64Array::from(vec![m[row]])),
            Arc::new(Decimal128Array::from(vec![d[row]]).with_precision_and_scale(38, 0).unwrap()),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let fragments = order.into_iter().map(fragment).collect();
    Table { name: "n".into(), schema: Arc::clone(&schema), fragments }
}

/// Rows separated by `;`, cells by `,`, in the order they came.
fn text_of(answer: &Answer) -> Result<String, String> {
    let rows = cells(answer.as_ref().map_err(String::clone)?);
    Ok(rows.iter().map(|row| row.join(",")).collect::<Vec<_>>().join(";"))
}

async fn answers(
    queries: &[&str],
    order: [usize; 4],
    shards: usize,
) -> Vec<Result<String, String>> {
    let tables = [numbers(order)];
    let queries: Vec<String> = queries.iter().map(ToString::to_string).collect();
    let (answers, _) = Run::new(&tables, &queries, shards).answers().await.unwrap();
    answers.iter().map(text_of).collect()
}

#[tokio::test]
async fn what_does_not_fit_is_an_error_wherever_it_stands() {
    let queries = [
        // Constants.
        "SELECT 9223372036854775807 + 1",
        "SELECT -9223372036854775807 - 2",
        "SELECT 9223372036854775807 * 2",
        "SELECT -(-9223372036854775808)",
        "SELECT CAST(2147483647 AS INT) + CAST(1 AS INT)",
        "SELECT CAST(100 AS TINYINT) * CAST(2 AS TINYINT)",
        "SELECT 99999999999999999999999999999999999999 + 1",
        "SELECT 99999999999999999999999999999999999999 * 1.0::decimal(2,1)",
        "SELECT -9223372036854775808 / -1",
        // Every clause.
        "SELECT a + 1 FROM n",
        "SELECT -m FROM n",
        "SELECT m - 1 FROM n",
        "SELECT a * 2 FROM n",
        "SELECT k FROM n WHERE a + 1 > 0",
        "SELECT count(*) FROM n WHERE a * a > 0",
        "SELECT count(*) FROM n x JOIN n y ON x.a + 1 = y.a",
        "SELECT count(*) FROM n x LEFT JOIN n y ON x.k < y.k AND x.a + y.k > 0",
        "SELECT a + 1, count(*) FROM n GROUP BY a + 1",
        "SELECT k FROM n ORDER BY a + 1",
        "SELECT k FROM n ORDER BY a * 3 LIMIT 1",
        "SELECT DISTINCT a + k FROM n",
        "SELECT k, count(*) FROM n GROUP BY k HAVING sum(a) + 1 > 0",
        "SELECT CASE WHEN k < 3 THEN a + 1 END FROM n",
        "SELECT coalesce(a + 1, 0) FROM n",
        "SELECT CAST(a + 1 AS TEXT) FROM n",
        "SELECT (SELECT max(a) FROM n) + 1",
        "SELECT k FROM n WHERE a IN (SELECT a + 1 FROM n)",
        "SELECT k FROM n x WHERE EXISTS (SELECT 1 FROM n y WHERE y.a + 1 = x.k)",
        "SELECT k FROM n UNION ALL SELECT a + 1 FROM n",
        "WITH c AS (SELECT a + 1 AS b FROM n) SELECT max(b) FROM c",
        "SELECT sum(a + 1) OVER (ORDER BY k) FROM n",
        "SELECT lag(a + 1) OVER (ORDER BY k) FROM n",
        "SELECT row_number() OVER (PARTITION BY a + 1 ORDER BY k) FROM n",
        "SELECT count(*) FILTER (WHERE a + 1 > 0) FROM n",
        "WITH RECURSIVE r AS (SELECT 4611686018427387904 AS x UNION ALL SELECT x * 2 FROM r WHERE x > 0) SELECT max(x) FROM r",
        "SELECT x + 9223372036854775807 FROM (VALUES (1)) v(x)",
        "SELECT x + 9223372036854775807 FROM unnest([1, 2]) AS u(x)",
        // Decimals, whose 39th digit 128 bits would hold.
        "SELECT d + 1 FROM n",
        "SELECT d * 2 FROM n",
        "SELECT d - (-d) FROM n",
        // Aggregates.
        "SELECT sum(a) FROM n WHERE k < 3",
        "SELECT sum(DISTINCT a) FROM n WHERE k < 3",
        "SELECT sum(a) FILTER (WHERE k < 3) FROM n",
        "SELECT sum(m) FROM n WHERE k < 3",
        "SELECT k / 3, sum(a) FROM n GROUP BY k / 3",
        "SELECT k / 3, sum(DISTINCT a), count(DISTINCT k) FROM n GROUP BY k / 3",
        "SELECT sum(a), sum(a + 1) FROM n",
        "SELECT sum(a) OVER (ORDER BY k) FROM n",
        "SELECT sum(a) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM n",
        "SELECT sum(DISTINCT a) OVER (ORDER BY k) FROM n",
        "SELECT sum(d) FROM n WHERE k < 3",
        "SELECT k / 3, sum(d) FROM n GROUP BY k / 3",
        "SELECT sum(DISTINCT d) FROM n WHERE k < 3",
        "SELECT sum(CAST(a AS BIGINT UNSIGNED)) FROM (SELECT a FROM n WHERE a > 0 UNION ALL SELECT a FROM n WHERE a > 1 UNION ALL SELECT a FROM n WHERE a > 1)",
    ];
    for shards in [1, 3] {
        let answers = answers(&queries, [0, 1, 2, 3], shards).await;
        for (query, answer) in queries.iter().zip(answers) {
            let failure = answer.expect_err(query);
            assert!(failure.starts_with(OVERFLOW), "{query}: {failure}");
        }
    }
}

/// Functions, casts and times, of which DataFusion says so in words of its own.
#[tokio::test]
async fn functions_and_times_refuse_too() {
    let queries = [
        "SELECT abs(m) FROM n",
        "SELECT factorial(21)",
        "SELECT lcm(9223372036854775807, 9223372036854775806)",
        "SELECT gcd(m, m) FROM n",
        "SELECT round(9223372036854775807, -1)",
        "SELECT CAST(a AS INT) FROM n",
        "SELECT CAST(d AS BIGINT) FROM n",
        "SELECT date '2024-01-01' + interval '999999 years'",
        "SELECT timestamp '2024-01-01' + interval '9999 years'",
        "SELECT avg(d) FROM n",
        "SELECT k / 9, avg(d) FROM n GROUP BY k / 9",
        "SELECT CAST(k * 100 AS TINYINT) FROM n",
        "SELECT CAST(d AS DECIMAL(10, 2)) FROM n",
        "SELECT CAST(a AS DECIMAL(10, 2)) FROM n",
        "SELECT CAST(1e300 AS BIGINT)",
        "SELECT CAST(CAST('nan' AS DOUBLE) AS INT)",
        "SELECT CAST(-1 AS BIGINT UNSIGNED)",
        "SELECT date '2024-01-01' - interval '999999 years'",
        "SELECT date '2024-01-01' + k * interval '2000000000 days' FROM n",
        "SELECT timestamp '2262-01-01' + k * interval '1 year' FROM n",
        "SELECT timestamp '1678-01-01' - k * interval '1 year' FROM n",
        "SELECT timestamp '2262-01-01' - timestamp '1678-01-01'",
        "SELECT CAST(date '9999-12-31' AS timestamp)",
        "SELECT date '9999-12-31' + interval '1 hour'",
        "SELECT interval '2147483647 months' + interval '1 month'",
        "SELECT k * interval '2147483647 months' FROM n",
    ];
    let answers = answers(&queries, [0, 1, 2, 3], 2).await;
    let others = queries.iter().zip(&answers).filter(|(_, answer)| match answer {
        Ok(_) => true,
        // That of a constant names its query.
        Err(failure) => !failure.contains(OVERFLOW),
    });
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[tokio::test]
async fn what_fits_is_answered() {
    let queries = [
        ("SELECT 9223372036854775806 + 1", "9223372036854775807"),
        ("SELECT -9223372036854775807 - 1", "-9223372036854775808"),
        ("SELECT 9223372036854775808", "9223372036854775808"),
        ("SELECT 9223372036854775808 - 1", "9223372036854775807"),
        ("SELECT -9223372036854775809", "-9223372036854775809"),
        ("SELECT 9223372036854775807 + CAST(1 AS DECIMAL(38, 0))", "9223372036854775808"),
        ("SELECT count(*) FROM n WHERE a = 9223372036854775808", "0"),
        ("SELECT count(*) FROM n WHERE a < 9223372036854775808", "3"),
        ("SELECT NULL + 1", "NULL"),
        ("SELECT -m % -1 FROM n WHERE m = -1", "0"),
        ("SELECT m % -1 FROM n WHERE k = 1", "0"),
        // Rows that are kept away do not count.
        ("SELECT CASE WHEN a < 100 THEN a + 1 ELSE 0 END FROM n ORDER BY k", "0;2;-4;0"),
        ("SELECT a + 1 FROM n WHERE a < 100 ORDER BY k", "2;-4"),
        ("SELECT a + 1 AS b FROM (SELECT * FROM n WHERE k > 1) ORDER BY k", "2;-4;NULL"),
        ("SELECT k FROM n WHERE false AND 9223372036854775807 + 1 > 0", ""),
        ("SELECT k FROM n ORDER BY k LIMIT 1 + 1 OFFSET 2 - 1", "2;3"),
        // Aggregates.
        ("SELECT sum(a), count(a), avg(k) FROM n", "9223372036854775803,3,2.5"),
        ("SELECT sum(DISTINCT a), sum(a) FILTER (WHERE k > 1) FROM n", "9223372036854775803,-4"),
        ("SELECT sum(m) FROM n", "-9223372036854775804"),
        ("SELECT k % 2 AS p, sum(a) FROM n GROUP BY k % 2 ORDER BY p", "0,1;1,9223372036854775802"),
        (
            "SELECT k % 2 AS p, avg(a), avg(DISTINCT k) FROM n GROUP BY k % 2 ORDER BY p",
            "0,1.0,3.0;1,4.611686018427388e18,2.0",
        ),
        ("SELECT sum(d) FROM n", "99999999999999999999999999999999999995"),
        ("SELECT sum(d) FILTER (WHERE k > 1) FROM n", "-4"),
        ("SELECT avg(a) FROM n WHERE k = 1", "9.223372036854776e18"),
        (
            "SELECT avg(x) FROM (SELECT a AS x FROM n UNION ALL SELECT -a FROM n UNION ALL SELECT 3 FROM n)",
            "1.2",
        ),
        (
            "SELECT avg(DISTINCT x) FROM (SELECT a AS x FROM n UNION ALL SELECT -a FROM n UNION ALL SELECT 7 FROM n)",
            "1.0",
        ),
        ("SELECT sum(x) FROM (SELECT a AS x FROM n UNION ALL SELECT -a FROM n)", "0"),
        ("SELECT sum(a) FROM n WHERE k > 4", "NULL"),
        ("SELECT sum(NULL), avg(NULL) FROM n", "NULL,NULL"),
        ("SELECT sum(k * 0.5), avg(k * 0.5), sum(k::double) FROM n", "5.0,1.25,10.0"),
        ("SELECT sum(k::decimal(10,2)), avg(k::decimal(10,2)) FROM n", "10.00,2.500000"),
        (
            "SELECT sum(k) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM n ORDER BY k",
            "1;3;5;7",
        ),
        (
            "SELECT sum(DISTINCT k / 2) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM n ORDER BY k",
            "0;1;1;3",
        ),
        (
            "SELECT avg(k) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM n ORDER BY k",
            "1.0;1.5;2.5;3.5",
        ),
        (
            "SELECT sum(a) OVER (ORDER BY k DESC) AS s FROM n WHERE k > 1 ORDER BY k DESC",
            "NULL;-5;-4",
        ),
        // Unsigned integers have no negative differences: there are none.
        (
            "SELECT row_number() OVER (ORDER BY k) - row_number() OVER (ORDER BY k DESC) AS s FROM n ORDER BY k",
            "-3;-1;1;3",
        ),
        (
            "SELECT 1 - rank() OVER (ORDER BY k) AS s, (row_number() OVER (ORDER BY k) - 1) / 2 AS t FROM n ORDER BY k",
            "0,0;-1,0;-2,1;-3,1",
        ),
        ("SELECT array_length([1]) - array_length([1, 2]), array_length([1]) - 5", "-1,-4"),
        // What does not wrap is left alone.
        ("SELECT 1e308 * 10, 0.1 + 0.2", "inf,0.30000000000000004"),
        (
            "SELECT date '2024-01-31' + interval '1 month', date '2024-03-01' - date '2024-02-01'",
            "2024-02-29,29",
        ),
        ("SELECT power(2, 70), 1 << 3", "1.1805916207174113e21,8"),
    ];
    let texts: Vec<&str> = queries.iter().map(|(query, _)| *query).collect();
    for shards in [1, 3] {
        let answers = answers(&texts, [0, 1, 2, 3], shards).await;
        let wrong = queries.iter().zip(&answers);
        let wrong: Vec<_> =
            wrong.filter(|((_, expected), answer)| answer.as_deref() != Ok(*expected)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// Only the end of a sum has to fit: not what an order of rows, a division over shards or a merge makes on the way.
#[tokio::test]
async fn the_verdict_depends_on_no_order() {
    let queries = [
        "SELECT sum(a), sum(d), avg(a) FROM n",
        "SELECT k > 0, sum(a), sum(d), avg(a) FROM n GROUP BY k > 0",
        "SELECT sum(DISTINCT a), avg(DISTINCT a), sum(DISTINCT d) FROM n",
        "SELECT count(DISTINCT k), sum(m) FROM n",
        "SELECT count(DISTINCT k / 3), sum(a), sum(d) FROM n",
    ];
    let largest = "99999999999999999999999999999999999995";
    let expected = [
        format!("9223372036854775803,{largest},3.0744573456182584e18"),
        format!("true,9223372036854775803,{largest},3.0744573456182584e18"),
        format!("9223372036854775803,3.0744573456182584e18,{largest}"),
        "4,-9223372036854775804".to_string(),
        format!("2,9223372036854775803,{largest}"),
    ];
    for order in [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 1, 0], [3, 2, 0, 1], [1, 2, 0, 3]] {
        for shards in [1, 3] {
            for (answer, expected) in
                answers(&queries, order, shards).await.into_iter().zip(&expected)
            {
                assert_eq!(answer.as_ref(), Ok(expected), "{order:?}, {shards} shards");
            }
        }
    }
}

/// Arrow's cast to a dictionary keeps the number and changes its unit.
#[tokio::test]
async fn a_dictionary_of_times_has_the_times() {
    let queries = [
        "SELECT CAST(arrow_cast(timestamp '2020-01-01', 'Dictionary(Int32, Timestamp(Second, None))') AS TEXT)",
        "SELECT CAST(arrow_cast(date '2020-01-01', 'Dictionary(Int32, Timestamp(Millisecond, None))') AS TEXT)",
        "SELECT CAST(arrow_cast(timestamp '2020-01-01', 'Dictionary(Int32, Date32)') AS TEXT)",
    ];
    for (query, answer) in queries.iter().zip(answers(&queries, [0, 1, 2, 3], 2).await) {
        assert!(
            answer.as_ref().is_ok_and(|text| text.starts_with("2020-01-01")),
            "{query}: {answer:?}"
        );
    }
}
