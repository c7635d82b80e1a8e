//! The trace of a run, line by line. The same seed gives the same lines.

use std::fmt::Write;

use caudal_protocol::Message;
use caudal_runtime::simulated;

/// Lines are kept only where somebody wants to read them; their hash, always.
#[derive(Debug, Default)]
pub struct Trace {
    pub lines: Option<Vec<String>>,
    pub hash: u64,
    pub events: u64,
    line: String,
}

impl Trace {
    pub fn new(keep_lines: bool) -> Self {
        Self { lines: keep_lines.then(Vec::new), ..Self::default() }
    }

    pub fn say(&mut self, who: &str, what: std::fmt::Arguments<'_>) {
        let at = simulated::elapsed().unwrap_or_default();
        self.line.clear();
        let _ = write!(self.line, "{:>10.3} {who}: {what}", at.as_secs_f64() * 1000.0);
        self.events += 1;
        // FNV-1a: it is compared, not attacked.
        for byte in self.line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        if let Some(lines) = &mut self.lines {
            lines.push(self.line.clone());
        }
    }
}

/// A message in a few words.
pub struct Brief<'a>(pub &'a Message);

impl std::fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Message::Table(fragment) => write!(f, "table {}/{}", fragment.table, fragment.number),
            Message::Part(part) => {
                let (id, of) = (part.id, part.part);
                write!(f, "part {id} {}/{} of {:04x}", of.index, of.count, of.attempt.0 & 0xffff)?;
                part.end.map_or(Ok(()), |end| write!(f, ", the last of {end}"))
            }
            Message::End { source, count } => write!(f, "end of {source} after {count}"),
            Message::Baton => f.write_str("baton"),
            Message::Republish => f.write_str("publish again"),
            Message::Failed { query, failure } => write!(f, "{query} failed: {}", failure.code),
        }
    }
}
