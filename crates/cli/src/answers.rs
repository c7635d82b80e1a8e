//! Destinations of a run's answers, and the outcome of each query.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use caudal::{Failure, Job, QueryId, TableProgress, codes};

use crate::args::OutputArgs;
use crate::error::Failed;
use crate::output::{Held, Place, ResultFile, Several, Sink, Style, Written};
use crate::plain_text::plain_line;

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
    Files(Vec<Option<ResultFile>>),
    /// One query, shown as its rows come. Nothing is written before the first: the query may fail.
    Stream { style: Style, out: Option<Written> },
    /// Several queries on one stdout: each when it is complete and all before it are shown.
    InTurn { several: Several, waiting: VecDeque<(usize, Held)> },
}

impl Answers {
    /// For answers of these columns, query by query.
    pub fn new(job: &Job, schemas: &Schemas, output: &OutputArgs) -> Result<Self, Failed> {
        let queries: Vec<_> = job.queries.iter().zip(schemas).map(Query::new).collect();
        let create = |create: &dyn Fn(&Query, SchemaRef) -> Result<ResultFile, Failed>| {
            let file = |query: &Query| match &query.schema {
                Ok(schema) => create(query, SchemaRef::clone(schema)).map(Some),
                Err(_) => Ok(None),
            };
            let files = queries.iter().map(file).collect::<Result<_, _>>()?;
            Ok::<_, Failed>(Destination::Files(files))
        };
        let to = match Place::of(output, queries.len())? {
            Place::File { path, style, packing } => {
                create(&|_, schema| ResultFile::create(path.clone(), style, packing, schema))?
            }
            Place::Folder { path, style } => {
                create(&|query, schema| ResultFile::create_in(&path, &query.name, style, schema))?
            }
            Place::Stdout(style) if queries.len() == 1 => Destination::Stream { style, out: None },
            Place::Stdout(style) => {
                let waiting = (0..queries.len()).map(|query| (query, Held::default())).collect();
                Destination::InTurn { several: Several::new(style), waiting }
            }
        };
        Ok(Self { queries, to })
    }

    pub fn rows(&mut self, query: QueryId, batch: RecordBatch) -> Result<(), Failed> {
        let answer = &mut self.queries[query.index()];
        answer.rows += batch.num_rows();
        match &mut self.to {
            Destination::Files(files) => {
                let file = &mut files[query.index()];
                if let Some(Err(error)) = file.as_mut().map(|file| file.write(&batch)) {
                    // Nothing that could be taken for an answer is left of it.
                    *file = None;
                    answer.refuse(error)?;
                }
            }
            Destination::Stream { style, out } => {
                let out = match out {
                    Some(out) => out,
                    None => out.insert(answer.begin(*style)?),
                };
                if let Err(error) = out.write(&batch) {
                    answer.refuse(error)?;
                    return answer.failed().map_or(Ok(()), Err);
                }
            }
            Destination::InTurn { waiting, .. } => {
                let mine = waiting.iter_mut().find(|(index, _)| *index == query.index());
                mine.expect("rows come before the end of their answer").1.push(batch)?;
            }
        }
        Ok(())
    }

    pub fn done(&mut self, query: QueryId, outcome: Result<(), Failure>) -> Result<(), Failed> {
        let answer = &mut self.queries[query.index()];
        let succeeded = answer.outcome.get_or_insert(outcome).is_ok();
        match &mut self.to {
            Destination::Files(files) => {
                let file = files[query.index()].take().filter(|_| succeeded);
                if let Some(Err(error)) = file.map(ResultFile::finish) {
                    answer.refuse(error)?;
                }
            }
            Destination::Stream { style, out } if succeeded => match out.take() {
                Some(out) => out.finish()?,
                None => answer.begin(*style)?.finish()?,
            },
            Destination::Stream { .. } => {}
            Destination::InTurn { .. } => self.show_those_in_turn()?,
        }
        Ok(())
    }

    fn show_those_in_turn(&mut self) -> Result<(), Failed> {
        let Destination::InTurn { several, waiting } = &mut self.to else { return Ok(()) };
        while let Some((index, _)) = waiting.front()
            && let Some(outcome) = &self.queries[*index].outcome
        {
            let is_answered = outcome.is_ok();
            let (index, rows) = waiting.pop_front().expect("looked at above");
            if !is_answered {
                continue;
            }
            let query = &mut self.queries[index];
            if let Err(error) = several.show(&query.name, &query.title, query.columns(), rows) {
                query.refuse(error)?;
            }
        }
        if waiting.is_empty() {
            several.finish()?;
        }
        Ok(())
    }

    /// Gives up what is unfinished, so that no partial file stays.
    pub fn abandon(&mut self) {
        if let Destination::Files(files) = &mut self.to {
            files.clear();
        }
    }

    /// A line per query on stderr where results went to files, and one per table of which rows are in none of them.
    pub fn summary(&self, tables: &[TableProgress]) -> Option<String> {
        let Destination::Files(_) = &self.to else { return None };
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
        let left_out = |table: &TableProgress| {
            let TableProgress { name, rows, rejected, .. } = table;
            format!("left out: {rejected} of {} rows of {}", rows + rejected, plain_line(name))
        };
        let lossy = tables.iter().filter(|table| table.rejected > 0);
        let lines: Vec<_> = self.queries.iter().map(line).chain(lossy.map(left_out)).collect();
        Some(lines.join("\n"))
    }

    /// Every query's own word. All but the last failure are told here; that one is the process's.
    pub fn verdict(&self) -> Result<(), Failed> {
        let mut failures: Vec<_> = self.queries.iter().filter_map(Query::failed).collect();
        let Some(last) = failures.pop() else { return Ok(()) };
        failures.iter().for_each(Failed::tell);
        Err(last)
    }
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

    /// Its columns; none, if nothing is known of them.
    fn columns(&self) -> SchemaRef {
        self.schema.clone().unwrap_or_else(|_| Arc::new(Schema::empty()))
    }

    /// The beginning of its answer on stdout.
    fn begin(&self, style: Style) -> io::Result<Written> {
        Written::begin(style, self.columns(), Sink::stdout())
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
