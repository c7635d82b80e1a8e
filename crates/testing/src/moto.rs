//! A real S3 API: moto's server on loopback, as a process of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::python;

const MOTO: &str = "moto[server]==5.2.5";
const START_MAX: Duration = Duration::from_secs(60);

/// A server of S3 that ends with this.
pub struct Moto {
    process: Child,
    address: SocketAddr,
}

impl Moto {
    /// Starts one; where it cannot be, the test is noted as skipped.
    pub fn start(test: &str) -> Option<Moto> {
        let server = python(test, "s3", &[MOTO])?.join("bin/moto_server");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("loopback works");
        let process = Command::new(server)
            .args(["-H", "127.0.0.1", "-p", &address.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("loopback works");
        let moto = Moto { process, address };
        let deadline = Instant::now() + START_MAX;
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "moto does not listen on {address}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(moto)
    }

    pub fn make_bucket(&self, bucket: &str) {
        self.put(bucket, &[]);
    }

    /// Puts an object: `bucket/key`, percent-encoded.
    pub fn put(&self, path: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(self.address).expect("loopback works");
        write!(
            stream,
            "PUT /{path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        )
        .expect("loopback works");
        stream.write_all(body).expect("loopback works");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("loopback works");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// The environment of whoever is to use it.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".to_string()),
            ("AWS_REGION", "us-east-1".to_string()),
            ("AWS_ACCESS_KEY_ID", "test".to_string()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_string()),
        ]
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
