//! Functions that make much of little: what is below their bounds is answered, what is above is an error, and nothing is
//! allocated for it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::util::display::array_value_to_string;
use caudal_functions::bounded::{TooLarge, Whole};
use datafusion::prelude::SessionContext;

const ROWS: usize = 8192;

/// `t`: s is 'x' and n is 100000, but every eighth row has NULLs in s, every ninth in n, every tenth a negative n.
fn session() -> SessionContext {
    let session = SessionContext::new();
    caudal_functions::register(&session);
    let s = (0..ROWS).map(|row| (row % 8 != 7).then_some("x"));
    let n = (0..ROWS as i64).map(|row| match row {
        _ if row % 9 == 8 => None,
        _ if row % 10 == 9 => Some(-100_000),
        _ => Some(100_000),
    });
    let (s, n): (StringArray, Int64Array) = (s.collect(), n.collect());
    let columns = [("s", Arc::new(s) as ArrayRef), ("n", Arc::new(n) as ArrayRef)];
    session.register_batch("t", RecordBatch::try_from_iter(columns).unwrap()).unwrap();
    session
}

/// The first value of the answer, as text; or what would have been too large. Anything else is a mistake of the test.
async fn ask(session: &SessionContext, sql: &str) -> Result<String, TooLarge> {
    let answer = async { session.sql(sql).await?.collect().await }.await;
    match answer {
        Ok(batches) => {
            let batch = batches.iter().find(|batch| batch.num_rows() > 0);
            let batch = batch.unwrap_or_else(|| panic!("{sql}: no rows"));
            Ok(array_value_to_string(batch.column(0), 0).unwrap())
        }
        Err(error) => match TooLarge::in_error(&error) {
            Some(found) => Err(found.clone()),
            None => panic!("{sql}: {error}"),
        },
    }
}

#[tokio::test]
async fn a_value_just_below_its_bound_is_made_and_one_just_above_is_not() {
    let session = session();
    // 64 MiB are 67108864 bytes; a list of integers has eight for each.
    let cases = [
        ("length(repeat('x', {}))", 67_108_864, 67_108_865),
        ("length(repeat(arrow_cast('x', 'LargeUtf8'), {}))", 1_000_000, 4_000_000_000_000_000_000),
        ("length(repeat(arrow_cast('xy', 'Utf8View'), {}))", 1_000_000, 33_554_433),
        ("length(lpad('x', {}))", 1_000_000, 67_108_865),
        ("length(rpad('x', {}, 'é'))", 1_000_000, 33_554_433),
        ("length(replace(repeat('a', 1000), 'a', repeat('b', {})))", 67_108, 67_109),
        ("length(regexp_replace(repeat('a', 1000), 'a', repeat('b', {}), 'g'))", 67_108, 67_109),
        (
            "length(regexp_replace(repeat('a', {}), 'a', '\\0\\0\\0\\0', 'g'))",
            1_000_000,
            16_777_217,
        ),
        ("length(concat(repeat('x', 33554000), repeat('y', {})))", 33_554_000, 33_555_000),
        ("length(checked_concat(repeat('x', 33554000), repeat('y', {})))", 33_554_000, 33_555_000),
        ("length(concat_ws(repeat('y', {}), 'a', 'b', 'c'))", 22_000_000, 33_554_433),
        ("array_length(range({}))", 8_388_608, 8_388_609),
        ("array_length(range(5, {}, 1))", 8_388_613, 8_388_614),
        ("array_length(range(0, -{}, -2))", 16_777_216, 16_777_217),
        ("array_length(generate_series(1, {}))", 8_388_608, 8_388_609),
        ("array_length(generate_series(1, {}, 1))", 8_388_608, i64::MAX),
        ("array_length(array_repeat(1, {}))", 4_194_304, 4_194_305),
        ("array_length(array_repeat('x', {}))", 1_000_000, 8_388_609),
        ("array_length(array_repeat([1, 2, 3], {}))", 1_000_000, 4_194_305),
        ("array_length(array_resize([1], {}))", 2_000_000, 2_100_000),
        ("array_length(array_resize([1], {}, 7))", 2_000_000, 2_100_000),
        ("length(array_to_string(range(1000), repeat('y', {})))", 60_000, 67_109),
        ("array_length(array_concat(range(4194000), range({})))", 4_194_000, 4_196_000),
        ("array_length(make_array(range(4194000), range({})))", 4_194_000, 4_196_000),
        ("array_length(array_append(range({}), 1))", 8_388_000, 8_388_608),
        ("array_length(array_prepend(1, range({})))", 8_388_000, 8_388_608),
        ("array_length(arrays_zip(range({}), [1], [2]))", 600_000, 1_000_000),
        (
            "array_length(array_replace_all(array_repeat('a', 1000), 'a', repeat('b', {})))",
            60_000,
            67_109,
        ),
        ("length(to_char(timestamp '2020-01-01', repeat('%Y', {})))", 100_000, 1_700_000),
    ];
    let letters = ["a", "b", "x", "y"];
    let one = letters.map(|letter| (letter, Arc::new(StringArray::from(vec![letter])) as ArrayRef));
    session.register_batch("one", RecordBatch::try_from_iter(one).unwrap()).unwrap();
    let mut wrong = vec![];
    for (call, below, above) in cases {
        // Of a column: a long constant is copied by every rule of the optimizer.
        let call = letters.iter().fold(call.to_string(), |call, letter| {
            call.replace(&format!("repeat('{letter}'"), &format!("repeat({letter}"))
        });
        let sql =
            |number: i64| format!("SELECT {} FROM one", call.replace("{}", &number.to_string()));
        let made = ask(&session, &sql(below)).await;
        if !made.as_ref().is_ok_and(|length| length != "0") {
            wrong.push(format!("{call} {below}: {made:?}"));
        }
        let function = call.split('(').nth(1).unwrap();
        let function = if function == "checked_concat" { "||" } else { function };
        match ask(&session, &sql(above)).await {
            Err(TooLarge { function: of, of: Whole::Value, bytes, most })
                if of == function && bytes > most as u128 && most == 64 << 20 => {}
            other => wrong.push(format!("{call} {above}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_series_of_times_is_bounded_whatever_its_step() {
    let session = session();
    let series = |to: &str, step: &str| {
        format!(
            "SELECT array_length(generate_series(timestamp '2020-01-01', timestamp '{to}', interval '{step}'))"
        )
    };
    assert_eq!(ask(&session, &series("2020-01-02", "1 second")).await.unwrap(), "86401");
    assert_eq!(ask(&session, &series("2021-01-01", "1 month")).await.unwrap(), "13");
    assert_eq!(ask(&session, &series("2020-01-31", "1 day")).await.unwrap(), "31");
    for (to, step) in [("2200-01-01", "1 second"), ("2020-01-02", "1 nanosecond")] {
        assert_eq!(ask(&session, &series(to, step)).await.unwrap_err().function, "generate_series");
    }
    let days = "SELECT array_length(generate_series(date '2020-01-01', date '2020-12-31', interval '1 day'))";
    assert_eq!(ask(&session, days).await.unwrap(), "366");
    let down = "SELECT array_length(generate_series(timestamp '2020-01-02', timestamp '2020-01-01', interval '-1 hour'))";
    assert_eq!(ask(&session, down).await.unwrap(), "25");
}

#[tokio::test]
async fn a_column_is_bounded_by_what_becomes_of_the_batch() {
    let session = session();
    // 7168 texts are not NULL, 5735 of them have a positive n.
    let cases = [
        "sum(length(repeat(s, {})))",
        "sum(length(repeat('x', {} + n - 100000)))",
        "sum(length(lpad(s, {})))",
        "sum(length(rpad(s, {}, 'ab')))",
        "sum(length(replace(s, 'x', repeat('y', {}))))",
        "sum(length(regexp_replace(s, 'x', repeat('y', {}))))",
        "sum(length(concat(s, repeat('y', {}))))",
        "sum(length(checked_concat(s, repeat('y', {}))))",
        "sum(length(concat_ws(repeat('y', {}), s, s)))",
        "sum(array_length(array_repeat(n, {})))",
        "sum(array_length(array_resize([n], {})))",
        "sum(array_length(range(0, {} + n - 100000)))",
        "sum(length(array_to_string([s, s], repeat('y', {}))))",
        "sum(array_length(array_replace_all([s, s], 'x', repeat('y', {}))))",
    ];
    for call in cases {
        let sql =
            |number: i64| format!("SELECT {} FROM t", call.replace("{}", &number.to_string()));
        let made = ask(&session, &sql(1000)).await;
        assert!(made.as_ref().is_ok_and(|length| length != "0"), "{call}: {made:?}");
        let refused = ask(&session, &sql(100_000)).await.expect_err(call);
        assert_eq!(refused.of, Whole::Batch { rows: ROWS }, "{call}: {refused}");
        assert_eq!(refused.most, 256 << 20, "{call}");
    }
}

#[tokio::test]
async fn nulls_and_negative_counts_make_nothing() {
    let session = session();
    let nothing = [
        ("repeat('x', -4000000000000000000)", ""),
        ("repeat(NULL, 4000000000000000000)", ""),
        ("repeat('x', NULL)", ""),
        ("repeat('', 4000000000000000000)", ""),
        ("array_length(range(NULL, 4000000000000000000, 1))", ""),
        ("cardinality(range(10, -4000000000000000000))", "0"),
        ("cardinality(array_repeat(1, -4000000000000000000))", "0"),
        ("array_repeat(1, NULL)", ""),
        ("replace('abc', '', repeat('x', 60000000))", "abc"),
        ("replace('abc', 'z', repeat('x', 60000000))", "abc"),
        ("regexp_replace('abc', 'z', repeat('x', 60000000), 'g')", "abc"),
    ];
    for (call, expected) in nothing {
        assert_eq!(
            ask(&session, &format!("SELECT {call}")).await.as_deref(),
            Ok(expected),
            "{call}"
        );
    }
    let sql = "SELECT count(*) FROM t WHERE repeat(s, CASE WHEN n < 0 THEN n * 1000000 END) = ''";
    let counted = ask(&session, sql).await.unwrap();
    assert!(counted.parse::<i64>().unwrap() > 100, "{counted}");
}

#[tokio::test]
async fn every_alias_has_the_bound() {
    let session = session();
    let state = session.state();
    for (name, function) in state.scalar_functions() {
        let has = |name: &str| {
            state.scalar_functions()[name].inner().is::<caudal_functions::bounded::Bounded>()
        };
        assert_eq!(has(name), has(function.name()), "{name} is {}", function.name());
    }
    for call in [
        "array_length(list_repeat(1, {}))",
        "array_length(list_resize([1], {}))",
        "array_length(make_list(range(8000000), range({})))",
        "array_length(list_concat(range(8000000), range({})))",
        "length(list_to_string(range(1000), repeat('x', 600000)))",
    ] {
        let sql = format!("SELECT {}", call.replace("{}", "8000000"));
        assert!(ask(&session, &sql).await.is_err(), "{call}");
    }
}

#[tokio::test]
async fn what_was_put_together_from_constants_has_its_bound() {
    let session = session();
    // `concat` joins its constants when it is simplified.
    let many = vec!["repeat('x', 2000000)"; 40].join(", ");
    let sql = format!("SELECT length(concat(s, {many})) FROM t");
    assert_eq!(ask(&session, &sql).await.unwrap_err().function, "concat");
    let sql = format!("SELECT length(concat_ws('', s, {many})) FROM t");
    assert_eq!(ask(&session, &sql).await.unwrap_err().function, "concat_ws");
}

#[tokio::test]
async fn a_case_keeps_rows_away_from_a_function() {
    let session = session();
    let sql = "SELECT sum(CASE WHEN n IS NULL THEN length(repeat(s, 4000000000000000000)) ELSE 1 END) \
               FROM t WHERE n > 0";
    assert!(ask(&session, sql).await.is_ok());
}

/// A counted repetition is unrolled; the crate that does it has a bound of its own.
#[tokio::test]
async fn a_pattern_with_a_huge_repetition_is_refused() {
    let session = session();
    for sql in [
        "SELECT regexp_like('a', '(a{1000}){1000}')",
        "SELECT regexp_replace('a', '((a{100}){100}){100}', 'b')",
        "SELECT regexp_match('a', '(a{1000}){1000}')",
        "SELECT regexp_count('a', '(a{1000}){1000}')",
        "SELECT s ~ '(a{1000}){1000}' FROM t",
    ] {
        let answer = async { session.sql(sql).await?.collect().await }.await;
        let error = answer.expect_err(sql).to_string().to_lowercase();
        assert!(
            error.contains("size limit") || error.contains("did not compile"),
            "{sql}: {error}"
        );
    }
}

/// `array_agg` and `string_agg` keep what they are given: the memory pool knows how much that is.
#[tokio::test]
async fn aggregates_that_keep_all_are_counted_in_the_memory_pool() {
    use datafusion::error::DataFusionError;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::SessionConfig;
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(8 << 20, 1.0).build_arc().unwrap();
    let session = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
    caudal_functions::register(&session);
    for call in ["array_agg(value)", "string_agg(CAST(value AS TEXT), ', ')"] {
        let sql = format!("SELECT {call} FROM generate_series(1, 10000000)");
        let answer = async { session.sql(&sql).await?.collect().await }.await;
        let error = answer.expect_err(call);
        let root = error.find_root();
        assert!(matches!(root, DataFusionError::ResourcesExhausted(_)), "{call}: {root}");
    }
}
