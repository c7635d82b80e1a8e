//! Files of results. Each appears under its name only when it is complete.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use caudal::codes;
use tempfile::TempPath;

use super::sink::{Packing, Sink};
use super::written::Written;
use super::{Format, Style};
use crate::error::Failed;

/// What new files may be, before the umask of whoever runs this.
const MODE: u32 = 0o666;

pub struct ResultFile {
    written: Written,
    path: PathBuf,
    /// What is there so far, removed unless it becomes the file; none of a pipe or a device, which are written as they are.
    part: Option<TempPath>,
}

impl ResultFile {
    /// The file of this name in a folder that is there.
    pub fn create_in(
        folder: &Path,
        name: &str,
        style: impl Into<Style>,
        schema: SchemaRef,
    ) -> Result<Self, Failed> {
        let style = style.into();
        let path = folder.join(format!("{name}.{}", extension(style.format)));
        Self::create(path, style, Packing::None, schema)
    }

    /// A file whose folder is there.
    pub fn create(
        path: PathBuf,
        style: Style,
        packing: Packing,
        schema: SchemaRef,
    ) -> Result<Self, Failed> {
        let (file, part, path) = open(path)?;
        let begin = || Written::begin(style, schema, Sink::file(file, packing)?);
        let written = begin().map_err(|error| at(&path, error))?;
        Ok(Self { written, path, part })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.written.write(batch).map_err(|error| at(&self.path, error))
    }

    /// Makes it the file of its name. Where that fails nothing is left of it.
    pub fn finish(self) -> io::Result<()> {
        let Self { written, path, part } = self;
        let finished = written.finish().and_then(|()| match part {
            Some(part) => Ok(part.persist(&path)?),
            None => Ok(()),
        });
        finished.map_err(|error| at(&path, error))
    }
}

/// A file to write to; and beside it, under the name of a part, until it is complete.
fn open(path: PathBuf) -> Result<(File, Option<TempPath>, PathBuf), Failed> {
    // Of a link what it leads to is replaced, not the link.
    let path = path.canonicalize().unwrap_or(path);
    let folder = folder_of(&path).to_path_buf();
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let file = OpenOptions::new().write(true).open(&path);
        return Ok((file.map_err(|error| unwritable_file(&path, &error))?, None, path));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".part")
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(&folder);
    let (file, part) = part.map_err(|error| unwritable(&folder, &error))?.into_parts();
    Ok((file, Some(part), path))
}

pub fn extension(format: Format) -> &'static str {
    match format {
        Format::Table => "txt",
        Format::Csv => "csv",
        Format::Json => "json",
        Format::Ndjson => "ndjson",
        Format::Markdown => "md",
        Format::Parquet => "parquet",
        Format::Arrow => "arrow",
    }
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the output folder if need be, and makes sure now that it can be written to.
pub fn prepare_folder(folder: &Path) -> Result<(), Failed> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let probe = folder.join(".caudal-probe");
    File::create(&probe).map_err(|error| unwritable(folder, &error))?;
    std::fs::remove_file(&probe).map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &Path, error: &io::Error) -> Failed {
    let message = format!("cannot write into the folder {}: {error}", folder.display());
    Failed::new(codes::FOLDER_UNWRITABLE, message)
        .hint("name a folder that is not there yet, or that you may write to".to_string())
}

fn unwritable_file(path: &Path, error: &io::Error) -> Failed {
    Failed::new(codes::OUTPUT_UNWRITABLE, format!("cannot write {}: {error}", path.display()))
}

/// The error with the file that it is about. Its kind stays: a closed pipe is no error to tell of.
fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
