//! `caudal query`: one SELECT over files.

use std::io::Read;
use std::path::Path;

use caudal::codes;

use crate::args::QueryArgs;
use crate::error::Failed;
use crate::{Done, answering, job};

/// The table that files without a name are.
const TABLE: &str = "t";

pub fn run(args: QueryArgs) -> Done {
    let sql = match (args.sql, &args.file) {
        (Some(sql), _) => sql,
        (None, Some(file)) => read_sql(file)?,
        (None, None) => format!("SELECT * FROM {TABLE}"),
    };
    if let Some(files) = args.files.as_deref().filter(|files| is_sql(files)) {
        return Err(Failed::new(codes::NO_SUCH_FILE, format!("no such file: {files}"))
            .hint("SQL goes after -c".to_string()));
    }
    let files = args.files.iter().map(|files| format!("{TABLE}={files}"));
    let tables: Vec<String> = files.chain(args.tables).collect();
    let job = job::of_sql(sql, &tables, &args.params, args.output.quiet)?;
    answering::answer(&job, args.engine, args.times, &args.cluster, &args.output, &args.input)
}

/// Whether what stands for files was probably meant to be asked.
fn is_sql(files: &str) -> bool {
    let first = files.split_whitespace().next().unwrap_or_default();
    let is_keyword = ["select", "with"].iter().any(|word| first.eq_ignore_ascii_case(word));
    is_keyword && files.trim().contains(' ') && !Path::new(files).exists()
}

fn read_sql(file: &Path) -> Result<String, Failed> {
    let mut sql = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut sql).map(|_| ())
    } else {
        std::fs::read_to_string(file).map(|text| sql = text)
    };
    read.map_err(|error| {
        Failed::new(
            codes::QUERY_TEXT_UNREADABLE,
            format!("cannot read the query in {}: {error}", file.display()),
        )
    })?;
    Ok(sql)
}
