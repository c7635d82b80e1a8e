//! Destinations of a run's answers, and the outcome of each query.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use caudal::{Failure, Job, QueryId, codes};

use crate::args::OutputArgs;
use crate::error::Failed;
use crate::output::{Format, ResultFile, Writer, prepare_folder, stdout, writer};

pub struct Answers {
    queries: Vec<Query>,
    to: Destination,
}

struct Query {
    name: String,
    title: String,
    /// The columns of its answer; or why there is none.
    schema: Result<SchemaRef, Failure>,
    rows: usize,
    /// None while the answer is not complete.
    outcome: Option<Result<(), Failure>>,
}

/// The columns of each query's answer, or why there will be none.
pub type Schemas = [Result<SchemaRef, Failure>];

enum Destination {
    /// A file per query.
    Folder { files: Vec<Option<ResultFile>>, written: Vec<PathBuf> },
    /// One query, shown as its rows come. Nothing is written before the first: the query may fail.
    Stream { format: Format, out: Option<Box<dyn Writer>> },
    /// Several queries on one stdout: each when it is complete and all before it are shown.
    InTurn { format: Format, waiting: VecDeque<(usize, Vec<RecordBatch>)> },
}

impl Answers {
    /// For answers of these columns, query by query.
    pub fn new(job: &Job, schemas: &Schemas, output: &OutputArgs) -> Result<Self, Failed> {
        let queries: Vec<_> = job.queries.iter().zip(schemas).map(Query::new).collect();
        let to = match (&output.out, output.format) {
            (None, Some(Format::Parquet)) => {
                return Err(Failed::new(
                    codes::PARQUET_ON_STDOUT,
                    "Parquet cannot be written to stdout",
                )
                .hint("name a folder with --out".to_string()));
            }
            (Some(folder), format) => {
                prepare_folder(folder)?;
                let format = format.unwrap_or(Format::Csv);
                let create = |query: &Query| match &query.schema {
                    Ok(schema) => {
                        ResultFile::create(folder, &query.name, format, schema.clone()).map(Some)
                    }
                    Err(_) => Ok(None),
                };
                let files = queries.iter().map(create).collect::<Result<_, _>>()?;
                Destination::Folder { files, written: vec![] }
            }
            (None, format) => {
                let format = format.unwrap_or_else(Format::for_stdout);
                match &queries[..] {
                    [_] => Destination::Stream { format, out: None },
                    _ => {
                        let waiting = (0..queries.len()).map(|query| (query, vec![])).collect();
                        Destination::InTurn { format, waiting }
                    }
                }
            }
        };
        Ok(Self { queries, to })
    }

    pub fn rows(&mut self, query: QueryId, batch: RecordBatch) -> Result<(), Failed> {
        let answer = &mut self.queries[query.index()];
        answer.rows += batch.num_rows();
        match &mut self.to {
            Destination::Folder { files, .. } => {
                let file = &mut files[query.index()];
                if let Some(Err(error)) = file.as_mut().map(|file| file.write(&batch)) {
                    answer.refuse(error)?;
                    file.take().into_iter().for_each(ResultFile::discard);
                }
            }
            Destination::Stream { format, out } => {
                let out = match out {
                    Some(out) => out,
                    None => out.insert(stdout_writer(*format, answer)?),
                };
                if let Err(error) = out.write(&batch) {
                    answer.refuse(error)?;
                    return answer.failed().map_or(Ok(()), Err);
                }
            }
            Destination::InTurn { waiting, .. } => {
                let mine = waiting.iter_mut().find(|(index, _)| *index == query.index());
                mine.expect("rows come before the end of their answer").1.push(batch);
            }
        }
        Ok(())
    }

    pub fn done(&mut self, query: QueryId, outcome: Result<(), Failure>) -> Result<(), Failed> {
        let answer = &mut self.queries[query.index()];
        let succeeded = answer.outcome.get_or_insert(outcome).is_ok();
        match &mut self.to {
            Destination::Folder { files, written } => match files[query.index()].take() {
                Some(file) if succeeded => match file.finish() {
                    Ok(path) => written.push(path),
                    Err(error) => answer.refuse(error)?,
                },
                Some(file) => file.discard(),
                None => {}
            },
            Destination::Stream { format, out } if succeeded => match out.take() {
                Some(out) => out.finish()?,
                None => stdout_writer(*format, answer)?.finish()?,
            },
            Destination::Stream { .. } => {}
            Destination::InTurn { .. } => self.show_those_in_turn()?,
        }
        Ok(())
    }

    fn show_those_in_turn(&mut self) -> Result<(), Failed> {
        let Destination::InTurn { format, waiting } = &mut self.to else { return Ok(()) };
        while let Some((index, _)) = waiting.front()
            && let Some(outcome) = &self.queries[*index].outcome
        {
            let (index, batches) = waiting.pop_front().expect("looked at above");
            if outcome.is_err() {
                continue;
            }
            let query = &mut self.queries[index];
            if let Err(error) = query.show(*format, &batches) {
                query.refuse(error)?;
            }
        }
        Ok(())
    }

    /// Gives up what is unfinished, so that no partial file stays.
    pub fn abandon(&mut self) {
        if let Destination::Folder { files, .. } = &mut self.to {
            for file in files.iter_mut().filter_map(Option::take) {
                file.discard();
            }
        }
    }

    /// A line per query on stderr where results went to files.
    pub fn summary(&self) -> Option<String> {
        let Destination::Folder { .. } = &self.to else { return None };
        let width = self.queries.iter().map(|query| query.name.len()).max().unwrap_or(0);
        let line = |query: &Query| {
            let unit = if query.rows == 1 { "row" } else { "rows" };
            let became = match &query.outcome {
                Some(Ok(())) => format!("{:>8} {unit:4}", query.rows),
                Some(Err(_)) if query.schema.is_err() => format!("{:>13}", "refused"),
                Some(Err(_)) => format!("{:>13}", "failed"),
                None => format!("{:>13}", "not answered"),
            };
            format!("{:width$} {became}  {}", query.name, query.title).trim_end().to_string()
        };
        Some(self.queries.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    /// Every query's own word. All but the last failure are told here; that one is the process's.
    pub fn verdict(&self) -> Result<(), Failed> {
        let mut failures: Vec<_> = self.queries.iter().filter_map(Query::failed).collect();
        let Some(last) = failures.pop() else { return Ok(()) };
        failures.iter().for_each(Failed::tell);
        Err(last)
    }
}

fn stdout_writer(format: Format, query: &Query) -> io::Result<Box<dyn Writer>> {
    let schema = query.schema.clone().unwrap_or_else(|_| Arc::new(Schema::empty()));
    writer(format, schema, stdout())
}

impl Query {
    fn new((query, schema): (&caudal::Query, &Result<SchemaRef, Failure>)) -> Self {
        Self {
            name: query.name.clone(),
            title: query.title.clone(),
            schema: schema.clone(),
            rows: 0,
            outcome: None,
        }
    }

    /// The whole answer, under its title.
    fn show(&self, format: Format, batches: &[RecordBatch]) -> io::Result<()> {
        let mut stdout = stdout();
        match format {
            Format::Table => writeln!(stdout, "{}: {}", self.name, self.title)?,
            Format::Markdown => writeln!(stdout, "## {}: {}\n", self.name, self.title)?,
            Format::Csv => writeln!(stdout, "# {}: {}", self.name, self.title)?,
            Format::Json | Format::Ndjson | Format::Parquet => {}
        }
        let schema = self.schema.clone().unwrap_or_else(|_| Arc::new(Schema::empty()));
        let mut out = writer(format, schema, stdout)?;
        for batch in batches {
            out.write(batch)?;
        }
        out.finish()?;
        if matches!(format, Format::Table | Format::Markdown | Format::Csv) {
            writeln!(io::stdout())?;
        }
        Ok(())
    }

    /// A value that its format does not hold is the failure of this query; anything else is that of the run.
    fn refuse(&mut self, error: io::Error) -> Result<(), Failed> {
        if error.kind() != io::ErrorKind::Other {
            return Err(error.into());
        }
        let message = format!("cannot be written in this format: {error}");
        self.outcome = Some(Err(Failure::new(codes::VALUE_UNWRITABLE, message)));
        Ok(())
    }

    fn failed(&self) -> Option<Failed> {
        if let Err(refusal) = &self.schema {
            return Some(Failed::all(vec![refusal.clone()]));
        }
        let Some(Err(failure)) = &self.outcome else { return None };
        let message = format!("{}: {}", self.name, failure.message);
        Some(Failed::all(vec![Failure { message, ..failure.clone() }]))
    }
}
