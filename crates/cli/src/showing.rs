//! What people see of a run: its answers, its progress, what it left out and how it ended.

use std::sync::Arc;

use caudal_client::{Event, Progress, Upload};

use crate::answers::{Answers, Schemas};
use crate::args::{InputArgs, OutputArgs};
use crate::error::Failed;
use crate::job::Job;
use crate::progress::Display;
use crate::rejects::Rejects;

pub struct Showing {
    answers: Answers,
    rejects: Rejects,
    display: Display,
    quiet: bool,
}

impl Showing {
    /// Before the first event. `schemas` are the columns of each answer.
    pub fn start(
        job: &Job,
        schemas: &Schemas,
        uploads: &[Upload],
        progress: &Arc<Progress>,
        output: &OutputArgs,
        input: &InputArgs,
    ) -> Result<Self, Failed> {
        let names = job.tables.iter().map(|table| table.name.clone()).collect();
        Ok(Self {
            answers: Answers::new(job, schemas, output)?,
            rejects: Rejects::new(names, input.rejects.clone())?,
            display: Display::start(job, uploads, Arc::clone(progress), output.quiet),
            quiet: output.quiet,
        })
    }

    pub fn handle(&mut self, event: Event) -> Result<(), Failed> {
        let Self { answers, rejects, display, .. } = self;
        match event {
            Event::Rows(query, batch) => display.above(|| answers.rows(query, batch))?,
            Event::Done(query, outcome) => {
                display.answered();
                display.above(|| answers.done(query, outcome))?;
            }
            Event::Rejected(table, rows) => rejects.add(table, &rows)?,
            Event::Waiting(reasons) => display.waiting(&reasons),
        }
        Ok(())
    }

    /// After the last event: what the run came to.
    pub fn finish(self, ran: Result<(), Failed>) -> Result<(), Failed> {
        let Self { mut answers, mut rejects, display, quiet } = self;
        drop(display);
        if ran.is_err() {
            answers.abandon();
        }
        ran?;
        rejects.finish()?;
        if !quiet {
            rejects.report()?;
            if let Some(summary) = answers.summary() {
                eprintln!("{summary}");
            }
        }
        answers.verdict()
    }
}
