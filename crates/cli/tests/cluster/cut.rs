//! A client, two gateways, two workers, RabbitMQ and a store, each on a machine of its own (network namespaces): a gateway that
//! is cut off from the store, a worker from the broker, a client from its gateway. The answer is exact, and whoever was
//! cut off is of use again.
//!
//! The store is S3, by moto's server: a directory has no network that could be cut.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use caudal_broker::rabbitmq::private::PrivateRabbit;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Client, Data, alone, block_on, caudal, wait_until};
use crate::machines::Machines;

const TEST: &str = "a cluster that is cut in two";
const HOSTS: [&str; 7] =
    ["client", "gateway-1", "gateway-2", "worker-1", "worker-2", "rabbit", "store"];
const GATEWAYS: [&str; 2] = ["gateway-1", "gateway-2"];
const MOTO: &str = "moto[server]==5.2.5";
/// Where RabbitMQ is reached from other machines: it listens on loopback only.
const RABBIT_PORT: u16 = 5672;
const S3_PORT: u16 = 5000;
const GATEWAY_PORT: u16 = 7070;
const RUNS_MAX: u32 = 20;
/// Says to a child of this test where RabbitMQ's files may be.
const RABBIT_FOLDER: &str = "CAUDAL_TEST_RABBIT";

#[test]
fn whoever_is_cut_off_the_answer_is_exact_and_it_comes_back() {
    let _alone = alone();
    let Some(python) = caudal_testing::python(TEST, "s3", &[MOTO]) else { return };
    let Some(machines) = Machines::for_test(TEST, &HOSTS) else { return };
    let data = Data::of("coffee", "0.02");
    let cluster = Apart::start(&machines, &python);
    cluster.run(&data, "whole");

    cluster.cut(&data, "its gateway without the store", |gateway| (gateway, "store"));
    cluster.cut(&data, "a worker without RabbitMQ", |_| ("worker-1", "rabbit"));
    cluster.cut(&data, "a client without its gateway", |gateway| ("client", gateway));
}

/// All of it, on its machines.
struct Apart<'a> {
    machines: &'a Machines,
    folder: TempDir,
    children: Vec<Child>,
    broker_url: String,
}

impl<'a> Apart<'a> {
    fn start(machines: &'a Machines, python: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Self { machines, folder, children: vec![], broker_url: String::new() };
        cluster.start_store(&python.join("bin/moto_server"));
        cluster.start_rabbit();
        for name in GATEWAYS {
            let listen = format!("{}:{GATEWAY_PORT}", machines.address(name));
            cluster
                .start_node(name, &["gateway", "--listen", &listen, "--shards", "2", "--insecure"]);
        }
        for name in ["worker-1", "worker-2"] {
            cluster.start_node(name, &["worker", "--threads", "1"]);
        }
        cluster
    }

    fn start_store(&mut self, server: &Path) {
        let mut moto = self.machines.on("store", server);
        moto.args(["-H", "0.0.0.0", "-p", &S3_PORT.to_string()]);
        self.spawn("store", moto);
        let made = || {
            let mut make = self.on("store", Path::new("python3"));
            let url = format!("http://127.0.0.1:{S3_PORT}/caudal");
            let script = format!(
                "import urllib.request as u; u.urlopen(u.Request('{url}', method='PUT'), timeout=5)"
            );
            make.args(["-c", &script]).stderr(Stdio::null()).status().unwrap().success()
        };
        wait_until("there is a bucket", made);
    }

    /// By a child of this test, which is on that machine.
    fn start_rabbit(&mut self) {
        let mut child = self.machines.on("rabbit", &std::env::current_exe().unwrap());
        child.args(["--exact", "cut::rabbit_on_its_machine", "--nocapture"]);
        child.env(RABBIT_FOLDER, self.path("rabbit")).stdin(Stdio::piped());
        let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Where tests run one after the other, its name comes before it on the line.
        let url = lines.find_map(|line| Some(line.split_once("rabbit at ")?.1.to_string()));
        let url = url.expect("RabbitMQ runs");
        let (login, _) = url.rsplit_once('@').unwrap();
        self.broker_url = format!("{login}@{}:{RABBIT_PORT}", self.machines.address("rabbit"));
        self.children.push(child);
    }

    fn start_node(&mut self, name: &str, arguments: &[&str]) {
        let mut node = self.on(name, Path::new(caudal().get_program()));
        node.args(arguments).args(["--name", name, "--store", "s3://caudal/cluster"]);
        node.env("CAUDAL_BROKER", &self.broker_url);
        self.spawn(name, node);
        wait_until(&format!("{name} has begun"), || !self.log(name).is_empty());
    }

    fn spawn(&mut self, name: &str, mut command: Command) {
        let log = std::fs::File::create(self.log_path(name)).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.children.push(command.spawn().unwrap());
    }

    /// A command on a machine, with what S3 wants to know.
    fn on(&self, host: &str, program: &Path) -> Command {
        let mut command = self.machines.on(host, program);
        let endpoint = format!("http://{}:{S3_PORT}", self.machines.address("store"));
        command.env("AWS_ENDPOINT", endpoint).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_REGION", "us-east-1").env("NO_COLOR", "1");
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn log_path(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.log"))
    }

    fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.log_path(name)).unwrap_or_default()
    }

    /// Cuts two machines from each other in the middle of a run, as the gateway of its session says which.
    fn cut(
        &self,
        data: &Data,
        what: &str,
        which: impl Fn(&'static str) -> (&'static str, &'static str),
    ) {
        let began = Instant::now();
        let (mut client, gateway) = self.under_way(data);
        let (host, from) = which(gateway);
        let said_before = self.log(host).len();
        self.machines.cut_between(host, from);
        let cut = Instant::now();
        let status = client.wait();
        assert!(status.success(), "{what}: {}", client.said());
        data.compare(&self.path("cut"));
        println!(
            "{what}: answered after {:.1?}, {:.1?} after the cut",
            began.elapsed(),
            cut.elapsed()
        );
        self.has_noticed(host, said_before);
        self.machines.reconnect_between(host, from);
        self.is_of_use(host, from, data);
    }

    /// A run, and the gateway that it has. One may be over before anybody could ask who serves it; then comes another.
    fn under_way(&self, data: &Data) -> (Client, &'static str) {
        for _ in 0..RUNS_MAX {
            let mut client = self.client(data, "cut", &GATEWAYS);
            let mut gateway = None;
            wait_until("it is under way, or over", || {
                gateway = self.gateway_of_the_session();
                gateway.is_some() || client.is_done()
            });
            match gateway {
                Some(gateway) => return (client, gateway),
                None => assert!(client.wait().success(), "{}", client.said()),
            }
        }
        panic!("{RUNS_MAX} runs were over before anything could happen");
    }

    /// While its client is attached, and a worker serves it.
    fn gateway_of_the_session(&self) -> Option<&'static str> {
        let mut sessions = self.on("store", Path::new(caudal().get_program()));
        let gateways =
            GATEWAYS.map(|name| format!("{}:{GATEWAY_PORT}", self.machines.address(name)));
        let output =
            sessions.args(["sessions", "--gateway", &gateways.join(",")]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> = said.lines().next()?.split(',').collect();
        let fields: Vec<&str> = said.lines().nth(1)?.split(',').collect();
        let field = |name| fields[names.iter().position(|known| *known == name).unwrap()];
        let is_served = field("workers").parse::<usize>().is_ok_and(|workers| workers > 0);
        GATEWAYS.into_iter().find(|name| is_served && field("gateway") == *name)
    }

    /// The fault was there: still cut off, the host says so, though perhaps not before the answer is there by another way.
    fn has_noticed(&self, host: &str, said_before: usize) {
        let tells = match host {
            // Of the gateway that its session was at it cannot have had the answer.
            "client" => return,
            "worker-1" => ["no connection to the broker", "starting anew"],
            _ => ["cannot renew the lease", "janitor failed"],
        };
        wait_until(&format!("{host} notices that it is cut off"), || {
            let log = self.log(host);
            tells.iter().any(|told| log[said_before..].contains(told))
        });
    }

    /// Once it is reconnected.
    fn is_of_use(&self, host: &str, from: &'static str, data: &Data) {
        let served = || self.log("worker-1").matches("serving session").count();
        let served_before = served();
        let gateways: &[&str] = match (host, from) {
            ("client", gateway) => &[gateway],
            ("worker-1", _) => &GATEWAYS,
            (gateway, _) => &[gateway],
        };
        let began = Instant::now();
        wait_until(&format!("{host} is of use again"), || {
            self.client(data, "again", gateways).succeeds();
            host != "worker-1" || served() > served_before
        });
        data.compare(&self.path("again"));
        println!("{host}: of use again {:.1?} after it was reconnected", began.elapsed());
    }

    fn client(&self, data: &Data, out: &str, gateways: &[&str]) -> Client {
        let gateways =
            gateways.iter().map(|name| format!("{}:{GATEWAY_PORT}", self.machines.address(name)));
        let mut command = self.on("client", Path::new(caudal().get_program()));
        command.args(["run", "coffee", "--gateway", &gateways.collect::<Vec<_>>().join(",")]);
        command.arg("--data").arg(&data.folder).arg("--out").arg(self.path(out));
        Client::start(command, &self.log_path("client"))
    }

    fn run(&self, data: &Data, out: &str) {
        self.client(data, out, &GATEWAYS).succeeds();
        data.compare(&self.path(out));
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            // RabbitMQ's keeper stops it when its input ends; the others are killed.
            if child.stdin.take().is_none() {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
        if std::thread::panicking() {
            for name in HOSTS {
                eprintln!("{name}:\n{}", self.log(name));
            }
        }
    }
}

/// Runs RabbitMQ where it is started, and lets other machines reach it, for as long as its parent lives.
#[test]
fn rabbit_on_its_machine() {
    let Some(folder) = std::env::var_os(RABBIT_FOLDER) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    block_on(async {
        let rabbit = PrivateRabbit::start(Path::new(&folder)).await.unwrap();
        let url = rabbit.url();
        let (_, inside) = url.rsplit_once('@').unwrap();
        let inside = inside.split('/').next().unwrap().to_string();
        let listener = TcpListener::bind(("0.0.0.0", RABBIT_PORT)).await.unwrap();
        println!("rabbit at {}", url.split("/%2f").next().unwrap());
        let passing = async {
            while let Ok((mut outside, _)) = listener.accept().await {
                let inside = inside.clone();
                tokio::spawn(async move {
                    let mut rabbit = TcpStream::connect(inside).await.unwrap();
                    let _ = copy_bidirectional(&mut outside, &mut rabbit).await;
                });
            }
        };
        let orphaned = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut vec![]));
        tokio::select! {
            () = passing => {}
            _ = orphaned => {}
        }
    });
}
