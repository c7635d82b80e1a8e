//! Stages in words, for every way in which a plan is cut.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use caudal_planner::describe;

use crate::{plan, spec};

async fn stages(sql: &[&str]) -> String {
    let text = describe::text(&plan(sql).await.unwrap());
    // The fingerprint has a test of its own.
    let (first, rest) = text.split_once('\n').unwrap();
    format!("{}\n{rest}", first.split(", plan").next().unwrap())
}

macro_rules! snapshot {
    ($name:ident, $($sql:literal),+ $(,)?) => {
        #[tokio::test]
        async fn $name() {
            insta::assert_snapshot!(stages(&[$($sql),+]).await);
        }
    };
}

snapshot!(a_filter_is_a_map_stage, "SELECT s FROM t WHERE n > $least");
snapshot!(counting_rows_needs_no_column, "SELECT count(*) FROM t");
snapshot!(groups_are_divided_by_key, "SELECT k, sum(n) FROM t GROUP BY k");
snapshot!(a_top_k_is_taken_twice, "SELECT s, n FROM t ORDER BY n DESC, s LIMIT 5");
snapshot!(both_sides_of_a_join_are_divided_alike, "SELECT t.s FROM t JOIN u ON t.k = u.k");
snapshot!(a_collected_side_is_broadcast, "SELECT t.s FROM t JOIN u ON t.n < u.n");
snapshot!(
    a_left_join_without_a_key_meets_in_one_shard,
    "SELECT t.s, u.s FROM t LEFT JOIN u ON t.n < u.n"
);
snapshot!(not_in_is_divided_by_its_key, "SELECT s FROM t WHERE k NOT IN (SELECT k FROM u)");
snapshot!(a_scalar_subquery_is_a_stage, "SELECT s FROM t WHERE n > (SELECT avg(n) FROM u)");
snapshot!(a_subquery_of_many_rows_is_watched, "SELECT s FROM t WHERE n = (SELECT n FROM u)");
snapshot!(
    a_dependent_count_is_made_for_distinct_values,
    "SELECT s, (SELECT count(*) FROM u WHERE u.n < t.n) FROM t"
);
snapshot!(
    a_dependent_in_is_a_mark_and_two_counts,
    "SELECT s, n IN (SELECT u.n FROM u WHERE u.k > t.k) FROM t"
);
snapshot!(
    an_aggregate_in_a_union_is_made_once,
    "SELECT n FROM t UNION ALL SELECT count(*) FROM u UNION ALL SELECT 1"
);
snapshot!(
    windows_are_divided_by_partition,
    "SELECT s, rank() OVER (PARTITION BY k ORDER BY n) FROM t"
);
snapshot!(
    nothing_below_a_recursive_query_is_cut,
    "WITH RECURSIVE r AS (SELECT k FROM t WHERE n = 1 UNION ALL SELECT t.n FROM t JOIN r ON t.k = r.k WHERE t.n > 5) SELECT count(*) FROM r"
);
snapshot!(
    equal_stages_of_different_queries_are_one,
    "SELECT k, count(*) FROM t GROUP BY k HAVING count(*) > 3",
    "SELECT u.s FROM u JOIN (SELECT k, count(*) AS c FROM t GROUP BY k) AS x ON x.k = u.k",
);
snapshot!(an_early_answer, "SELECT k FROM t GROUP BY k HAVING count(*) > $least");
snapshot!(constants_alone, "SELECT 1 + 1 AS two, now() AS started");

#[tokio::test]
async fn a_timestamp_is_compared_in_its_own_unit_where_nothing_is_lost() {
    let filter = async |condition: &str| {
        let sql = format!("SELECT s FROM t WHERE {condition}");
        let mut spec = spec(&[&sql]);
        let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
        let fields = [Field::new("at", micros, true), Field::new("s", DataType::Utf8View, true)];
        spec.tables[0].schema = Arc::new(Schema::new(fields.to_vec()));
        let text = describe::text(&caudal_planner::plan(&spec).await.unwrap());
        text.lines().find_map(|line| line.trim().strip_prefix("filter ")).unwrap().to_string()
    };
    for (condition, expected) in [
        ("at >= TIMESTAMP '2024-01-01'", "at >= 1704067200000000"),
        ("TIMESTAMP '2024-01-01' < at", "at > 1704067200000000"),
        ("at <> TIMESTAMP '2024-01-01 00:00:00.000001'", "at != 1704067200000001"),
        (
            "at < TIMESTAMP '2024-01-01 00:00:00.000001001'",
            "as_is(CAST(at AS Timestamp(ns))) < 1704067200000001001",
        ),
    ] {
        assert_eq!(filter(condition).await, expected, "{condition}");
    }
}

#[tokio::test]
async fn a_graph_names_tables_stages_and_answers() {
    let plan = plan(&["SELECT k, sum(n) FROM t GROUP BY k"]).await.unwrap();
    insta::assert_snapshot!("mermaid", describe::mermaid(&plan));
    insta::assert_snapshot!("dot", describe::dot(&plan));
}

#[tokio::test]
async fn a_hidden_column_is_there_for_those_who_name_it() {
    let plan =
        plan(&["SELECT *, '_row' FROM t -- not _row", "SELECT min(_row) FROM t"]).await.unwrap();
    assert_eq!(plan.queries[0].answer.as_ref().unwrap().schema.fields().len(), 5);
    assert_eq!(plan.tables[0].needs.columns, [0, 1, 2, 3, 4]);
}
