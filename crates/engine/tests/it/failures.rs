//! A query that its data makes impossible fails alone.

use caudal_oracle::compare;

use crate::cluster::{Cluster, Faults, plan};
use crate::tables::{plain, tables};

#[tokio::test]
async fn a_query_that_fails_leaves_its_neighbours_alone() {
    let tables = tables();
    let queries = [
        "SELECT k, sum(v) AS total FROM t GROUP BY k",
        // Fails in a map stage, where v is 0; and in a shard, when the sums are known.
        "SELECT 1 / v FROM t",
        "SELECT k, 1 / (sum(v) - sum(v)) FROM t WHERE v IS NOT NULL GROUP BY k",
        "SELECT count(*) FROM u",
    ];
    let plan = plan(&tables, &queries, 3).await;
    let mut cluster = Cluster::new(plan, 64 << 20, Faults::default(), 5);
    let answers = cluster.answers(&tables).await;
    for right in [0, 3] {
        compare(answers[right].as_ref().unwrap(), &plain(&tables, queries[right]).await, false)
            .unwrap();
    }
    for wrong in [1, 2] {
        let failure = answers[wrong].as_ref().unwrap_err();
        assert!(failure.message.to_lowercase().contains("divi"), "{failure:?}");
    }
}
