//! What the commands of the shell do.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use caudal::{FileTable, Job, codes};
use caudal_core::error::nearest;

use crate::answering::with_waiting_told;
use crate::args::ExplainFormat;
use crate::commands::explain;
use crate::commands::schema::type_name_of;
use crate::error::Failed;
use crate::output::{self, Format};
use crate::shell::command::{self, Command, bad, unquoted};
use crate::shell::mode::{mode, name_of};
use crate::shell::script;
use crate::shell::session::{Next, Session};
use crate::shell::tables::check_is_no_pipe;
use crate::shell::waiting::{interruptible, wait_for};
use crate::{Done, job};

/// Number of shards that `.explain` plans for, unless `--shards` says it: as `caudal explain`.
const EXPLAINED_SHARDS: u32 = 4;

impl Session {
    pub(super) fn command(&mut self, command: Command<'_>) -> Result<Next, Failed> {
        match command {
            Command::Help => output::print(&command::help())?,
            Command::Tables => self.show_tables()?,
            Command::Schema(of) => self.show_schema(of)?,
            Command::Explain(sql) => self.explain(sql)?,
            Command::Mode(mode) => self.set_mode(mode)?,
            Command::Timer(timer) => self.set_timer(timer)?,
            Command::Open(gateways) => self.open_cluster(gateways)?,
            Command::Read(file) => return script::read_file(self, Path::new(file)),
            Command::Param(Some(param)) => self.set_param(".param", param)?,
            Command::Param(None) => self.show_params()?,
            Command::Table(source) => self.set_table(".table", source)?,
            Command::Forget(name) => self.forget(name)?,
            Command::Quit => return Ok(Next::End),
        }
        Ok(Next::Line)
    }

    fn show_tables(&self) -> Done {
        let (mut names, mut files, mut columns) = (vec![], vec![], vec![]);
        for (name, from) in self.tables.iter().filter_map(|table| table.split_once('=')) {
            let seen = self.seen.iter().find(|seen| seen.name == name);
            names.push(name);
            files.push(from);
            columns.push(seen.map(|seen| seen.schema().fields().len() as u64));
        }
        let columns: ArrayRef = Arc::new(UInt64Array::from(columns));
        self.show(vec![("table", texts(names)), ("files", texts(files)), ("columns", columns)])
    }

    fn show_params(&self) -> Done {
        let params = self.params.iter().filter_map(|param| param.split_once('='));
        let (names, values): (Vec<_>, Vec<_>) = params.unzip();
        self.show(vec![("parameter", texts(names)), ("value", texts(values))])
    }

    /// The columns of a table, of files in quotes, or of all tables.
    fn show_schema(&mut self, of: Option<&str>) -> Done {
        let tables = match of {
            None => {
                let tables = self.tables.clone();
                self.look_at(tables)?
            }
            Some(files) if files.starts_with('\'') => {
                check_is_no_pipe(unquoted(files))?;
                self.look_at(vec![format!("t={}", unquoted(files))])?
            }
            Some(name) => {
                let source = self.source_of(name)?;
                self.look_at(vec![source])?
            }
        };
        let (mut names, mut columns, mut types) = (vec![], vec![], vec![]);
        for table in &tables {
            for column in table.schema().fields() {
                names.push(table.name.clone());
                columns.push(column.name().clone());
                types.push(type_name_of(column.data_type()));
            }
        }
        let mut shown = vec![("column", texts(columns)), ("type", texts(types))];
        if of.is_none() {
            shown.insert(0, ("table", texts(names)));
        }
        self.show(shown)
    }

    /// Tables as they are now.
    fn look_at(&mut self, sources: Vec<String>) -> Result<Vec<FileTable>, Failed> {
        let job = interruptible(move || job::with_tables(Job::new(), &sources))?;
        Ok(job.tables)
    }

    fn source_of(&self, name: &str) -> Result<String, Failed> {
        let name = name.trim_end_matches(';').trim_matches('"');
        let called = |table: &&String| crate::shell::tables::is_called(table, name);
        self.tables.iter().find(called).cloned().ok_or_else(|| {
            let known = self.tables.iter().filter_map(|table| table.split_once('='));
            let near = nearest(name, known.map(|(name, _)| name));
            let hint = near.map(|near| format!("did you mean {near:?}?"));
            Failed::new(codes::UNKNOWN_TABLE, format!("there is no table {name:?}"))
                .hint(hint.unwrap_or_else(|| "files go in single quotes".to_string()))
        })
    }

    fn explain(&mut self, sql: Option<&str>) -> Done {
        let asked = sql.map(|sql| sql.trim_end_matches(';').to_string());
        let sql = asked.or_else(|| self.last.clone());
        let sql = sql.ok_or_else(|| bad(".explain", "nothing was asked before"))?;
        let job = self.job(sql)?;
        let shards = self.engine.shards.unwrap_or(EXPLAINED_SHARDS) as usize;
        explain::show(&job, shards, ExplainFormat::Text)
    }

    fn set_mode(&mut self, named: Option<&str>) -> Done {
        let Some(named) = named else {
            let format = self.output.format.unwrap_or_else(Format::for_stdout);
            return Ok(output::print(&format!("{}\n", name_of(format)))?);
        };
        self.output.format = Some(mode(".mode", named)?);
        Ok(())
    }
    fn set_timer(&mut self, timer: Option<&str>) -> Done {
        self.has_timer = match timer {
            None => !self.has_timer,
            Some("on") => true,
            Some("off") => false,
            Some(other) => return Err(bad(".timer", format!("{other:?} is neither on nor off"))),
        };
        Ok(())
    }

    /// Goes to a cluster that answers, or back into this process.
    fn open_cluster(&mut self, gateways: Option<&str>) -> Done {
        let Some(gateways) = gateways else {
            self.cluster = None;
            return Ok(());
        };
        self.access.gateway = gateways.split(',').map(|gateway| gateway.trim().into()).collect();
        let cluster = crate::session::cluster(&self.access)?;
        wait_for(async {
            Ok(with_waiting_told(&cluster, self.output.quiet, cluster.sessions()).await?)
        })?;
        self.cluster = Some(cluster);
        Ok(())
    }

    fn show(&self, columns: Vec<(&str, ArrayRef)>) -> Done {
        let batch = RecordBatch::try_from_iter(columns).map_err(io::Error::other)?;
        let format = self.output.format.unwrap_or_else(Format::for_stdout);
        let mut writer = output::writer(format, batch.schema(), output::stdout())?;
        writer.write(&batch)?;
        Ok(writer.finish()?)
    }
}

fn texts(texts: Vec<impl AsRef<str>>) -> ArrayRef {
    Arc::new(texts.iter().map(|text| Some(text.as_ref())).collect::<StringArray>())
}
