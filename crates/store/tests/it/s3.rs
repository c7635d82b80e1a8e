//! A real S3 API: moto's server on loopback, as a process of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use caudal_store::open;

use crate::child;
use crate::conformance::conforms;

const MOTO: &str = "moto[server]==5.2.5";
const START_MAX: Duration = Duration::from_secs(60);

struct Moto {
    process: Child,
    address: SocketAddr,
}

impl Moto {
    fn start(server: PathBuf) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new(server)
            .args(["-H", "127.0.0.1", "-p", &address.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moto = Self { process, address };
        let deadline = Instant::now() + START_MAX;
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "moto does not listen on {address}");
            std::thread::sleep(Duration::from_millis(50));
        }
        moto
    }

    fn make_bucket(&self, bucket: &str) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "PUT /{bucket} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In a process of its own, because its settings are the environment.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s3_child() {
    let Some(url) = child::work() else { return };
    conforms(open(&url).unwrap()).await;
    println!("conforms");
}

#[test]
fn s3_conforms() {
    let Some(python) = caudal_testing::python("a store on S3", "s3", &[MOTO]) else { return };
    let moto = Moto::start(python.join("bin/moto_server"));
    moto.make_bucket("caudal");
    let output = child::command("s3::s3_child", "s3://caudal/clusters/one")
        .env("AWS_ENDPOINT", format!("http://{}", moto.address))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("conforms"), "{output:?}");
}
