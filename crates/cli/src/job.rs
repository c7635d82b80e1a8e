//! Job of a command, from what was typed.

use std::path::Path;

use caudal::{Job, Note, ParamValue, Suite, TableOptions, codes};

use crate::args::ChoiceArgs;
use crate::error::{Failed, Told};
use crate::plain_text::plain_line;

/// The chosen queries of a suite over the files in a folder; without a folder, over no files.
pub fn of_suite(suite: &Suite, choice: &ChoiceArgs, data: Option<&Path>) -> Result<Job, Failed> {
    let chosen = Job::of_suite(suite).queries(&choice.queries).params(&choice.params);
    Ok(match data {
        Some(folder) => chosen.over(folder)?,
        None => chosen.without_files()?,
    })
}

/// One query over files named on the command line. Says what was guessed of them, unless it is to be quiet.
pub fn of_sql(
    sql: String,
    tables: &[String],
    params: &[String],
    is_quiet: bool,
) -> Result<Job, Failed> {
    let mut job = Job::new().query("query", sql);
    for (name, value) in named(params, "--param", "NAME=VALUE")? {
        job = job.param(name, ParamValue::guess(value));
    }
    if let Some(name) = job.unused_param() {
        return Err(Failed::new(
            codes::PARAMETER_NOT_IN_SQL,
            format!("--param {name}: the SQL has no ${name}"),
        )
        .hint(format!("in double quotes a shell replaces ${name}: put the SQL in single quotes")));
    }
    // By this process alone: a gateway knows tables, and no paths.
    let job = with_tables(job, tables)?.open_files()?;
    if !is_quiet {
        tell(&job.notes);
    }
    Ok(job)
}

/// The job with more tables, each as `NAME=FILES`.
pub fn with_tables(mut job: Job, tables: &[String]) -> Result<Job, Failed> {
    for (name, source) in named(tables, "--table", "NAME=FILES")? {
        if job.tables.iter().any(|table| table.name == name) {
            let message = format!("--table {name} is given twice");
            return Err(Failed::new(codes::NAME_GIVEN_TWICE, message));
        }
        let (files, options) = TableOptions::split(source).told()?;
        job = job.table_with(name, files, &options)?;
    }
    Ok(job)
}

/// Says on stderr what was guessed of files.
pub fn tell(notes: &[Note]) {
    for note in notes {
        let kind = if note.is_doubt() { "warning" } else { "note" };
        eprintln!("{kind}: {}", plain_line(&note.to_string()));
    }
}

/// Names that an option was given, each with what it says of it.
fn named<'a>(
    given: &'a [String],
    option: &str,
    form: &str,
) -> Result<Vec<(&'a str, &'a str)>, Failed> {
    let pair = |text: &'a String| {
        text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            Failed::new(codes::NO_EQUALS_SIGN, format!("{option} {text}: expected {form}"))
        })
    };
    given.iter().map(pair).collect()
}
