//! Planning: what a query may take of the process that plans it, and who waits for one.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { PLANNER = "Planning";
    /// Planners of a gateway: processes of its own, so that no query can harm it. Two, so that one tenant's slow
    /// queries leave one to the others.
    PLANNERS_MAX: usize = 2 => Effect("further plannings wait");

    /// Address space of a planner, hence what constants of a query may be folded to: far above what plans need.
    PLANNER_MEMORY_BYTES_MAX: u64 = 1 << 30 => Code(codes::PLANNING_TOO_LARGE);

    /// Bytes that a planner's allocator takes from the system at a time; unbounded, it would take all that it may have.
    PLANNER_ARENA_BYTES: u64 = 64 << 20 => Effect("more memory is taken");

    /// Time that planning a session may take: ten times what the largest that is allowed was seen to take.
    PLANNING_MS_MAX: u64 = 20_000 => Code(codes::PLANNING_TOO_SLOW);

    /// Sessions that wait for a planner of a gateway.
    PLANNINGS_WAITING_MAX: usize = 64 => Code(codes::PLANNERS_BUSY);

    /// Those of one token among them.
    PLANNINGS_WAITING_OWNER_MAX: usize = 32 => Code(codes::PLANNERS_BUSY);

    /// Time that they wait: another gateway may be less busy.
    PLANNING_WAIT_MS_MAX: u64 = 10_000 => Code(codes::PLANNERS_BUSY);

    /// Sessions that one planner plans, so that what it may leak is bounded.
    PLANNER_REQUESTS_MAX: usize = 256 => Effect("another takes its place");

    /// Between two starts of planners: what dies again and again must not keep the machine busy.
    PLANNER_START_MS: u64 = 100 => Effect("the next start waits");

    /// Number of times that a session is planned whose planner somebody else has killed.
    PLANNING_TRIES_MAX: usize = 2 => Code(codes::PLANNER_FAILED);

    /// Bytes of what a planner is asked: what a client can send, and a little.
    PLANNER_REQUEST_BYTES_MAX: usize = 16 << 20 => Code(codes::BATCH_TOO_LARGE);

    /// Bytes of what it answers: the columns of all answers, and what is wrong with those that there are none of.
    PLANNER_REPLY_BYTES_MAX: usize = 16 << 20 => Code(codes::PLANNING_TOO_LARGE);

    /// Bytes that are kept of what it said last: they may say what it died of.
    PLANNER_LAST_WORDS_BYTES: usize = 4 << 10 => Effect("the rest is in the log only");

    /// Time that a planner that has closed its output has to end.
    PLANNER_END_MS: u64 = 2000 => Effect("it is killed");
}
