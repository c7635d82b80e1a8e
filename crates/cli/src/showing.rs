//! Display of a run: its answers, its progress, what it left out and how it ended.

use caudal::{Event, Job, Note, Progress, Run};

use crate::answers::Answers;
use crate::args::{InputArgs, OutputArgs};
use crate::error::Failed;
use crate::job;
use crate::plain_text::plain;
use crate::progress::Display;
use crate::rejects::Rejects;

pub struct Showing {
    answers: Answers,
    rejects: Rejects,
    display: Display,
    progress: Progress,
    /// What there is to say of files that have been read.
    notes: Vec<Note>,
    quiet: bool,
}

impl Showing {
    /// Before the first event.
    pub fn start(
        job: &Job,
        run: &Run,
        output: &OutputArgs,
        input: &InputArgs,
    ) -> Result<Self, Failed> {
        Ok(Self {
            answers: Answers::new(job, run.schemas(), output)?,
            rejects: Rejects::new(job, input.rejects.clone(), output.format)?,
            progress: run.progress(),
            display: Display::start(job, run.progress(), output.quiet),
            notes: vec![],
            quiet: output.quiet,
        })
    }

    pub fn handle(&mut self, event: Event) -> Result<(), Failed> {
        let Self { answers, rejects, display, notes, .. } = self;
        match event {
            Event::Rows(query, batch) => display.above(|| answers.rows(query, batch))?,
            Event::Done(query, outcome) => {
                display.answered();
                display.above(|| answers.done(query, outcome))?;
            }
            Event::Rejected(table, rows) => rejects.add(table, &rows)?,
            Event::Noted(_, told) => notes.extend(told),
            Event::Waiting(reasons) => display.waiting(&reasons),
        }
        Ok(())
    }

    /// After the last event: what the run came to.
    pub fn finish(self, ran: Result<(), Failed>) -> Result<(), Failed> {
        let Self { mut answers, mut rejects, display, progress, notes, quiet } = self;
        drop(display);
        if !quiet {
            job::tell(&notes);
        }
        if ran.is_err() {
            answers.abandon();
        }
        // Also of a run that failed: they may be why.
        let tables = progress.tables();
        let told = rejects.finish().and_then(|()| rejects.report(quiet, &tables));
        ran?;
        told?;
        if let Some(summary) = answers.summary(&tables).filter(|_| !quiet) {
            eprintln!("{}", plain(&summary));
        }
        answers.verdict()
    }
}
