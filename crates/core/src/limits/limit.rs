//! Description of a bound.

use std::fmt;

use crate::error::Code;

/// Bounds that belong together.
pub struct Group {
    pub title: &'static str,
    pub limits: &'static [Limit],
}

/// A bound of the system.
pub struct Limit {
    pub name: &'static str,
    pub value: u64,
    pub met: Met,
}

/// Effect of meeting a bound.
pub enum Met {
    /// An error with this code.
    Code(Code),
    /// This happens, and nothing has failed.
    Effect(&'static str),
}

impl Limit {
    /// The value with its unit, which is the last word of the name that is one.
    pub fn shown(&self) -> String {
        let unit = self.name.rsplit('_').find_map(unit);
        match unit.unwrap_or_default() {
            "bytes" => bytes(self.value),
            "ms" if self.value >= 1000 && self.value.is_multiple_of(100) => {
                format!("{} s", self.value as f64 / 1000.0)
            }
            unit => format!("{} {unit}", self.value),
        }
    }
}

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Met::Code(code) => write!(f, "{code}: {}", code.title()),
            Met::Effect(effect) => f.write_str(effect),
        }
    }
}

fn bytes(value: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.into_iter().find(|(_, bits)| value > 0 && value.is_multiple_of(1 << bits));
    whole.map_or(format!("{value} B"), |(unit, bits)| format!("{} {unit}", value >> bits))
}

/// The unit that a word of a name says.
fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "MS" => "ms",
        "SECONDS" => "s",
        "HOURS" => "h",
        "BYTES" => "bytes",
        "BATCHES" => "batches",
        "BUFFERS" => "buffers",
        "CANDIDATES" => "candidates",
        "CHANNELS" => "channels",
        "CHARS" => "characters",
        "COLUMNS" => "columns",
        "COMPACTIONS" => "records",
        "CLIENTS" => "clients",
        "CONNECTIONS" => "connections",
        "DEATHS" => "deaths",
        "DIRECTORIES" => "directories",
        "ENTRIES" => "entries",
        "EVENTS" => "events",
        "FAILURES" => "failures",
        "FORMS" => "forms",
        "FRAGMENTS" => "fragments",
        "GATEWAYS" => "gateways",
        "LETTERS" => "letters",
        "LEVELS" => "levels",
        "LINES" => "lines",
        "MESSAGES" => "messages",
        "MISSES" => "pings",
        "MONITORS" => "monitors",
        "NAMES" => "names",
        "NODES" => "nodes",
        "OPERATIONS" => "operations",
        "PAIRS" => "pairs",
        "PERCENT" => "%",
        "PINGS" => "pings",
        "PLANNERS" => "planners",
        "PLANNINGS" => "plannings",
        "QUERIES" => "queries",
        "RECORDS" => "records",
        "REJECTS" => "rows",
        "REQUESTS" => "requests",
        "RESENDS" => "times",
        "RETRIES" => "times",
        "REVIVALS" => "times",
        "ROWS" => "rows",
        "SESSIONS" => "sessions",
        "SHARDS" => "shards",
        "SLICES" => "slices",
        "STREAMS" => "streams",
        "TABLES" => "tables",
        "TERMS" => "terms",
        "THREADS" => "threads",
        "TRIES" => "times",
        "VALUES" => "values",
        "WORKERS" => "workers",
        _ => return None,
    })
}

/// Declares bounds and lists them, so that none can be forgotten: `/// why` it is what it is, then
/// `NAME: type = value => what is seen;`.
macro_rules! limits {
    ($group:ident = $title:literal; $($(#[doc = $why:literal])+ $name:ident: $type:ty = $value:expr => $met:expr;)+) => {
        $($(#[doc = $why])+ pub const $name: $type = $value;)+
        pub(super) const $group: $crate::limits::Group = $crate::limits::Group {
            title: $title,
            limits: &[$($crate::limits::Limit {
                name: stringify!($name),
                value: $name as u64,
                met: $met,
            }),+],
        };
    };
}
pub(super) use limits;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::limits::ALL;

    #[test]
    fn every_name_has_a_unit_and_one_value() {
        let mut names = BTreeSet::new();
        for limit in ALL.iter().flat_map(|group| group.limits) {
            assert!(limit.name.split('_').any(|word| unit(word).is_some()), "{}", limit.name);
            assert!(names.insert(limit.name), "{} has two values", limit.name);
        }
        assert!(names.len() > 150, "{}", names.len());
    }

    #[test]
    fn values_are_shown_with_their_units() {
        let shown = |name, value| Limit { name, value, met: Met::Effect("") }.shown();
        assert_eq!(shown("MESSAGE_BYTES", 8 << 20), "8 MiB");
        assert_eq!(shown("DATAGRAM_BYTES_MAX", 1200), "1200 B");
        assert_eq!(shown("SESSIONS_RETRY_MS", 2000), "2 s");
        assert_eq!(shown("LEADER_SILENT_MS", 1500), "1.5 s");
        assert_eq!(shown("PING_MS", 300), "300 ms");
        assert_eq!(shown("SESSIONS_MAX", 8), "8 sessions");
    }
}
