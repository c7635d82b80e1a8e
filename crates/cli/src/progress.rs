//! Progress on stderr, for whoever watches a terminal: a bar per table with rate and time to go, a
//! line for the queries.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use caudal::{Job, Progress, TableProgress};
use caudal_core::limits;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plain_text::plain_line;

const REFRESH: Duration = Duration::from_millis(limits::PROGRESS_MS);

/// Nothing is shown of a run that is over sooner.
const SHOW_AFTER: Duration = Duration::from_millis(limits::PROGRESS_AFTER_MS);

/// Shows progress until it is dropped.
pub struct Display {
    stop: Arc<AtomicBool>,
    screen: MultiProgress,
    queries: ProgressBar,
    thread: Option<JoinHandle<()>>,
    /// Line that was told last, where progress is told line by line instead of drawn.
    told: Option<String>,
}

impl Display {
    pub fn start(job: &Job, progress: Progress, quiet: bool) -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let tables = progress.tables();
        let width = tables.iter().map(|table| table.name.chars().count()).max().unwrap_or(0);
        let bar = |TableProgress { name, total_bytes, .. }: &TableProgress| {
            let bar = total_bytes.map_or_else(ProgressBar::no_length, ProgressBar::new);
            let bar = bar.with_style(table_style());
            screen.add(bar.with_prefix(format!("{:width$}", plain_line(name))))
        };
        let tables = tables.iter().map(bar).collect();
        let queries = ProgressBar::new(job.queries.len() as u64).with_style(query_style());
        let queries = screen.add(queries);
        let view = View { screen: screen.clone(), tables, queries: queries.clone(), progress };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let shown = !quiet && io::stderr().is_terminal();
        let told = (!quiet && !shown).then(String::new);
        let thread = shown.then(|| std::thread::spawn(move || view.show(&stopped)));
        Self { stop, screen, queries, thread, told }
    }

    pub fn answered(&self) {
        self.queries.inc(1);
    }

    /// Says what the run waits for; nothing, once it goes on. A line that comes and goes is told once.
    pub fn waiting(&mut self, reasons: &[String]) {
        let waiting = match reasons {
            [] => String::new(),
            reasons => format!("waiting: {}", reasons.join("; ")),
        };
        if let Some(told) = &mut self.told
            && !waiting.is_empty()
            && *told != waiting
        {
            eprintln!("{}", plain_line(&waiting));
            told.clone_from(&waiting);
        }
        self.queries.set_message(waiting);
    }

    /// Runs what may print to stdout; where that is the same terminal, above the bars.
    pub fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        if io::stdout().is_terminal() { self.screen.suspend(print) } else { print() }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A display that panicked has nothing to say about the run.
            let _ = thread.join();
        }
    }
}

struct View {
    screen: MultiProgress,
    tables: Vec<ProgressBar>,
    queries: ProgressBar,
    progress: Progress,
}

impl View {
    fn show(self, stop: &AtomicBool) {
        std::thread::park_timeout(SHOW_AFTER);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        self.screen.set_draw_target(ProgressDrawTarget::stderr());
        while !stop.load(Ordering::Relaxed) {
            for (bar, table) in self.tables.iter().zip(self.progress.tables()) {
                bar.set_position(table.bytes);
                // A bar that is done keeps its rate instead of watching it fade.
                if bar.length() == Some(bar.position()) && !bar.is_finished() {
                    bar.finish();
                }
            }
            self.queries.tick();
            std::thread::park_timeout(REFRESH);
        }
        // Errors are nobody's business here: the terminal may be gone.
        let _ = self.screen.clear();
        // A bar is drawn once more when it is dropped.
        self.screen.set_draw_target(ProgressDrawTarget::hidden());
    }
}

fn table_style() -> ProgressStyle {
    ProgressStyle::with_template(
        "{prefix} {bar:30} {bytes:>10}/{total_bytes:<10} {bytes_per_sec:>12} eta {eta}",
    )
    .expect("the template is valid")
}

fn query_style() -> ProgressStyle {
    ProgressStyle::with_template("queries answered: {pos} of {len}, {elapsed} {spinner} {msg}")
        .expect("the template is valid")
}
