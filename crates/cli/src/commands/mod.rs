//! One file a command.

pub mod check;
pub mod demo;
pub mod down;
pub mod explain;
pub mod gateway;
pub mod generate;
pub mod query;
pub mod run;
pub mod status;
pub mod up;
pub mod worker;

use caudal_client::Event;

use crate::answers::Answers;
use crate::args::{InputArgs, OutputArgs};
use crate::error::Failed;
use crate::job::Job;
use crate::local::{self, Settings};
use crate::progress::Display;
use crate::rejects::Rejects;

/// Runs a job in this process: answers to where they belong, everything else to stderr.
fn answer(
    job: &Job,
    mut settings: Settings,
    output: &OutputArgs,
    input: &InputArgs,
) -> Result<(), Failed> {
    settings.strict = input.strict;
    settings.keep_rejects = input.rejects.is_some();
    let runtime = local::runtime(settings.threads)?;
    let planned = runtime.block_on(local::prepare(job, &settings))?;
    let mut answers = Answers::new(job, &planned.plan, output)?;
    let names = job.tables.iter().map(|table| table.name.clone()).collect();
    let mut rejects = Rejects::new(names, input.rejects.clone())?;
    let progress = std::sync::Arc::clone(&planned.progress);
    let display = Display::start(&planned.plan, &planned.uploads, progress, output.quiet);
    let ran = runtime.block_on(local::run(planned, |event| {
        match event {
            Event::Rows(query, batch) => display.above(|| answers.rows(query, batch))?,
            Event::Done(query, outcome) => {
                display.answered();
                display.above(|| answers.done(query, outcome))?;
            }
            Event::Rejected(table, rows) => rejects.add(table, &rows)?,
            Event::Waiting(_) => {}
        }
        Ok(())
    }));
    drop(display);
    runtime.shutdown_background();
    if ran.is_err() {
        answers.abandon();
    }
    ran?;
    rejects.finish()?;
    if !output.quiet {
        rejects.report()?;
        if let Some(summary) = answers.summary() {
            eprintln!("{summary}");
        }
    }
    answers.verdict()
}
