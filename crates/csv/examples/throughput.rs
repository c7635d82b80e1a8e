//! How fast a CSV file is read: `throughput FILE --columns app_id:int64,review_text:text --threads 2`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use caudal_core::Coded;
use caudal_csv::{At, Column, Dialect, Encoding, Error, Options, Reader, Table, Type, infer};
use clap::Parser;

/// The allocator of the `caudal` binary, so that the figures are those of the product.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Read a CSV file and say how fast.
#[derive(Parser)]
struct Args {
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Columns to read as NAME:TYPE, where TYPE is text, int64, float64, boolean, date, timestamp or
    /// decimal.SCALE; all columns, with the types that fit them, if not given
    #[arg(long, value_delimiter = ',', value_parser = column)]
    columns: Vec<Column>,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Read the files so many times, and report each
    #[arg(long, default_value_t = 3)]
    times: usize,
    #[arg(long, default_value_t = Options::default().chunk_bytes)]
    chunk_bytes: usize,
    /// The byte between fields
    #[arg(long, default_value_t = ',')]
    delimiter: char,
    /// Whether a backslash escapes
    #[arg(long)]
    escape: bool,
    /// The encoding, by its name in options
    #[arg(long, default_value = "utf-8", value_parser = encoding)]
    encoding: Encoding,
    /// Only the first so many columns, each row judged by all of them
    #[arg(long)]
    judged_by_all: Option<usize>,
}

impl Args {
    fn dialect(&self) -> Dialect {
        let escape = self.escape.then_some(b'\\');
        let (encoding, delimiter) = (self.encoding, self.delimiter as u8);
        Dialect { encoding, delimiter, escape, ..Dialect::default() }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    for _ in 0..args.times {
        if let Err(error) = measure(&args) {
            eprintln!("error[{}]: {error}", error.code());
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(args: &Args) -> Result<(), Error> {
    let columns = if args.columns.is_empty() {
        infer(&args.files, &args.dialect(), None)?.columns
    } else {
        args.columns.clone()
    };
    let projection = (0..args.judged_by_all.unwrap_or(columns.len())).collect();
    let spec = Table {
        name: "t".into(),
        files: args.files.clone(),
        columns,
        fields: None,
        dialect: args.dialect(),
    };
    let options = Options {
        chunk_bytes: args.chunk_bytes,
        judge_all_columns: args.judged_by_all.is_some(),
        ..Options::default()
    };

    let begin = Instant::now();
    let reader = Reader::open(spec, projection, options)?;
    let (rows, rejects) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || -> Result<(), Error> {
        while let Some(chunk) = reader.next_chunk()? {
            let parsed = reader.parse(chunk)?;
            rows.fetch_add(parsed.batch.num_rows() as u64, Relaxed);
            rejects.fetch_add(parsed.rejects.len() as u64, Relaxed);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..args.threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{:.0} MB/s: {} bytes, {} rows, {} rejects in {seconds:.3} s on {} threads",
        reader.total_bytes() as f64 / 1e6 / seconds,
        reader.total_bytes(),
        rows.into_inner(),
        rejects.into_inner(),
        args.threads,
    );
    Ok(())
}

fn encoding(text: &str) -> Result<Encoding, String> {
    Encoding::named(text).ok_or_else(|| format!("one of {}", Encoding::names()))
}

fn column(text: &str) -> Result<Column, String> {
    let (name, ty) = text.split_once(':').ok_or("expected NAME:TYPE")?;
    let ty = match ty.split_once('.') {
        Some(("decimal", scale)) => {
            let scale = scale.parse().map_err(|_| "expected a scale after `decimal.`")?;
            Type::Decimal { precision: 18, scale }
        }
        _ => match ty {
            "text" => Type::Text,
            "int64" => Type::Int64,
            "float64" => Type::Float64,
            "boolean" => Type::Boolean,
            "date" => Type::Date,
            "timestamp" => Type::Timestamp,
            _ => return Err(format!("no such type: {ty}")),
        },
    };
    Ok(Column { name: name.into(), at: At::Header(name.into()), ty })
}
