//! The gateway's end of the pipe: a planner, started, asked, and looked at when it has died.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use caudal_core::{QueryId, limits};
use caudal_runtime::task;
use caudal_runtime::time::timeout;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tracing::warn;

use super::death::Death;
use super::pipe::{self, LENGTH_BYTES, Said};

/// A planner that runs. Dropped, it is killed.
pub struct Planner {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    last_words: JoinHandle<String>,
    /// Sessions that it was asked to plan.
    pub requests: usize,
    /// Part of the last session that it has begun; `None` if it may never have heard of that session.
    pub begun: Option<Begun>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    Session,
    Query(QueryId),
}

impl Begun {
    pub fn query(self) -> Option<QueryId> {
        match self {
            Begun::Session => None,
            Begun::Query(query) => Some(query),
        }
    }
}

impl Planner {
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg("planner")
            .env("MIMALLOC_ARENA_RESERVE", format!("{}KiB", limits::PLANNER_ARENA_BYTES >> 10))
            // Where memory is short, a trace takes long, and hides what is said before it.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C at a terminal is for the gateway, which ends its planners.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().unwrap_or_default();
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((input, output), errors) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let last_words = task::spawn(listen(errors, pid));
        Ok(Self { child, input, output, last_words, requests: 0, begun: None })
    }

    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Whether it can be asked, as far as one can see.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a session; gives what is said of it last. An error: it is dead, or might as well be.
    pub async fn ask(&mut self, request: &[u8]) -> io::Result<Said> {
        self.requests += 1;
        self.begun = None;
        self.input.write_all(request).await?;
        loop {
            match self.read().await? {
                Said::Begins(None) => self.begun = Some(Begun::Session),
                Said::Begins(Some(query)) => self.begun = Some(Begun::Query(query)),
                last => return Ok(last),
            }
        }
    }

    async fn read(&mut self) -> io::Result<Said> {
        let mut header = [0; LENGTH_BYTES];
        self.output.read_exact(&mut header).await?;
        let mut bytes = vec![0; pipe::length(header, limits::PLANNER_REPLY_BYTES_MAX)?];
        self.output.read_exact(&mut bytes).await?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Cause of its death; a planner that lives on, though it answers no more, is killed.
    pub async fn died(mut self) -> io::Result<Death> {
        let most = Duration::from_millis(limits::PLANNER_END_MS);
        let status = match timeout(most, self.child.wait()).await {
            Ok(status) => status?,
            Err(_) => {
                self.child.kill().await?;
                return Ok(Death::Silent);
            }
        };
        let last_words = timeout(most, self.last_words).await;
        let last_words = last_words.ok().and_then(Result::ok).unwrap_or_default();
        Ok(Death::of(status, &last_words))
    }
}

/// Passes on to the log what a planner says on its standard error; keeps the end of it.
async fn listen(mut errors: ChildStderr, planner: u32) -> String {
    let bytes_max = limits::PLANNER_LAST_WORDS_BYTES;
    let (mut chunk, mut last, mut line) = (vec![0; bytes_max], String::new(), String::new());
    while let Ok(bytes @ 1..) = errors.read(&mut chunk).await {
        let text = String::from_utf8_lossy(&chunk[..bytes]);
        last.push_str(&text);
        last.drain(..last.ceil_char_boundary(last.len().saturating_sub(bytes_max)));
        line.push_str(&text);
        while let Some((whole, rest)) = line.split_once('\n') {
            warn!(planner, line = whole, "planner stderr");
            line = rest.to_string();
        }
        if line.len() > bytes_max {
            warn!(planner, line, "planner stderr");
            line.clear();
        }
    }
    last
}
