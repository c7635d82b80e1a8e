//! Progress on stderr, for whoever watches a terminal: a bar per table with rate and time to go, a
//! line for the queries.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use caudal_client::{Progress, Upload};
use caudal_core::TableId;
use caudal_planner::SessionPlan;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

const REFRESH: Duration = Duration::from_millis(100);

/// Nothing is shown of a run that is over sooner.
const SHOW_AFTER: Duration = Duration::from_millis(700);

/// Shows progress until it is dropped.
pub struct Display {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    pub fn start(
        plan: &SessionPlan,
        uploads: &[Upload],
        progress: Arc<Progress>,
        quiet: bool,
    ) -> Self {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let shown = !quiet && io::stderr().is_terminal();
        let tables: Vec<_> = uploads
            .iter()
            .map(|upload| {
                let name = plan.table(upload.table).name.clone();
                (upload.table, name, upload.reader.total_bytes())
            })
            .collect();
        let view = View { tables, queries: plan.queries.len(), progress };
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&answered));
        let thread = shown.then(|| std::thread::spawn(move || view.show(&stopped, &count)));
        Self { stop, answered, thread }
    }

    pub fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
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
    tables: Vec<(TableId, String, u64)>,
    queries: usize,
    progress: Arc<Progress>,
}

impl View {
    fn show(self, stop: &AtomicBool, answered: &AtomicUsize) {
        std::thread::park_timeout(SHOW_AFTER);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let bars: Vec<_> = self.tables.iter().map(|table| all.add(self.bar(table))).collect();
        let queries = all.add(ProgressBar::new(self.queries as u64).with_style(query_style()));
        while !stop.load(Ordering::Relaxed) {
            for ((table, ..), bar) in self.tables.iter().zip(&bars) {
                bar.set_position(self.progress.table(*table).bytes.load(Ordering::Relaxed));
            }
            queries.set_position(answered.load(Ordering::Relaxed) as u64);
            queries.tick();
            std::thread::park_timeout(REFRESH);
        }
        // Errors are nobody's business here: the terminal may be gone.
        let _ = all.clear();
    }

    fn bar(&self, (_, name, bytes): &(TableId, String, u64)) -> ProgressBar {
        let width = self.tables.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
        ProgressBar::new(*bytes).with_style(table_style()).with_prefix(format!("{name:width$}"))
    }
}

fn table_style() -> ProgressStyle {
    ProgressStyle::with_template(
        "{prefix} {bar:30} {bytes:>10}/{total_bytes:<10} {bytes_per_sec:>12} eta {eta}",
    )
    .expect("the template is valid")
}

fn query_style() -> ProgressStyle {
    ProgressStyle::with_template("{pos} of {len} queries answered, {elapsed} {spinner}")
        .expect("the template is valid")
}
