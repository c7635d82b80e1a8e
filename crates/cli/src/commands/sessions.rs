//! `caudal sessions`: what is running on a cluster.

use std::io;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, TimestampMillisecondArray, UInt64Array};
use arrow::error::ArrowError;
use caudal::SessionEntry;

use crate::Done;
use crate::answering::with_waiting_told;
use crate::args::SessionsArgs;
use crate::output::{Format, writer};
use crate::session::{cluster, runtime};

pub fn run(args: SessionsArgs) -> Done {
    let cluster = cluster(&args.cluster)?;
    let sessions = runtime(1)?.block_on(with_waiting_told(&cluster, false, cluster.sessions()))?;
    let rows = rows(&sessions).map_err(io::Error::other)?;
    let mut out = writer(Format::for_stdout(), rows.schema(), io::stdout())?;
    out.write(&rows)?;
    Ok(out.finish()?)
}

/// Of which tables rows are in no answer, as far as they have been sent.
fn left_out(entry: &SessionEntry) -> Option<String> {
    let tables = entry.tables.iter().zip(&entry.rows);
    let lossy =
        tables.filter_map(|(name, rows)| Some((name, rows.filter(|rows| rows.rejected > 0)?)));
    let texts = lossy.map(|(name, rows)| {
        format!("{} of {} rows of {name}", rows.rejected, rows.sent + rows.rejected)
    });
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn rows(sessions: &[SessionEntry]) -> Result<RecordBatch, ArrowError> {
    let text = |of: fn(&SessionEntry) -> Option<String>| -> ArrayRef {
        Arc::new(sessions.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&SessionEntry) -> usize| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(sessions.iter().map(|entry| of(entry) as u64)))
    };
    let started = sessions.iter().map(|entry| entry.started_ms);
    RecordBatch::try_from_iter([
        ("session", text(|entry| Some(entry.session.to_string()))),
        ("started", Arc::new(TimestampMillisecondArray::from_iter_values(started)) as ArrayRef),
        ("queries", text(|entry| Some(entry.queries.join(" ")))),
        ("tables", text(|entry| Some(entry.tables.join(" ")))),
        ("shards", number(|entry| entry.shards)),
        ("workers", number(|entry| entry.workers)),
        ("gateway", text(|entry| entry.gateway.clone())),
        ("left_out", text(left_out)),
    ])
}
