//! `caudal demo`: what it does, on data of its own, every answer checked.

use std::path::Path;
use std::time::Instant;

use arrow::array::RecordBatch;
use caudal::compare::{Order, Outcome, compare_dirs};
use caudal::{Event, Failure, Job, Session, Suite, codes};
use caudal_core::limits;
use indicatif::HumanBytes;

use crate::Done;
use crate::answering::follow;
use crate::args::{DemoArgs, InputArgs};
use crate::error::{Failed, Told};
use crate::oracle;
use crate::output::{self, Format, ResultFile};
use crate::session::{self, runtime};

pub fn run(args: DemoArgs) -> Done {
    let started = Instant::now();
    let folder = tempfile::tempdir()?;
    let suites = match args.suites.is_empty() {
        true => caudal_suite::NAMES.iter().map(|name| name.to_string()).collect(),
        false => args.suites.clone(),
    };
    let mut tally = Tally::default();
    for name in &suites {
        show_suite(name, &args, folder.path(), &mut tally)?;
    }
    let Tally { answered, wrong } = tally;
    let seconds = started.elapsed().as_secs_f64();
    output::print(&format!(
        "{answered} answers, {} as DataFusion alone gives them, in {seconds:.1} s\n",
        answered - wrong
    ))?;
    match wrong {
        0 => Ok(()),
        _ => Err(Failed::new(codes::ANSWERS_DIFFER, format!("{wrong} answers differ"))),
    }
}

#[derive(Default)]
struct Tally {
    answered: usize,
    wrong: usize,
}

fn show_suite(name: &str, args: &DemoArgs, folder: &Path, tally: &mut Tally) -> Done {
    let suite = Suite::builtin(name).told()?;
    let data = folder.join(name);
    let written = caudal_generate::generate(name, args.scale, args.seed, &data, &|_| ()).told()?;
    let params = caudal_generate::demo_params(name, args.scale);
    let job = Job::of_suite(&suite).params(&params).over(&data)?;

    let started = Instant::now();
    // The generated files have the dirt of the real ones.
    let input = InputArgs::default();
    let answers = answer(&job, &session::local(args.engine, &input))?;
    let seconds = started.elapsed().as_secs_f64();
    let (ours, theirs) = (data.join("caudal"), data.join("datafusion"));
    let outcomes = check(&job, &answers, &ours, &theirs)?;

    let params = match params.is_empty() {
        true => String::new(),
        false => format!(", {}", params.join(", ")),
    };
    let size = HumanBytes(written.bytes());
    let title = format!("{name}: {} ({size}{params}; {seconds:.2} s)", suite.title);
    output::print(&format!("{title}\n{}\n\n", "=".repeat(title.chars().count())))?;
    for ((query, answer), outcome) in job.queries.iter().zip(&answers).zip(outcomes) {
        tally.answered += 1;
        tally.wrong += usize::from(!matches!(outcome, Outcome::Same { .. }));
        output::print(&format!("{}: {}\n{}\n", query.name, query.title, answer.drawn(&outcome)?))?;
    }
    Ok(())
}

/// An answer that was collected.
struct Answer {
    schema: arrow::datatypes::SchemaRef,
    batches: Vec<RecordBatch>,
    outcome: Result<(), Failure>,
}

fn answer(job: &Job, session: &Session) -> Result<Vec<Answer>, Failed> {
    let runtime = runtime(session.thread_count())?;
    let answers = runtime.block_on(async {
        let run = session.run(job).await?;
        let mut answers = vec![];
        for schema in run.schemas() {
            let schema = schema.clone().told()?;
            answers.push(Answer { schema, batches: vec![], outcome: Ok(()) });
        }
        follow(run, |event| {
            match event {
                Event::Rows(query, batch) => answers[query.index()].batches.push(batch),
                Event::Done(query, outcome) => answers[query.index()].outcome = outcome,
                Event::Rejected(..) | Event::Noted(..) | Event::Waiting(_) => {}
            }
            Ok(())
        })
        .await?;
        Ok(answers)
    });
    runtime.shutdown_background();
    answers
}

/// Both answers as files, compared.
fn check(
    job: &Job,
    answers: &[Answer],
    ours: &Path,
    theirs: &Path,
) -> Result<Vec<Outcome>, Failed> {
    output::prepare_folder(ours)?;
    output::prepare_folder(theirs)?;
    for (query, answer) in job.queries.iter().zip(answers) {
        if answer.outcome.is_err() {
            continue;
        }
        let schema = answer.schema.clone();
        let mut file = ResultFile::create_in(ours, &query.name, Format::Csv, schema)?;
        for batch in &answer.batches {
            file.write(batch)?;
        }
        file.finish()?;
    }
    oracle::answer(job, theirs)?;
    let mut report = compare_dirs(ours, theirs, Order::Any).told()?;
    let names = job.queries.iter().map(|query| &query.name);
    Ok(names.map(|name| report.results.remove(name).unwrap_or(Outcome::Missing)).collect())
}

impl Answer {
    fn drawn(&self, outcome: &Outcome) -> Result<String, Failed> {
        if let Err(failure) = &self.outcome {
            return Ok(format!("failed: {}\n", failure.message));
        }
        let mut left = limits::DEMO_ROWS_MAX;
        let mut shown = vec![];
        for batch in &self.batches {
            let rows = batch.num_rows().min(left);
            shown.push(batch.slice(0, rows));
            left -= rows;
        }
        let table = output::render(&self.schema, &shown)?;
        let rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        let more = match rows > limits::DEMO_ROWS_MAX {
            true => format!("{rows} rows, the first {} shown; ", limits::DEMO_ROWS_MAX),
            false => String::new(),
        };
        let verdict = match outcome {
            Outcome::Same { .. } => "checked: DataFusion alone gives the same".to_string(),
            Outcome::Different(difference) => format!("WRONG: {difference}"),
            Outcome::Missing | Outcome::NotExpected => "WRONG: not answered".to_string(),
        };
        Ok(format!("{table}\n{more}{verdict}\n"))
    }
}
