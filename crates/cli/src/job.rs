//! What to run, from what was typed.

use std::path::Path;

use caudal::{Job, ParamValue, Suite, TableOptions};
use caudal_core::codes;

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
        ));
    }
    for (name, source) in named(tables, "--table", "NAME=FILES")? {
        let (files, options) = with_options(source)?;
        job = job.table_with(name, files, &options)?;
    }
    for note in job.notes.iter().filter(|_| !is_quiet) {
        let kind = if note.is_doubt() { "warning" } else { "note" };
        eprintln!("{kind}: {}", plain_line(&note.to_string()));
    }
    Ok(job)
}

/// The files of a table, and what is said of them: `games.csv{delimiter=";"}`. A name may have braces of its own.
fn with_options(source: &str) -> Result<(&str, TableOptions), Failed> {
    if !source.ends_with('}') || Path::new(source).exists() {
        return Ok((source, TableOptions::new()));
    }
    let braces = source.match_indices('{').map(|(at, _)| source.split_at(at));
    let mut tried = braces.map(|(files, text)| (files, TableOptions::parse(text)));
    let Some((files, first)) = tried.next() else { return Ok((source, TableOptions::new())) };
    match first {
        Ok(options) => Ok((files, options)),
        Err(wrong) => match tried.find_map(|(files, options)| Some((files, options.ok()?))) {
            Some(found) if Path::new(found.0).exists() => Ok(found),
            _ => Err(wrong).told(),
        },
    }
}

/// What an option says of each name; a name can be said once.
fn named<'a>(
    given: &'a [String],
    option: &str,
    form: &str,
) -> Result<Vec<(&'a str, &'a str)>, Failed> {
    let mut pairs: Vec<(&str, &str)> = vec![];
    for text in given {
        let (name, value) =
            text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
                Failed::new(codes::NO_EQUALS_SIGN, format!("{option} {text}: expected {form}"))
            })?;
        if pairs.iter().any(|(known, _)| *known == name) {
            return Err(Failed::new(
                codes::NAME_GIVEN_TWICE,
                format!("{option} {name} is given twice"),
            ));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::with_options;

    #[test]
    fn options_are_in_braces_after_the_files() {
        let split = |text| with_options(text).map(|(files, options)| (files.to_string(), options));
        assert_eq!(split("a.csv").unwrap().0, "a.csv");
        assert_eq!(split("a{1}.csv").unwrap().0, "a{1}.csv");
        let (files, options) = split("a.csv{delimiter=';', types={x='int'}}").unwrap();
        assert_eq!((files.as_str(), options.dialect().delimiter), ("a.csv", b';'));
        assert_eq!(options.types().len(), 1);
        assert!(split("a.csv{delimiter=;}").is_err());
        assert!(split("a.csv{nul='x'}").is_err());
    }
}
