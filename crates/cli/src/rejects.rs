//! Rows that do not fit their table: counted, located, kept on request. Never lost in silence.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use caudal::{Job, Reject, TableId, TableProgress};
use caudal_core::limits;

use crate::error::Failed;
use crate::output::{Format, prepare_folder};
use crate::plain_text::{plain_json, plain_line};

pub struct Rejects {
    tables: BTreeMap<TableId, Table>,
    sources: Vec<Source>,
    folder: Option<PathBuf>,
    is_for_programs: bool,
}

/// A table that rows are rejected of.
struct Source {
    name: String,
    is_guessed: bool,
}

#[derive(Default)]
struct Table {
    count: usize,
    described: Vec<String>,
    /// Columns with values that are not of their type.
    misfits: Vec<String>,
    /// Whether some text is not UTF-8.
    is_other_text: bool,
    kept: Option<csv::Writer<BufWriter<File>>>,
}

impl Rejects {
    pub fn new(job: &Job, folder: Option<PathBuf>, format: Option<Format>) -> Result<Self, Failed> {
        if let Some(folder) = &folder {
            prepare_folder(folder)?;
        }
        let source = |table: &caudal::FileTable| Source {
            name: table.name.clone(),
            is_guessed: job.guessed.contains(&table.name),
        };
        let sources = job.tables.iter().map(source).collect();
        let is_for_programs = matches!(format, Some(Format::Json | Format::Ndjson));
        Ok(Self { tables: BTreeMap::new(), sources, folder, is_for_programs })
    }

    pub fn add(&mut self, table: TableId, rejects: &[Reject]) -> io::Result<()> {
        let name = &self.sources[table.index()].name;
        let entry = self.tables.entry(table).or_default();
        for reject in rejects {
            entry.add(reject);
            if let Some(folder) = &self.folder {
                entry.keep(folder, name, reject)?;
            }
        }
        Ok(())
    }

    /// Makes sure that what was kept is on disk.
    pub fn finish(&mut self) -> io::Result<()> {
        let kept = self.tables.values_mut().filter_map(|table| table.kept.as_mut());
        kept.into_iter().try_for_each(csv::Writer::flush)
    }

    /// Reports on stderr what was left out; and why, unless it is to be quiet. To programs in their own language, with the
    /// number of rows that are left.
    pub fn report(&self, is_quiet: bool, progress: &[TableProgress]) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        for (table, rejects) in &self.tables {
            let source = &self.sources[table.index()];
            match self.is_for_programs {
                true => {
                    let read = progress.iter().find(|read| read.name == source.name);
                    let rows = read.map(|read| read.rows);
                    let line = rejects.as_json(&source.name, rows, is_quiet);
                    writeln!(stderr, "{}", plain_json(&line))?;
                }
                false => self.tell(source, rejects, is_quiet, &mut stderr)?,
            }
        }
        Ok(())
    }

    fn tell(
        &self,
        source: &Source,
        rejects: &Table,
        is_quiet: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (rows, were) = if rejects.count == 1 { ("row", "was") } else { ("rows", "were") };
        let count = rejects.count;
        let name = plain_line(&source.name);
        writeln!(out, "warning: {count} {rows} of {name} did not fit and {were} left out")?;
        if is_quiet {
            return Ok(());
        }
        for line in &rejects.described {
            writeln!(out, "  {}", plain_line(line))?;
        }
        if count > rejects.described.len() {
            writeln!(out, "  ... and {} more", count - rejects.described.len())?;
        }
        match &self.folder {
            Some(folder) => {
                let file = kept_in(folder, &source.name).display().to_string();
                writeln!(out, "  (kept in {})", plain_line(&file))?;
            }
            None => writeln!(out, "  (--rejects DIR keeps them, --strict makes them an error)")?,
        }
        for remedy in rejects.remedies().into_iter().filter(|_| source.is_guessed) {
            writeln!(
                out,
                "  ({} in braces after the files {})",
                plain_line(&remedy.option),
                remedy.does
            )?;
        }
        Ok(())
    }
}

/// An option that would take rows which do not fit.
struct Remedy {
    option: String,
    does: &'static str,
}

/// A table may be called by the path of its file.
fn kept_in(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{}.csv", table.replace('%', "%25").replace('/', "%2F")))
}

/// A name as TOML has it: bare, if it can be.
fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_string(),
        // Its strings are those of JSON.
        false => serde_json::Value::from(name).to_string(),
    }
}

impl Table {
    fn add(&mut self, reject: &Reject) {
        self.count += 1;
        if self.described.len() < limits::REJECTS_DESCRIBED_MAX {
            self.described.push(reject.to_string());
        }
        self.is_other_text |= reject.reason.is_other_text();
        if let Some(column) = &reject.column
            && reject.reason.is_type_misfit()
            && !self.misfits.contains(column)
        {
            self.misfits.push(column.clone());
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        let mut remedies = vec![];
        if !self.misfits.is_empty() {
            let shown = self.misfits.iter().take(limits::HEADER_NAMES_LISTED_MAX);
            let types: Vec<String> =
                shown.map(|column| format!("{}=\"text\"", toml_key(column))).collect();
            let option = format!("{{types={{{}}}}}", types.join(", "));
            remedies.push(Remedy { option, does: "reads such columns as text" });
        }
        if self.is_other_text {
            let option = "{encoding=\"windows-1252\"} or \"latin-1\"".to_string();
            remedies.push(Remedy { option, does: "reads text that is not UTF-8" });
        }
        remedies
    }

    fn as_json(&self, table: &str, rows: Option<u64>, is_quiet: bool) -> serde_json::Value {
        let mut line = serde_json::json!({ "table": table, "rows": rows, "rejected": self.count });
        if !is_quiet {
            line["first"] = self.described.clone().into();
        }
        line
    }

    fn keep(&mut self, folder: &Path, table: &str, reject: &Reject) -> io::Result<()> {
        if self.kept.is_none() {
            let file = File::create(kept_in(folder, table))?;
            let mut writer = csv::Writer::from_writer(BufWriter::new(file));
            writer.write_record(["file", "line", "column", "reason", "record"])?;
            self.kept = Some(writer);
        }
        let writer = self.kept.as_mut().expect("made above");
        let raw = reject.raw.as_deref().unwrap_or_default();
        writer.write_record([
            reject.file.display().to_string().as_bytes(),
            reject.line.to_string().as_bytes(),
            reject.column.as_deref().unwrap_or_default().as_bytes(),
            reject.reason.to_string().as_bytes(),
            raw.trim_ascii_end(),
        ])?;
        Ok(())
    }
}
