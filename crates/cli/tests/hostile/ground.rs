//! Where it happens: a cluster with monitors and a RabbitMQ of its own, tokens of three tenants, and one more gateway that
//! speaks TLS.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use caudal_broker::rabbitmq::private::PrivateRabbit;
use caudal_monitor::Process;

use crate::attack::{RIGHT, Told};
use crate::harness::{caudal, free_port, wait_until};
use crate::watched::Watched;

pub const GOOD_TOKEN: &str = "token-of-the-one-that-behaves";
pub const EVIL_TOKEN: &str = "token-of-the-one-that-attacks";
/// Whose sessions the one that attacks would like to have.
pub const VICTIM_TOKEN: &str = "token-of-the-one-with-sessions";

/// What an attacker's client waits for an answer before it gives up, which is the end of its session.
const ATTACK_TIMEOUT: &str = "5s";
/// More than any quota of a token.
const SESSIONS: &str = "32";

pub struct Ground {
    pub cluster: Watched,
    pub gateways: Vec<String>,
    pub tls_gateway: String,
    tls_child: std::sync::Mutex<Child>,
    before: Vec<(String, Process)>,
    _tokens: tempfile::TempDir,
}

impl Ground {
    pub fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let tokens = kept.path().join("tokens");
        fs::write(&tokens, [GOOD_TOKEN, EVIL_TOKEN, VICTIM_TOKEN].join("\n")).unwrap();
        let tokens = tokens.display().to_string();
        let options = ["--tokens", &tokens, "--sessions", SESSIONS, "--grace", "5"];
        let cluster = Watched::up_with_rabbit_and(&options);
        let nodes = cluster.members.nodes.iter();
        let gateways: Vec<String> = nodes.filter_map(|node| node.listen.clone()).collect();
        let (tls_gateway, child) = start_tls(&cluster, &tokens);
        let tls_child = std::sync::Mutex::new(child);
        let mut ground =
            Self { cluster, gateways, tls_gateway, tls_child, before: vec![], _tokens: kept };
        ground.before = ground.processes();
        ground.write_tables();
        ground
    }

    fn processes(&self) -> Vec<(String, Process)> {
        let nodes = self.cluster.names().into_iter();
        // A node that is being replaced is no process, or two: as good as another one.
        let none = Process { pid: 0, started: 0 };
        let of = |name: &str| match self.cluster.folder.processes(name)[..] {
            [process] => process,
            _ => none,
        };
        let mut processes: Vec<(String, Process)> =
            nodes.map(|name| (name.clone(), of(&name))).collect();
        let rabbit = PrivateRabbit::find(&self.cluster.folder.path().join("broker"));
        let rabbit = rabbit.ok().and_then(|rabbit| rabbit.pid()).and_then(Process::of);
        processes.push(("RabbitMQ".to_string(), rabbit.unwrap_or(none)));
        processes
    }

    /// Nodes that are other processes than at first.
    pub fn changed(&self) -> Vec<String> {
        let mut changed: Vec<String> = self
            .processes()
            .into_iter()
            .filter(|process| !self.before.contains(process))
            .map(|(name, _)| name)
            .collect();
        if self.tls_child.lock().unwrap().try_wait().unwrap().is_some() {
            changed.push("the gateway with TLS".to_string());
        }
        changed
    }

    /// The same processes, and nothing left of the attackers' sessions.
    pub fn is_as_before(&self) {
        assert_eq!(self.changed(), Vec::<String>::new());
        let sessions = self.cluster.folder.path().join("store/sessions");
        wait_until("sessions are removed", || {
            fs::read_dir(&sessions).map_or(0, |sessions| sessions.count()) == 0
        });
    }

    pub fn gateway(&self) -> &str {
        &self.gateways[0]
    }

    pub fn health_addresses(&self) -> Vec<String> {
        self.cluster.members.nodes.iter().map(|node| node.health.clone()).collect()
    }

    pub fn monitor_addresses(&self) -> Vec<String> {
        self.cluster.members.monitors().map(|node| node.health.clone()).collect()
    }

    /// Of RabbitMQ, without its password.
    pub fn broker_address(&self) -> String {
        let url = PrivateRabbit::find(&self.cluster.folder.path().join("broker")).unwrap().url();
        let address = url.rsplit_once('@').map_or(&*url, |(_, address)| address);
        let address = address.trim_start_matches("amqp://");
        address.split('/').next().unwrap().to_string()
    }

    /// Two tables of numbers, and one of few keys.
    fn write_tables(&self) {
        for (table, column) in [("a", "x"), ("b", "y")] {
            let rows: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
            fs::write(self.table(table), format!("{column}\n{rows}")).unwrap();
        }
        let rows: String = (0..30_000).map(|n| format!("{},{n}\n", n % 2)).collect();
        fs::write(self.table("few"), format!("k,v\n{rows}")).unwrap();
    }

    fn table(&self, name: &str) -> PathBuf {
        self.cluster.path(&format!("{name}.csv"))
    }

    /// What a tenant's SQL is told. `right` is the answer, where there may be one: all rows, without the header.
    pub fn sql(&self, sql: &str, right: &str) -> Told {
        let file = self.cluster.path("attack.sql");
        fs::write(&file, sql).unwrap();
        let mut query = self.query();
        query.arg("-f").arg(&file).args(["--timeout", ATTACK_TIMEOUT]);
        let used = ["a", "b", "few"].into_iter().filter(|table| {
            [" ", ",", ")", "\n"]
                .iter()
                .any(|after| format!("{sql}\n").contains(&format!(" {table}{after}")))
        });
        for table in used {
            query.arg("-t").arg(format!("{table}={}", self.table(table).display()));
        }
        let output = query.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            let rows = String::from_utf8_lossy(&output.stdout).into_owned();
            let rows = rows.split_once('\n').map_or("", |(_, rows)| rows).trim_end().to_string();
            return match rows == right {
                true => Told::new(RIGHT),
                false => Told::with("wrong", shortened(&rows)),
            };
        }
        code_in(&said).map_or_else(
            || Told::with(format!("{}", output.status), shortened(&said)),
            |code| Told::with(code, shortened(&said)),
        )
    }

    /// As the one that attacks.
    pub fn query(&self) -> Command {
        let mut query = caudal();
        query.args(["query", "--gateway", &self.gateways.join(",")]);
        query.env("CAUDAL_TOKEN", EVIL_TOKEN).stdin(Stdio::null());
        query
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let mut child = self.tls_child.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The code of the first error.
pub fn code_in(said: &str) -> Option<String> {
    let at = said.find("error[CDL-")?;
    Some(said[at + 6..].split(']').next()?.to_string())
}

pub fn shortened(said: &str) -> String {
    said.chars().take(160).collect::<String>().replace('\n', " ")
}

fn start_tls(cluster: &Watched, tokens: &str) -> (String, Child) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let (certificate, key) = (cluster.path("cert.pem"), cluster.path("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let log = fs::File::create(cluster.folder.log("gateway-tls")).unwrap();
    let rabbit = PrivateRabbit::find(&cluster.folder.path().join("broker")).unwrap();
    let child = caudal()
        .args(["gateway", "--name", "gateway-tls", "--listen", &address, "--sessions", SESSIONS])
        .args(["--grace", "5", "--tokens", tokens, "--store"])
        .arg(cluster.folder.path().join("store"))
        .arg("--tls-cert")
        .arg(certificate)
        .arg("--tls-key")
        .arg(key)
        .env("CAUDAL_BROKER", rabbit.url())
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    wait_until("the gateway with TLS listens", || {
        std::net::TcpStream::connect_timeout(&address.parse().unwrap(), Duration::from_secs(1))
            .is_ok()
    });
    (address, child)
}
