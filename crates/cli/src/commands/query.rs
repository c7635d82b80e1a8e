//! `caudal query`: one SELECT over files.

use std::io::Read;
use std::path::Path;

use caudal::codes;

use crate::args::QueryArgs;
use crate::error::Failed;
use crate::{Done, answering, job};

pub fn run(args: QueryArgs) -> Done {
    let sql = match (args.sql, &args.file) {
        (Some(sql), _) => sql,
        (None, Some(file)) => read_sql(file)?,
        (None, None) => unreachable!("clap asks for one of them"),
    };
    let job = job::of_sql(sql, &args.tables, &args.params, args.output.quiet)?;
    answering::answer(&job, args.engine, args.times, &args.cluster, &args.output, &args.input)
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
