//! A real S3 API: moto's server on loopback, as a process of its own.

use caudal_store::open;
use caudal_testing::Moto;

use crate::child;
use crate::conformance::conforms;

/// In a process of its own, because its settings are the environment.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s3_child() {
    let Some(url) = child::work() else { return };
    conforms(open(&url).unwrap()).await;
    println!("conforms");
}

#[test]
fn s3_conforms() {
    let Some(moto) = Moto::start("a store on S3") else { return };
    moto.make_bucket("caudal");
    let output = child::command("s3::s3_child", "s3://caudal/clusters/one")
        .envs(moto.environment())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("conforms"), "{output:?}");
}
