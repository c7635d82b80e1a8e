//! Random tables, and random queries over them.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringViewArray,
};
use arrow::datatypes::{DataType, Field, Schema};
use fastrand::Rng;

use crate::Table;

/// The tables that the queries are about.
pub const TABLES: [&str; 2] = ["t", "u"];

/// Both, whole.
pub fn tables(rng: &mut Rng) -> Vec<Table> {
    TABLES.map(|name| Table { name: name.to_string(), rows: rows(rng) }).into()
}

/// The rows of one of them: keys that meet the other's, many NULLs, and now and then no row at all.
pub fn rows(rng: &mut Rng) -> RecordBatch {
    let rows = match rng.usize(..10) {
        0 => 0,
        1..=4 => rng.usize(1..30),
        _ => rng.usize(30..400),
    };
    let fields = [
        ("k", DataType::Int64),
        ("n", DataType::Int64),
        ("s", DataType::Utf8View),
        ("f", DataType::Float64),
        ("b", DataType::Boolean),
        ("m", DataType::Decimal128(10, 2)),
        ("d", DataType::Date32),
    ];
    let fields = fields.map(|(name, ty)| Field::new(name, ty, true));
    let null = |rng: &mut Rng| rng.usize(..8) == 0;
    let mut column = |make: &dyn Fn(&mut Rng) -> i64| -> Vec<Option<i64>> {
        (0..rows).map(|_| if null(rng) { None } else { Some(make(rng)) }).collect()
    };
    let words = ["", "a", "ab", "lime", "a longer text than twelve bytes", "ñandú", "zz"];
    let k = column(&|rng| rng.i64(0..12));
    let n = column(&|rng| rng.i64(-50..50));
    let s = column(&|rng| rng.i64(0..words.len() as i64));
    let f = column(&|rng| rng.i64(-1000..1000));
    let b = column(&|rng| rng.i64(0..2));
    let m = column(&|rng| rng.i64(-9999..9999));
    let d = column(&|rng| rng.i64(19000..19400));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(k)),
        Arc::new(Int64Array::from(n)),
        Arc::new(s.iter().map(|at| at.map(|at| words[at as usize])).collect::<StringViewArray>()),
        Arc::new(Float64Array::from_iter(f.iter().map(|v| v.map(|v| v as f64 / 8.0)))),
        Arc::new(BooleanArray::from_iter(b.iter().map(|v| v.map(|v| v == 1)))),
        Arc::new(
            Decimal128Array::from_iter(m.iter().map(|v| v.map(i128::from)))
                .with_precision_and_scale(10, 2)
                .expect("ten digits"),
        ),
        Arc::new(Date32Array::from_iter(d.iter().map(|v| v.map(|v| v as i32)))),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns)
        .expect("columns of the schema")
}

/// A query, and whether its order is part of its answer.
pub struct Query {
    pub sql: String,
    pub ordered: bool,
}

pub fn query(rng: &mut Rng) -> Query {
    let body = select(rng, 2);
    match rng.usize(..10) {
        0 => Query { sql: format!("SELECT * FROM ({body}) AS x ORDER BY 1, 2, 3"), ordered: false },
        1 => {
            // All columns order, so that ties are equal rows.
            let sql = format!(
                "SELECT a, c, v FROM ({body}) AS x ORDER BY a NULLS FIRST, c DESC, v LIMIT {} OFFSET {}",
                rng.usize(0..20),
                rng.usize(0..4)
            );
            Query { sql, ordered: true }
        }
        _ => Query { sql: body, ordered: false },
    }
}

/// A SELECT whose columns are a (integer), c (text), v (any number).
fn select(rng: &mut Rng, depth: usize) -> String {
    let shape = if depth == 0 { rng.usize(..6) } else { rng.usize(..19) };
    let (t, u) = (source(rng, depth), source(rng, depth));
    let (p, q) = (predicate(rng, "x"), predicate(rng, "y"));
    let agg = aggregate(rng, "x");
    match shape {
        0 => format!("SELECT k AS a, s AS c, n AS v FROM {t} AS x WHERE {p}"),
        1 => format!("SELECT k AS a, s AS c, {agg} AS v FROM {t} AS x WHERE {p} GROUP BY k, s"),
        2 => format!("SELECT count(*) AS a, max(s) AS c, {agg} AS v FROM {t} AS x WHERE {p}"),
        3 => format!("SELECT DISTINCT k AS a, s AS c, 1 AS v FROM {t} AS x WHERE {p}"),
        4 => {
            let join = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"][rng.usize(..4)];
            format!(
                "SELECT x.k AS a, y.s AS c, x.n + y.n AS v FROM {t} AS x {join} {u} AS y ON x.k = y.k AND {q} WHERE {p}"
            )
        }
        5 => "SELECT column1 AS a, column2 AS c, column1 * 2 AS v FROM (VALUES (1, 'a'), (2, NULL), (NULL, 'b')) AS z".to_string(),
        6 => format!("{} UNION ALL {}", wrap(select(rng, depth - 1)), wrap(select(rng, depth - 1))),
        7 => format!("{} UNION ALL SELECT 7, 'seven', 7", wrap(select(rng, 0))),
        8 => format!("{} UNION {}", wrap(select(rng, 0)), wrap(select(rng, 0))),
        9 => format!(
            "SELECT k AS a, s AS c, {agg} AS v FROM {t} AS x GROUP BY k, s HAVING count(*) > {}",
            rng.usize(..5)
        ),
        10 => format!(
            "SELECT x.k AS a, x.s AS c, x.n AS v FROM {t} AS x WHERE x.k IN (SELECT y.k FROM {u} AS y WHERE {q}) AND {p}"
        ),
        11 => format!(
            "SELECT x.k AS a, x.s AS c, x.n AS v FROM {t} AS x WHERE NOT EXISTS (SELECT 1 FROM {u} AS y WHERE y.k = x.k AND {q})"
        ),
        12 => format!(
            "SELECT x.k AS a, x.s AS c, x.n AS v FROM {t} AS x WHERE x.n > (SELECT avg(y.n) FROM {u} AS y WHERE {q})"
        ),
        13 => format!(
            "SELECT k AS a, s AS c, row_number() OVER (PARTITION BY k ORDER BY n, s, f, b, m, d) AS v FROM {t} AS x"
        ),
        14 => format!(
            "SELECT k AS a, s AS c, sum(n) OVER (ORDER BY k, n, s, f, b, m, d) AS v FROM {t} AS x"
        ),
        15 => format!(
            "SELECT x.k AS a, y.s AS c, x.n AS v FROM {t} AS x CROSS JOIN (SELECT * FROM {u} AS y WHERE {q}) AS y WHERE x.n < y.n AND {p} AND x.k < 3"
        ),
        16 => format!(
            "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < {}) SELECT r.a AS a, max(x.s) AS c, count(x.n) AS v FROM r LEFT JOIN {t} AS x ON x.k = r.a GROUP BY r.a",
            rng.usize(2..9)
        ),
        17 => format!(
            "SELECT k AS a, CAST(NULL AS VARCHAR) AS c, {agg} AS v FROM {t} AS x GROUP BY GROUPING SETS ((k), ())"
        ),
        _ => format!(
            "SELECT x.a AS a, x.c AS c, y.v AS v FROM {} AS x JOIN {} AS y ON x.a = y.a AND x.c = y.c",
            wrap(select(rng, 0)),
            wrap(select(rng, 0))
        ),
    }
}

fn wrap(sql: String) -> String {
    format!("(SELECT a, c, CAST(v AS DOUBLE) AS v FROM ({sql}) AS w)")
}

fn source(rng: &mut Rng, depth: usize) -> String {
    match rng.usize(..8) {
        0 if depth > 0 => "(SELECT * FROM t UNION ALL SELECT * FROM u)".to_string(),
        1 if depth > 0 => "(SELECT * FROM t WHERE n > 0)".to_string(),
        2 if depth > 0 => "(SELECT * FROM u WHERE 1 = 0)".to_string(),
        number => ["t", "u"][number % 2].to_string(),
    }
}

fn predicate(rng: &mut Rng, of: &str) -> String {
    match rng.usize(..12) {
        0 => format!("{of}.n > {}", rng.i64(-40..40)),
        1 => format!("{of}.s LIKE '%a%'"),
        2 => format!("{of}.b"),
        3 => format!("{of}.s IS NOT NULL AND {of}.k <> 3"),
        4 => format!("{of}.f BETWEEN -50 AND 50.5"),
        5 => format!("{of}.m >= 10.25"),
        6 => format!("{of}.d > DATE '2022-06-01'"),
        7 => format!("({of}.k = 1 OR {of}.n IS NULL)"),
        8 => format!("coalesce({of}.n, 0) % 3 = 0"),
        _ => "true".to_string(),
    }
}

fn aggregate(rng: &mut Rng, of: &str) -> String {
    let what = match rng.usize(..13) {
        0 => "count(*)".to_string(),
        1 => format!("count({of}.n)"),
        2 => format!("count(DISTINCT {of}.n)"),
        3 => format!("sum({of}.n)"),
        4 => format!("avg({of}.n)"),
        5 => format!("min({of}.n)"),
        6 => format!("max({of}.n)"),
        7 => format!("sum({of}.m)"),
        8 => format!("avg({of}.f)"),
        9 => format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY {of}.f)"),
        10 => format!("first_value({of}.n ORDER BY {of}.n, {of}.f)"),
        11 => format!("sum(DISTINCT {of}.n)"),
        _ => format!("count(*) FILTER (WHERE {of}.n > 0)"),
    };
    format!("CAST({what} AS DOUBLE)")
}
