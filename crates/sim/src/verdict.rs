//! Whether a session may rightly end without an answer: what happened in, a verdict out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use caudal_core::{Code, codes, limits};

use crate::timeline::{Gap, Timeline};

/// A gateway that can be used for less is as good as none: a client that has to notice that its gateway is frozen
/// (keepalive) and to connect (where it is refused, after a pause) needs as long before it is heard.
pub const MOMENT: Duration = Duration::from_millis(2 * limits::KEEPALIVE_MS);

/// All that a verdict rests on.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub gateways: Timeline,
    pub workers: Timeline,
    /// Of each queue of a shard, how often an owner was lost: it died, or its connection, its time or its store failed.
    pub owners_lost: BTreeMap<String, usize>,
    /// Sessions that ended because of a fragment whose workers died or were cut off.
    pub poisoned: BTreeSet<String>,
    /// Times in which the store took nothing.
    pub full: Vec<Range<Duration>>,
    /// Clients whose session somebody else has cancelled.
    pub cancelled: BTreeSet<String>,
    /// How long a session may be open, where gateways were told.
    pub session_max: Option<Duration>,
    /// How long the slowest call to the store took that was answered.
    pub slowest_call: Duration,
}

impl Facts {
    /// The timeline of the nodes like this one.
    pub fn timeline(&mut self, node: &str) -> &mut Timeline {
        if node.starts_with("gateway") { &mut self.gateways } else { &mut self.workers }
    }
}

/// A session as its client saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    pub client: String,
    /// None where it was never told that the session is open.
    pub session: Option<String>,
    pub time: Range<Duration>,
    /// How long its client wanted to wait for the answer.
    pub patience: Option<Duration>,
    /// Some gateway has answered it: it then looks longer for one.
    pub heard_of_gateways: bool,
}

/// Why a client may be told this code; none where nothing explains it.
pub fn explain(code: Code, life: &Life, facts: &Facts) -> Option<String> {
    let lasted = life.time.end - life.time.start;
    let seconds = Duration::from_secs;
    match code {
        codes::NO_GATEWAY => {
            let patience = match life.heard_of_gateways {
                true => limits::GATEWAY_AWAY_SECONDS_MAX,
                false => limits::GATEWAY_FIRST_SECONDS_MAX,
            };
            let gap = facts.gateways.longest_gap(life.time.clone(), moment(life, facts))?;
            let whom = if life.session.is_some() { "an open session" } else { "a new session" };
            is_long(&gap, seconds(patience))
                .then(|| format!("no gateway for {patience} s for {whom}: {}", words(&gap)))
        }
        codes::CLIENT_GONE => {
            let gap = facts.gateways.longest_gap(life.time.clone(), MOMENT)?;
            let grace = seconds(limits::GRACE_SECONDS);
            // A janitor has to have seen it, but for what it is given for the time between two looks.
            let has_seen = facts.gateways.watched(&gap.time) >= grace * 2 / 3;
            (is_long(&gap, grace) && has_seen)
                .then(|| format!("no gateway for the grace period of {} s", limits::GRACE_SECONDS))
        }
        codes::NO_WORKER => {
            let gap = facts.workers.longest_gap(life.time.clone(), MOMENT)?;
            is_long(&gap, seconds(limits::UNCLAIMED_SECONDS_MAX))
                .then(|| format!("no worker for {} s", limits::UNCLAIMED_SECONDS_MAX))
        }
        codes::POISON_FRAGMENT => facts.poisoned.contains(life.session.as_ref()?).then(|| {
            let deaths = limits::FRAGMENT_DEATHS_MAX;
            format!("{deaths} workers died or were cut off while they ran one fragment")
        }),
        codes::POISON_SHARD => {
            let queues = format!("caudal.{}.", life.session.as_ref()?);
            let most = facts
                .owners_lost
                .iter()
                .filter(|(queue, _)| queue.starts_with(&queues))
                .map(|(_, lost)| *lost)
                .max()?;
            (most >= limits::SHARD_DEATHS_MAX)
                .then(|| format!("{} owners of one shard were lost", limits::SHARD_DEATHS_MAX))
        }
        codes::STORE_FULL => {
            let overlaps =
                |time: &Range<Duration>| time.start < life.time.end && life.time.start < time.end;
            facts.full.iter().any(overlaps).then(|| "the store was full".to_string())
        }
        codes::CANCELLED => {
            facts.cancelled.contains(&life.client).then(|| "it was cancelled".to_string())
        }
        codes::TIMED_OUT => life
            .patience
            .is_some_and(|patience| lasted >= patience)
            .then(|| "its client's --timeout was over".to_string()),
        codes::SESSION_TOO_LONG => facts
            .session_max
            .is_some_and(|session_max| lasted >= session_max)
            .then(|| "it was open for longer than --session-max".to_string()),
        _ => None,
    }
}

/// How long a gateway has to be usable to be of use to this client, who asks one after the other.
fn moment(life: &Life, facts: &Facts) -> Duration {
    // Each of the others keeps it that long, where its store hangs.
    let others = facts.gateways.nodes().saturating_sub(1) as u32;
    let kept = Duration::from_secs(limits::GRACE_SECONDS) / 4;
    // An open is several calls to the store, one after the other.
    let opening = if life.session.is_none() { 2 * facts.slowest_call } else { Duration::ZERO };
    MOMENT + others * kept + opening
}

fn is_long(gap: &Gap, least: Duration) -> bool {
    gap.length() >= least
}

fn words(gap: &Gap) -> &'static str {
    match gap.why.iter().next() {
        Some(why) if gap.why.len() == 1 => why.words(),
        _ => "more than one trouble",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Why;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn life(session: Option<&str>, until: u64) -> Life {
        let (client, session) = ("client-0".to_string(), session.map(str::to_string));
        let heard_of_gateways = session.is_some();
        Life { client, session, time: s(0)..s(until), patience: None, heard_of_gateways }
    }

    fn one_gateway(away: Range<u64>) -> Facts {
        let mut facts = Facts::default();
        facts.gateways.starts("gateway-0", s(0));
        facts.gateways.is_away("gateway-0", s(away.start)..s(away.end), Why::NoStore);
        facts
    }

    fn may(code: Code, life: &Life, facts: &Facts) -> bool {
        explain(code, life, facts).is_some()
    }

    #[test]
    fn no_gateway_has_to_have_been_there_for_as_long_as_the_client_waits() {
        let (new, open) = (life(None, 400), life(Some("s"), 400));
        assert!(may(codes::NO_GATEWAY, &new, &one_gateway(50..70)));
        assert!(!may(codes::NO_GATEWAY, &new, &one_gateway(50..69)));
        assert!(may(codes::NO_GATEWAY, &open, &one_gateway(50..170)));
        assert!(!may(codes::NO_GATEWAY, &open, &one_gateway(50..169)));
        let mut facts = one_gateway(50..300);
        facts.gateways.starts("gateway-1", s(0));
        assert!(!may(codes::NO_GATEWAY, &open, &facts), "the other one was there");
        let ended_before = life(Some("s"), 60);
        assert!(!may(codes::NO_GATEWAY, &ended_before, &one_gateway(50..170)));
    }

    #[test]
    fn a_gateway_has_to_be_there_long_enough_to_be_found_and_to_open_a_session() {
        let mut facts = one_gateway(0..60);
        facts.gateways.is_away("gateway-0", s(72)..s(200), Why::NoStore);
        assert!(!may(codes::NO_GATEWAY, &life(Some("s"), 121), &facts), "it was there for 12 s");
        facts.gateways.starts("gateway-1", s(0));
        facts.gateways.is_away("gateway-1", s(0)..s(200), Why::NoStore);
        assert!(may(codes::NO_GATEWAY, &life(Some("s"), 121), &facts), "the other may keep it");

        let mut facts = one_gateway(12..100);
        assert!(!may(codes::NO_GATEWAY, &life(None, 20), &facts), "12 s are enough to open");
        facts.slowest_call = s(5);
        assert!(may(codes::NO_GATEWAY, &life(None, 20), &facts), "not where calls take so long");
    }

    #[test]
    fn a_client_is_gone_after_the_grace_period_and_no_sooner() {
        let life = life(Some("s"), 400);
        let cut = |away: Range<u64>, why| {
            let mut facts = Facts::default();
            facts.gateways.starts("gateway-0", s(0));
            facts.gateways.is_away("gateway-0", s(away.start)..s(away.end), why);
            facts
        };
        assert!(may(codes::CLIENT_GONE, &life, &cut(50..80, Why::NoBroker)));
        assert!(!may(codes::CLIENT_GONE, &life, &cut(50..79, Why::NoBroker)));
        assert!(!may(codes::CLIENT_GONE, &life, &cut(50..80, Why::NoStore)), "nobody has watched");
    }

    #[test]
    fn what_was_done_on_purpose_explains_itself_and_nothing_else() {
        let mut facts = one_gateway(0..1);
        let mut life = life(Some("s"), 60);
        assert!(!may(codes::CANCELLED, &life, &facts));
        facts.cancelled.insert("client-0".to_string());
        assert!(may(codes::CANCELLED, &life, &facts));
        assert!(!may(codes::TIMED_OUT, &life, &facts));
        life.patience = Some(s(60));
        assert!(may(codes::TIMED_OUT, &life, &facts));
        facts.session_max = Some(s(61));
        assert!(!may(codes::SESSION_TOO_LONG, &life, &facts));
        facts.session_max = Some(s(60));
        assert!(may(codes::SESSION_TOO_LONG, &life, &facts));
        facts.full.push(s(61)..s(70));
        assert!(!may(codes::STORE_FULL, &life, &facts));
        facts.full.push(s(59)..s(60));
        assert!(may(codes::STORE_FULL, &life, &facts));
    }

    #[test]
    fn poison_needs_its_dead() {
        let (life, mut facts) = (life(Some("s"), 60), Facts::default());
        facts.poisoned.insert("other".to_string());
        facts.owners_lost.insert("caudal.s.shard.0".to_string(), limits::SHARD_DEATHS_MAX - 1);
        facts.owners_lost.insert("caudal.other.shard.0".to_string(), limits::SHARD_DEATHS_MAX);
        assert!(!may(codes::POISON_FRAGMENT, &life, &facts));
        assert!(!may(codes::POISON_SHARD, &life, &facts));
        facts.poisoned.insert("s".to_string());
        facts.owners_lost.insert("caudal.s.shard.1".to_string(), limits::SHARD_DEATHS_MAX);
        assert!(may(codes::POISON_FRAGMENT, &life, &facts));
        assert!(may(codes::POISON_SHARD, &life, &facts));
    }

    #[test]
    fn nothing_explains_a_damaged_object() {
        assert!(!may(codes::OBJECT_DAMAGED, &life(Some("s"), 60), &one_gateway(0..60)));
        assert!(!may(codes::STORE_FAILED, &life(Some("s"), 60), &one_gateway(0..60)));
    }
}
