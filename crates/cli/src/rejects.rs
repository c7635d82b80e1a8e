//! Rows that do not fit their table: counted, located, kept on request. Never lost in silence.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use caudal::{Reject, TableId};
use caudal_core::limits;

use crate::error::Failed;
use crate::output::prepare_folder;

pub struct Rejects {
    tables: BTreeMap<TableId, Table>,
    names: Vec<String>,
    folder: Option<PathBuf>,
}

#[derive(Default)]
struct Table {
    count: usize,
    described: Vec<String>,
    kept: Option<csv::Writer<BufWriter<File>>>,
}

impl Rejects {
    pub fn new(names: Vec<String>, folder: Option<PathBuf>) -> Result<Self, Failed> {
        if let Some(folder) = &folder {
            prepare_folder(folder)?;
        }
        Ok(Self { tables: BTreeMap::new(), names, folder })
    }

    pub fn add(&mut self, table: TableId, rejects: &[Reject]) -> io::Result<()> {
        let name = &self.names[table.index()];
        let entry = self.tables.entry(table).or_default();
        for reject in rejects {
            entry.count += 1;
            if entry.described.len() < limits::REJECTS_DESCRIBED_MAX {
                entry.described.push(reject.to_string());
            }
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

    /// Reports on stderr what was left out, and why.
    pub fn report(&self) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        for (table, rejects) in &self.tables {
            let name = &self.names[table.index()];
            let (rows, were) = if rejects.count == 1 { ("row", "was") } else { ("rows", "were") };
            let count = rejects.count;
            writeln!(stderr, "warning: {count} {rows} of {name} did not fit and {were} left out")?;
            for line in &rejects.described {
                writeln!(stderr, "  {line}")?;
            }
            if count > rejects.described.len() {
                writeln!(stderr, "  ... and {} more", count - rejects.described.len())?;
            }
            match &self.folder {
                Some(folder) => {
                    writeln!(stderr, "  (kept in {})", kept_in(folder, name).display())?
                }
                None => {
                    writeln!(stderr, "  (--rejects DIR keeps them, --strict makes them an error)")?
                }
            }
        }
        Ok(())
    }
}

fn kept_in(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("{table}.csv"))
}

impl Table {
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
