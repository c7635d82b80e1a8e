//! Where results go, and how they are written there: what `--out`, `--format` and `--delimiter` come to.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use caudal::codes;

use super::file::folder_of;
use super::sink::Packing;
use super::{Format, Style, prepare_folder};
use crate::args::OutputArgs;
use crate::error::Failed;

#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    Stdout(Style),
    /// The result of the only query.
    File {
        path: PathBuf,
        style: Style,
        packing: Packing,
    },
    /// A file for each result.
    Folder {
        path: PathBuf,
        style: Style,
    },
}

impl Place {
    /// For the results of so many queries. Folders are made.
    pub fn of(args: &OutputArgs, queries: usize) -> Result<Self, Failed> {
        let place = Self::named(args, queries)?;
        match &place {
            Place::Stdout(style) => check_stdout(style.format, queries)?,
            // What is no regular file has its folder.
            Place::File { path, .. } if path.exists() => {}
            Place::File { path, .. } => prepare_folder(folder_of(path))?,
            Place::Folder { path, .. } => prepare_folder(path)?,
        }
        Ok(place)
    }

    fn named(args: &OutputArgs, queries: usize) -> Result<Self, Failed> {
        let path = args.out.as_deref().filter(|path| *path != Path::new("-"));
        let Some(path) = path else {
            let format = args.format.or(args.delimiter.map(|_| Format::Csv));
            let style = styled(args, format.unwrap_or_else(Format::for_stdout))?;
            return Ok(Place::Stdout(Style { is_stream: true, ..style }));
        };
        let name = Name::of(path);
        let is_folder = path.is_dir() || ends_with_slash(path);
        if is_folder || (name == Name::default() && !path.exists()) {
            if !is_folder {
                refuse_what_is_not_written(path)?;
            }
            let style = styled(args, args.format.unwrap_or(Format::Csv))?;
            return Ok(Place::Folder { path: path.to_path_buf(), style });
        }
        if queries != 1 {
            let message =
                format!("--out {}: one file cannot have {queries} results", path.display());
            return Err(
                unclear(message).hint("name a folder, or choose one with --queries".to_string())
            );
        }
        let (style, packing) = name.styled(path, args)?;
        Ok(Place::File { path: path.to_path_buf(), style, packing })
    }
}

fn styled(args: &OutputArgs, format: Format) -> Result<Style, Failed> {
    match args.delimiter {
        Some(_) if format != Format::Csv => {
            Err(unclear("--delimiter is said, and the format is not CSV".to_string()))
        }
        delimiter => Ok(Style { delimiter: delimiter.unwrap_or(b','), ..Style::from(format) }),
    }
}

/// What the name of a file says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Name {
    format: Option<Format>,
    packing: Packing,
    delimiter: Option<u8>,
    is_stream: bool,
}

impl Name {
    fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, packing) = match name.rsplit_once('.') {
            Some((name, "gz" | "gzip")) => (name, Packing::Gzip),
            Some((name, "zst" | "zstd")) => (name, Packing::Zstd),
            _ => (name.as_str(), Packing::None),
        };
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let format = match extension {
            "csv" | "tsv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            "ndjson" | "jsonl" => Some(Format::Ndjson),
            "parquet" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" => Some(Format::Arrow),
            "md" => Some(Format::Markdown),
            "txt" => Some(Format::Table),
            _ => None,
        };
        let delimiter = (extension == "tsv").then_some(b'\t');
        Self { format, packing, delimiter, is_stream: extension == "arrows" }
    }

    /// What it says together with the options, unless they contradict it.
    fn styled(self, path: &Path, args: &OutputArgs) -> Result<(Style, Packing), Failed> {
        let contradicted = |what: &str| {
            let message = format!("--out {}: its name says otherwise than {what}", path.display());
            unclear(message).hint("leave the option out, or name the file otherwise".to_string())
        };
        // Text may be in a file of text, however it is arranged.
        let is_text = |format: Format| !format.is_binary();
        let is_other =
            |name: Format, said: Format| name != said && !(name == Format::Table && is_text(said));
        let format = match (self.format, args.format) {
            (Some(name), Some(said)) if is_other(name, said) => {
                return Err(contradicted("--format"));
            }
            (_, Some(said)) => said,
            (Some(name), None) => name,
            (None, None) => Format::Csv,
        };
        let style = match (self.delimiter, args.delimiter) {
            (Some(name), Some(said)) if name != said => return Err(contradicted("--delimiter")),
            (Some(name), _) => Style { delimiter: name, ..Style::from(format) },
            (None, _) => styled(args, format)?,
        };
        if format.is_binary() && self.packing != Packing::None {
            let message = format!("--out {}: such files are compressed within", path.display());
            return Err(unclear(message).hint("leave .gz or .zst out".to_string()));
        }
        Ok((Style { is_stream: self.is_stream, ..style }, self.packing))
    }
}

/// Endings of files that people expect to get, and would not.
const NOT_WRITTEN: [&str; 14] = [
    "7z", "avro", "bz2", "db", "duckdb", "html", "lz4", "ods", "orc", "sqlite", "xls", "xlsx",
    "xz", "zip",
];

fn refuse_what_is_not_written(path: &Path) -> Result<(), Failed> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !NOT_WRITTEN.contains(&ending.as_str()) {
        return Ok(());
    }
    Err(unclear(format!("--out {}: .{ending} is not written", path.display())).hint(
        ".csv, .tsv, .json, .ndjson, .parquet, .arrow, .md and .txt are, text with .gz or .zst after it; \
         a name that ends with / is a folder's"
            .to_string(),
    ))
}

fn ends_with_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// What is no text is not for terminals, and there is one of it in a pipe.
fn check_stdout(format: Format, queries: usize) -> Result<(), Failed> {
    if !format.is_binary() {
        return Ok(());
    }
    let refused = |why: &str| Failed::new(codes::NOT_FOR_STDOUT, why);
    if io::stdout().is_terminal() {
        return Err(refused("Parquet and Arrow are not for terminals")
            .hint("name a file with --out, or send it into a pipe".to_string()));
    }
    if queries != 1 {
        return Err(refused(
            "stdout can be one table of Parquet or Arrow, and there are several results",
        )
        .hint("name a folder with --out, or choose one query".to_string()));
    }
    Ok(())
}

/// Fails if a format cannot be shown on stdout.
pub fn check_one_on_stdout(format: Format) -> Result<(), Failed> {
    check_stdout(format, 1)
}

fn unclear(message: String) -> Failed {
    Failed::new(codes::OUTPUT_UNCLEAR, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(out: &str, format: Option<Format>, delimiter: Option<u8>) -> OutputArgs {
        OutputArgs { out: Some(out.into()), format, delimiter, quiet: false }
    }

    fn named(out: &str) -> Place {
        Place::named(&args(out, None, None), 1).unwrap()
    }

    fn file(path: &str, style: impl Into<Style>, packing: Packing) -> Place {
        Place::File { path: path.into(), style: style.into(), packing }
    }

    #[test]
    fn a_name_says_the_format() {
        let tabs = Style { delimiter: b'\t', ..Format::Csv.into() };
        let stream = Style { is_stream: true, ..Format::Arrow.into() };
        assert_eq!(named("a.csv"), file("a.csv", Format::Csv, Packing::None));
        assert_eq!(named("b/A.CSV.GZ"), file("b/A.CSV.GZ", Format::Csv, Packing::Gzip));
        assert_eq!(named("a.tsv"), file("a.tsv", tabs, Packing::None));
        assert_eq!(named("a.jsonl.zst"), file("a.jsonl.zst", Format::Ndjson, Packing::Zstd));
        assert_eq!(named("a.arrows"), file("a.arrows", stream, Packing::None));
        assert_eq!(named("a.gz"), file("a.gz", Format::Csv, Packing::Gzip));
        assert_eq!(named("/dev/null"), file("/dev/null", Format::Csv, Packing::None));
        let folder = |path: &str| Place::Folder { path: path.into(), style: Format::Csv.into() };
        for path in ["results", "results.2024-10-31", "x.csv/", "/tmp"] {
            assert_eq!(named(path), folder(path));
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (out, format, delimiter, queries) in [
            ("a.csv", Some(Format::Json), None, 1),
            ("a.tsv", None, Some(b';'), 1),
            ("a.json", None, Some(b';'), 1),
            ("a.parquet.gz", None, None, 1),
            ("a.csv.xz", None, None, 1),
            ("a.xlsx", Some(Format::Csv), None, 1),
            ("a.csv", None, None, 2),
            ("results", Some(Format::Parquet), Some(b';'), 2),
        ] {
            assert!(Place::named(&args(out, format, delimiter), queries).is_err(), "{out}");
        }
        let semicolons = args("a.txt", Some(Format::Csv), Some(b';'));
        let style = Style { delimiter: b';', ..Format::Csv.into() };
        assert_eq!(Place::named(&semicolons, 1).unwrap(), file("a.txt", style, Packing::None));
    }
}
