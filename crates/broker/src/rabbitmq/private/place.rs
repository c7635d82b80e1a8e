//! The place of a private RabbitMQ: its scripts, its files, its names.

use std::fs::{File, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::Error;

/// Folders in which packages put the scripts that run RabbitMQ as their caller. Those of the same names
/// on the PATH may change user and directory.
const SCRIPTS: [&str; 4] = [
    "/usr/lib/rabbitmq/lib/*/sbin",
    "/opt/rabbitmq/sbin",
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
];

/// Loopback only; and messages of some megabytes in memory that is used again, instead of fresh pages from the
/// system for each.
const ERLANG: &str = "-kernel inet_dist_use_interface {127,0,0,1} \
    +MBsbct 16384 +MBsmbcs 32768 +MBlmbcs 65536 +MBmbcgs 2";

#[derive(Debug)]
pub struct Place {
    pub directory: PathBuf,
    pub scripts: PathBuf,
    /// The broker's; those of its helpers follow.
    pub port: u16,
    /// Of its only user.
    pub password: String,
}

/// The only user of a private RabbitMQ: other users of the machine reach its port, too.
pub const USER: &str = "caudal";

const PASSWORD_BYTES: usize = 16;

impl Place {
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let scripts = find_scripts().ok_or(Error::NotInstalled)?;
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
        Ok(Self { directory, scripts, port: 0, password: String::new() })
    }

    /// A password that nobody knows; the same as before, if there is one.
    pub fn make_password(&self) -> io::Result<String> {
        if let Ok(password) = self.read_password() {
            return Ok(password);
        }
        let mut random = [0; PASSWORD_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub fn read_password(&self) -> io::Result<String> {
        fs::read_to_string(self.file("password"))
    }

    /// For this user's eyes only: passwords are among them.
    pub fn write_files(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        fs::set_permissions(&self.directory, Permissions::from_mode(0o700))?;
        fs::write(self.file("password"), &self.password)?;
        fs::create_dir_all(self.file("home"))?;
        fs::create_dir_all(self.file("log"))?;
        fs::write(self.file("port"), self.port.to_string())?;
        let Self { port, password, .. } = self;
        let configuration = format!(
            "listeners.tcp.1 = 127.0.0.1:{port}\ndefault_user = {USER}\ndefault_pass = {password}\n"
        );
        fs::write(self.file("rabbitmq.conf"), configuration)?;
        fs::write(self.file("advanced.config"), "[].\n")?;
        // Some plugins listen on all interfaces.
        fs::write(self.file("enabled_plugins"), "[].\n")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub fn node_name(&self) -> String {
        format!("caudal{}@localhost", self.port)
    }

    pub fn script(&self, name: &str) -> Command {
        self.with_environment(Command::new(self.scripts.join(name)))
    }

    /// Everything that would otherwise come from the machine's own RabbitMQ, or listen beyond
    /// loopback.
    pub fn with_environment(&self, mut command: Command) -> Command {
        let port = |offset: u16| (self.port + offset).to_string();
        command
            // Where it leaves what it has to say when it breaks.
            .current_dir(&self.directory)
            .env("HOME", self.file("home"))
            .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
            .env("RABBITMQ_NODENAME", self.node_name())
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", port(0))
            .env("RABBITMQ_DIST_PORT", port(1))
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("ERL_EPMD_PORT", port(2))
            // It is killed after the broker, and may not have noticed yet that this is gone.
            .env("ERL_EPMD_RELAXED_COMMAND_CHECK", "1")
            .env("RABBITMQ_CTL_DIST_PORT_MIN", port(10))
            .env("RABBITMQ_CTL_DIST_PORT_MAX", port(30))
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", ERLANG)
            .env("RABBITMQ_MNESIA_BASE", self.file("mnesia"))
            .env("RABBITMQ_LOG_BASE", self.file("log"))
            .env("RABBITMQ_PID_FILE", self.file("pid"))
            .env("RABBITMQ_CONFIG_FILE", self.file("rabbitmq.conf"))
            .env("RABBITMQ_ADVANCED_CONFIG_FILE", self.file("advanced.config"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", self.file("enabled_plugins"));
        command
    }

    pub fn not_running(&self, reason: impl ToString) -> Error {
        Error::NotRunning { directory: self.directory.clone(), reason: reason.to_string() }
    }
}

fn find_scripts() -> Option<PathBuf> {
    let usable = |directory: &PathBuf| {
        ["rabbitmq-server", "rabbitmq-env"].iter().all(|file| directory.join(file).is_file())
    };
    SCRIPTS.iter().flat_map(|pattern| directories(pattern)).find(usable)
}

/// The directories a pattern with at most one `*` means.
fn directories(pattern: &str) -> Vec<PathBuf> {
    let Some((parent, rest)) = pattern.split_once("/*/") else { return vec![pattern.into()] };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join(rest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_folder() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("rabbitmq_server-3.10.8/sbin")).unwrap();
        let pattern = format!("{}/*/sbin", root.path().display());
        assert_eq!(directories(&pattern), [root.path().join("rabbitmq_server-3.10.8/sbin")]);
        assert_eq!(directories("/opt/sbin"), [PathBuf::from("/opt/sbin")]);
    }
}
