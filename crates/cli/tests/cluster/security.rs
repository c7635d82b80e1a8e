//! Access control, over the network.

use crate::harness::{Cluster, caudal};

#[test]
fn only_known_tokens_get_in() {
    let mut cluster = Cluster::new();
    let tokens = cluster.path("tokens");
    std::fs::write(&tokens, "# of the analysts\nopen-sesame\n").unwrap();
    cluster.gateway_options = vec!["--tokens".into(), tokens.display().to_string()];
    cluster.start_gateway("");
    cluster.start_worker("worker-1", "");
    let query = |token: Option<&str>| {
        let mut command = caudal();
        command.args(["query", "-c", "SELECT 1 AS one", "--gateway", &cluster.gateways[0]]);
        if let Some(token) = token {
            command.args(["--token", token]);
        }
        command.output().unwrap()
    };
    for token in [None, Some("open-rice")] {
        let output = query(token);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    let output = query(Some("open-sesame"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n1\n");
}
