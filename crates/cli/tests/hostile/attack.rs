//! An attack as a row of a table: who, what, and what the attacker may be told. Its run, and what came of it.

use std::time::{Duration, Instant};

use crate::good::Good;
use crate::ground::Ground;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// With a valid token.
    Tenant,
    /// Without one.
    Stranger,
}

/// What an attack does most of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It keeps the cluster busy: alone, so that what it costs others is seen.
    Busy,
    /// It sits there: several at once.
    Waits,
}

#[derive(Clone)]
pub struct Attack {
    pub by: By,
    pub name: &'static str,
    /// What the attacker may be told: a code, or one of the words below.
    pub expected: &'static [&'static str],
    pub pace: Pace,
    /// Why it succeeds so far: in docs/gaps, too.
    pub gap: Option<&'static str>,
    pub deed: Deed,
}

#[derive(Clone)]
pub enum Deed {
    /// A query. `right` is its answer, where it may be answered: all rows, without the header.
    Sql {
        sql: String,
        right: &'static str,
    },
    Does(fn(&Ground) -> Told),
}

/// The right answer: it was merely slow, and bounded.
pub const RIGHT: &str = "right";
/// The connection was closed.
pub const CLOSED: &str = "closed";
/// Nobody answered, and nobody had to.
pub const IGNORED: &str = "ignored";
/// gRPC's word for a call that is not there.
pub const UNIMPLEMENTED: &str = "unimplemented";

/// What an attacker was told, in a word; what else was said is for whoever looks for the reason.
#[derive(Clone, Debug)]
pub struct Told {
    pub word: String,
    pub more: String,
}

impl Told {
    pub fn new(word: impl Into<String>) -> Self {
        Self { word: word.into(), more: String::new() }
    }

    pub fn with(word: impl Into<String>, more: impl Into<String>) -> Self {
        Self { word: word.into(), more: more.into() }
    }
}

impl Attack {
    pub fn tenant(
        name: &'static str,
        expected: &'static [&'static str],
        deed: fn(&Ground) -> Told,
    ) -> Self {
        let deed = Deed::Does(deed);
        Self { by: By::Tenant, name, expected, pace: Pace::Busy, gap: None, deed }
    }

    pub fn sql(
        name: &'static str,
        expected: &'static [&'static str],
        sql: impl Into<String>,
        right: &'static str,
    ) -> Self {
        let deed = Deed::Sql { sql: sql.into(), right };
        Self { by: By::Tenant, name, expected, pace: Pace::Busy, gap: None, deed }
    }

    pub fn stranger(
        name: &'static str,
        expected: &'static [&'static str],
        deed: fn(&Ground) -> Told,
    ) -> Self {
        Self { by: By::Stranger, ..Self::tenant(name, expected, deed) }
    }

    pub fn that_waits(self) -> Self {
        Self { pace: Pace::Waits, ..self }
    }

    /// Runs it, beside the client that behaves, for long enough that it has been answered a few times.
    pub fn run(self, ground: &Ground, good: &Good) -> Row {
        let began = Instant::now();
        let told = match &self.deed {
            Deed::Sql { sql, right } => ground.sql(sql, right),
            Deed::Does(deed) => deed(ground),
        };
        let took = began.elapsed();
        good.wait_for_answers_since(began);
        let changed = ground.changed();
        let beside = good.percentile_95_between(began, Instant::now());
        println!("{:>6.1} s  {}: {}  {}", took.as_secs_f64(), self.name, told.word, told.more);
        Row { attack: self, told, took, beside, changed }
    }
}

pub struct Row {
    pub attack: Attack,
    pub told: Told,
    pub took: Duration,
    /// The client that behaves, meanwhile: 95 % of its answers came within this.
    pub beside: Duration,
    /// Nodes that are other processes than before.
    pub changed: Vec<String>,
}

/// Few answers fall into the time of one attack, so that the worst of them is its percentile: one pause of the machine
/// must not decide. Over all attacks together it is three times, and nothing else.
const ROW_FLOOR: Duration = Duration::from_secs(2);

impl Row {
    fn is_told(&self) -> bool {
        self.attack.expected.contains(&self.told.word.as_str())
    }

    fn is_near(&self, quiet: Duration) -> bool {
        self.beside <= (3 * quiet).max(quiet + ROW_FLOOR)
    }

    fn verdict(&self, quiet: Duration) -> String {
        let mut wrong = vec![];
        if !self.changed.is_empty() {
            wrong.push(format!("other processes: {}", self.changed.join(", ")));
        }
        if !self.is_told() {
            wrong.push(format!(
                "expected {}; {}",
                self.attack.expected.join(" or "),
                self.told.more
            ));
        }
        if !self.is_near(quiet) {
            wrong.push("the other client waits".to_string());
        }
        match (wrong.is_empty(), self.attack.gap) {
            (true, None) => String::new(),
            (true, Some(gap)) => format!("a gap no more: {gap}"),
            (false, Some(gap)) => format!("known gap: {gap} ({})", wrong.join("; ")),
            (false, None) => format!("FAILED: {}", wrong.join("; ")),
        }
    }
}

pub fn print(rows: &mut [Row], good: &Good, quiet: Duration, took: Duration) {
    rows.sort_by_key(|row| row.attack.by == By::Stranger);
    println!("\n| by | attack | told | s | other client, 95 % within | |");
    println!("|---|---|---|---:|---:|---|");
    for row in rows.iter() {
        println!(
            "| {:?} | {} | {} | {:.1} | {:.2} s | {} |",
            row.attack.by,
            row.attack.name,
            row.told.word,
            row.took.as_secs_f64(),
            row.beside.as_secs_f64(),
            row.verdict(quiet)
        );
    }
    let strangers = rows.iter().filter(|row| row.attack.by == By::Stranger).count();
    let (answers, beside) = (good.answers(), good.percentile_95());
    println!(
        "\n{} attacks by tenants, {strangers} by strangers, in {:.0} s; the other client: {answers} answers, 95 % within {:.2} s, quiet {:.2} s",
        rows.len() - strangers,
        took.as_secs_f64(),
        beside.as_secs_f64(),
        quiet.as_secs_f64()
    );
}

pub fn all_as_expected(rows: &[Row], quiet: Duration) {
    let failed: Vec<String> = rows
        .iter()
        .map(|row| (row, row.verdict(quiet)))
        .filter(|(_, verdict)| verdict.starts_with("FAILED"))
        .map(|(row, verdict)| format!("{}: {}: {verdict}", row.attack.name, row.told.word))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
