//! The bytes that tell stages apart are enough to make them again.

use caudal_oracle::lookalikes::KINDS;
use caudal_oracle::random_sql::{TABLES, rows};
use caudal_planner::fingerprint::text_of;
use caudal_planner::identity::Identity;
use caudal_planner::{QuerySpec, SessionSpec, TableSpec, codec};
use datafusion::prelude::SessionContext;

#[tokio::test]
async fn a_stage_is_rebuilt_from_its_bytes() {
    let functions = SessionContext::new();
    caudal_functions::register(&functions);
    let schema = rows(&mut fastrand::Rng::with_seed(1)).schema();
    let table = |name: &str| TableSpec { name: name.to_string(), schema: schema.clone() };
    let (mut rebuilt, mut unknown) = (0, vec![]);
    for sql in KINDS.iter().flat_map(|kind| kind.queries()) {
        let query = QuerySpec { name: "q".into(), sql: sql.clone(), params: vec![] };
        let spec = SessionSpec {
            tables: TABLES.map(table).into(),
            queries: vec![query],
            shards: 4,
            started: "2024-05-06T07:08:09Z".parse().unwrap(),
        };
        let plan =
            caudal_planner::plan(&spec).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
        for stage in &plan.stages {
            let Ok(bytes) = codec::encode(&stage.plan) else {
                unknown.push(sql.clone());
                continue;
            };
            let again = codec::decode(&bytes, &functions.task_ctx())
                .unwrap_or_else(|error| panic!("{sql}\n{}\n{error}", text_of(&stage.plan)));
            assert_eq!(text_of(&again), text_of(&stage.plan), "{sql}");
            assert_eq!(codec::encode(&again).unwrap(), bytes, "{sql}");
            rebuilt += 1;
        }
    }
    // Nobody can serialise a recursion; such a stage is the same as no other.
    assert!(unknown.iter().all(|sql| sql.contains("RECURSIVE")), "{unknown:#?}");
    assert!(rebuilt > 500, "{rebuilt} stages");
}

#[tokio::test]
async fn what_cannot_be_serialised_is_the_same_as_nothing() {
    let sql = "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 9) \
               SELECT count(*) FROM r";
    let plan = crate::plan(&[sql]).await.unwrap();
    let stage = plan.stages.iter().find(|stage| codec::encode(&stage.plan).is_err()).unwrap();
    let identity = Identity::of(&stage.plan);
    assert!(!identity.is(&identity));
}
