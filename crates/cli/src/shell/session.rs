//! What a shell knows, and what it does at a line.

use std::collections::BTreeSet;
use std::time::Instant;

use caudal::sql::{Script, Statement, files_in_from};
use caudal::{Cluster, FileTable, Job, codes, name_of_files};

use crate::answering::answer_at;
use crate::args::{ClusterArgs, EngineArgs, InputArgs, OutputArgs, TimeArgs};
use crate::error::{Exit, Failed};
use crate::plain_text::plain_line;
use crate::shell::args::ShellArgs;
use crate::shell::command::{self, Command};
use crate::shell::mode::mode;
use crate::shell::tables::{assignment, check_is_no_pipe, is_called};
use crate::shell::waiting::interruptible;
use crate::{Done, job};

pub struct Session {
    /// Each as `NAME=FILES`. They are looked for anew with every statement: files come and change.
    pub(super) tables: Vec<String>,
    /// Each as `NAME=VALUE`.
    pub(super) params: Vec<String>,
    /// Tables as they were when they were last looked at.
    pub(super) seen: Vec<FileTable>,
    /// What was said of guesses.
    told: BTreeSet<String>,
    /// The statement before this one.
    pub(super) last: Option<String>,
    pub(super) cluster: Option<Cluster>,
    pub(super) access: ClusterArgs,
    pub(super) engine: EngineArgs,
    times: TimeArgs,
    input: InputArgs,
    pub(super) output: OutputArgs,
    pub(super) has_timer: bool,
    has_failed: bool,
    /// Number of scripts that are being read, one by the other.
    pub(super) depth: usize,
}

/// What comes after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Line,
    /// Ctrl-C: the lines that were to follow are not wanted any more.
    Drop,
    /// The end of the shell.
    End,
}

impl Session {
    /// With the tables that were named, which have to be there.
    pub fn open(args: ShellArgs) -> Result<Self, Failed> {
        let ShellArgs { files, tables, params, format, quiet, input, engine, times, cluster } =
            args;
        let at = match cluster.gateway.is_empty() {
            true => None,
            false => Some(crate::session::cluster(&cluster)?),
        };
        let mut session = Self {
            tables: vec![],
            params: vec![],
            seen: vec![],
            told: BTreeSet::new(),
            last: None,
            cluster: at,
            access: cluster,
            engine,
            times,
            input,
            output: OutputArgs { quiet, ..OutputArgs::default() },
            has_timer: false,
            has_failed: false,
            depth: 0,
        };
        let named = files.iter().map(|files| format!("{}={files}", name_of_files(files)));
        for source in named.chain(tables) {
            let (name, _) = assignment("--table", "NAME=FILES", &source)?;
            if session.tables.iter().any(|known| is_called(known, name)) {
                let message = format!("two tables are called {name}");
                return Err(Failed::new(codes::NAME_GIVEN_TWICE, message)
                    .hint("-t NAME=FILES gives one another name".to_string()));
            }
            session.set_table("--table", &source)?;
        }
        for param in &params {
            session.set_param("--param", param)?;
        }
        if let Some(named) = format {
            session.output.format = Some(mode("--format", &named)?);
        }
        Ok(session)
    }

    /// Does what a line says: a command, or the statements that end in it. What failed is told, and where in `script`, if that
    /// has a name.
    pub fn line(&mut self, lines: &mut Script, line: &str, script: Option<&str>) -> Next {
        if !lines.is_begun() && command::is_command(line) {
            lines.skip_line();
            let done = Command::parse(line).and_then(|command| self.command(command));
            return self.after(done, script.map(|name| (name, lines.line_count())));
        }
        for statement in lines.line(line) {
            let next = self.statement(statement, script);
            if next != Next::Line {
                return next;
            }
        }
        Next::Line
    }

    /// Answers a statement; the same is told.
    pub fn statement(&mut self, statement: Statement, script: Option<&str>) -> Next {
        let Statement { sql, line } = statement;
        let began = Instant::now();
        let done = self.answer(sql);
        if self.has_timer {
            eprintln!("time: {:.3} s", began.elapsed().as_secs_f64());
        }
        self.after(done.map(|()| Next::Line), script.map(|name| (name, line)))
    }

    /// Whether something that was asked was not done.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    pub fn is_quiet(&self) -> bool {
        self.output.quiet
    }

    /// Tables as they were when they were last looked at.
    pub fn seen(&self) -> &[FileTable] {
        &self.seen
    }

    /// Whether a table was given this name, and is not one because SQL names its files.
    pub fn is_named(&self, name: &str) -> bool {
        self.tables.iter().any(|table| is_called(table, name))
    }

    /// Where it answers, if not in this process.
    pub fn gateways(&self) -> Option<String> {
        let cluster = self.cluster.as_ref()?;
        Some(plain_line(&cluster.gateways().join(",")).into_owned())
    }

    fn after(&mut self, done: Result<Next, Failed>, place: Option<(&str, usize)>) -> Next {
        let failed = match done {
            Ok(next) => return next,
            Err(failed) => failed,
        };
        match failed.exit() {
            // Whoever read our output has gone.
            Exit::Success => return Next::End,
            Exit::Interrupted => return Next::Drop,
            Exit::QueryFailed | Exit::Usage => {}
        }
        failed.tell();
        if let Some((name, line)) = place {
            eprintln!("  (line {line} of {})", plain_line(name));
        }
        self.has_failed = true;
        Next::Line
    }

    fn answer(&mut self, sql: String) -> Done {
        self.last = Some(sql.clone());
        let job = self.job(sql)?;
        let Self { cluster, engine, times, input, output, .. } = self;
        answer_at(cluster.as_ref(), &job, *engine, *times, output, input)
    }

    /// The job of a statement, over the tables as they are now.
    pub(super) fn job(&mut self, sql: String) -> Result<Job, Failed> {
        for files in files_in_from(&sql) {
            check_is_no_pipe(&files)?;
        }
        let tables = self.tables.clone();
        // Others have values for the statements that name them.
        let is_named = |param: &&String| {
            let name = param.split_once('=').map_or("", |(name, _)| name);
            Job::new().query("query", sql.as_str()).param(name, 0).unused_param().is_none()
        };
        let params: Vec<_> = self.params.iter().filter(is_named).cloned().collect();
        let job = interruptible(move || job::of_sql(sql, &tables, &params, true))?;
        self.see(&job);
        Ok(job)
    }

    /// Remembers tables, and says what was guessed of them; once.
    pub(super) fn see(&mut self, job: &Job) {
        for table in &job.tables {
            match self.seen.iter_mut().find(|seen| seen.name == table.name) {
                Some(seen) => *seen = table.clone(),
                None => self.seen.push(table.clone()),
            }
        }
        let notes = job.notes.iter().filter(|note| self.told.insert(note.to_string()));
        let new: Vec<_> = notes.cloned().collect();
        if !self.output.quiet {
            job::tell(&new);
        }
    }
}
