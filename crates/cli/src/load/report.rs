//! Reports of what the clients are doing, and of what they have done.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::error::ArrowError;

use super::client::{Record, State};

/// One line for each client.
pub fn lines(records: &[Record]) -> String {
    records.iter().map(|record| format!("{}\n", line(record))).collect()
}

fn line(record: &Record) -> String {
    let Record { number, suite, state, equal, wrong, .. } = record;
    let state = match state {
        State::Waiting => "waiting".to_string(),
        State::Running { since } => format!("running, {:.1} s", since.elapsed().as_secs_f64()),
        State::Done => "done".to_string(),
        State::Killed => "killed".to_string(),
    };
    let wrong = if wrong.is_empty() { String::new() } else { format!(", {} WRONG", wrong.len()) };
    format!("client {number:>3}  {suite:<8} {state:<16} {} equal{wrong}", equal.len())
}

/// The runs of all clients in a sentence.
pub fn summary(records: &[Record]) -> String {
    let mut times: Vec<Duration> =
        records.iter().flat_map(|record| &record.equal).copied().collect();
    times.sort_unstable();
    let wrong: usize = records.iter().map(|record| record.wrong.len()).sum();
    let refused: u32 = records.iter().map(|record| record.refused).sum();
    let killed = records.iter().filter(|record| record.state == State::Killed).count();
    let mut text = format!("{} runs equal to one process, {wrong} not", times.len());
    if refused > 0 {
        text += &format!(", {refused} refused for want of capacity");
    }
    if killed > 0 {
        text += &format!(", {killed} clients killed");
    }
    if let (Some(median), Some(slow), Some(worst)) =
        (at(&times, 0.5), at(&times, 0.95), times.last())
    {
        let seconds = [median, slow, *worst].map(|time| format!("{:.2} s", time.as_secs_f64()));
        text +=
            &format!("; median {}, 95 % within {}, worst {}", seconds[0], seconds[1], seconds[2]);
    }
    text
}

/// A row for each client.
pub fn rows(records: &[Record]) -> io::Result<RecordBatch> {
    let numbers = |of: fn(&Record) -> usize| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(records.iter().map(|record| of(record) as u64)))
    };
    let seconds = |share: f64| -> ArrayRef {
        Arc::new(
            records
                .iter()
                .map(|record| {
                    let mut times = record.equal.clone();
                    times.sort_unstable();
                    at(&times, share).map(|time| (time.as_secs_f64() * 1000.0).round() / 1000.0)
                })
                .collect::<Float64Array>(),
        )
    };
    let suites = records.iter().map(|record| Some(record.suite.clone()));
    let rows: Result<_, ArrowError> = RecordBatch::try_from_iter([
        ("client", numbers(|record| record.number)),
        ("suite", Arc::new(suites.collect::<StringArray>()) as ArrayRef),
        ("equal", numbers(|record| record.equal.len())),
        ("wrong", numbers(|record| record.wrong.len())),
        ("refused", numbers(|record| record.refused as usize)),
        ("median_s", seconds(0.5)),
        ("worst_s", seconds(1.0)),
    ]);
    rows.map_err(io::Error::other)
}

/// The time within which this share of the runs was done.
fn at(sorted: &[Duration], share: f64) -> Option<Duration> {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_runs() {
        let times: Vec<_> = (1..=20).map(Duration::from_secs).collect();
        assert_eq!(at(&times, 0.5), Some(Duration::from_secs(10)));
        assert_eq!(at(&times, 0.95), Some(Duration::from_secs(19)));
        assert_eq!(at(&times, 1.0), Some(Duration::from_secs(20)));
        assert_eq!(at(&times[..1], 0.5), Some(Duration::from_secs(1)));
        assert_eq!(at(&[], 0.5), None);
    }

    #[test]
    fn what_is_said_in_the_end() {
        let record = |state, wrong: &[&str]| Record {
            number: 1,
            suite: "steam".into(),
            state,
            equal: vec![Duration::from_millis(1200)],
            refused: 0,
            wrong: wrong.iter().map(|text| text.to_string()).collect(),
        };
        let records = [record(State::Done, &[]), record(State::Killed, &["q1 differs"])];
        assert_eq!(
            summary(&records),
            "2 runs equal to one process, 1 not, 1 clients killed; median 1.20 s, 95 % within \
             1.20 s, worst 1.20 s"
        );
        assert_eq!(line(&records[1]), "client   1  steam    killed           1 equal, 1 WRONG");
    }
}
