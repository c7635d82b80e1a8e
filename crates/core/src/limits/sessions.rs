//! Size of sessions, and the division of their rows on the way.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { SESSIONS = "Sessions";
    /// Tables in one session.
    TABLES_MAX: usize = 256 => Code(codes::BAD_REQUEST);

    /// Queries in one session: each has a queue of its own.
    QUERIES_MAX: usize = 256 => Code(codes::TOO_MANY);

    /// Shards a session may have: each has a queue and a journal.
    SHARDS_MAX: usize = 256 => Code(codes::TOO_MANY);

    /// Shards of a session on a cluster whose client does not say how many.
    SHARDS_DEFAULT: usize = 4 => Effect("--shards sets another number");

    /// Constants in the conditions of all queries on a table's rows that are told to who reads its files.
    ROW_FILTER_VALUES_MAX: usize = 1000 => Effect("all rows of the table are read");

    /// Bytes of one SQL text.
    SQL_BYTES_MAX: usize = 1 << 20 => Code(codes::TOO_MANY);

    /// Operators in one chain of a query: the depth of its expression, hence of the stack.
    EXPRESSION_TERMS_MAX: usize = 1000 => Code(codes::SYNTAX);

    /// The stack of a thread that plans, in every process: far above what queries of so many operators need. It is memory
    /// only where it is used.
    PLANNING_STACK_BYTES: usize = 128 << 20 => Code(codes::SYNTAX);

    /// Letters of a query's line that are shown with an error: a line that a program wrote may have a million.
    EXCERPT_LETTERS_MAX: usize = 200 => Effect("what is around the place is shown");

    /// Forms of a function that are listed when it is called wrongly.
    FUNCTION_FORMS_MAX: usize = 3 => Effect("the others are not listed");

    /// Tables or columns that are listed where one was named that is not there.
    NAMES_LISTED_MAX: usize = 12 => Effect("it is said how many more there are");

    /// Bytes of one value that a function makes: nobody reads more, and no broker takes it.
    FUNCTION_VALUE_BYTES_MAX: usize = 64 << 20 => Code(codes::FUNCTION_MAKES_TOO_MUCH);

    /// Bytes that a function makes of one batch, as much as the rows of a message may be: memory that nobody accounts for
    /// until it is there.
    FUNCTION_BATCH_BYTES_MAX: usize = 256 << 20 => Code(codes::FUNCTION_MAKES_TOO_MUCH);

    /// Bytes of one constant beside the columns of a table: it becomes a value of every row of a batch.
    CONSTANT_BYTES_MAX: usize = 32 << 10 => Code(codes::FUNCTION_MAKES_TOO_MUCH);

    /// Memory for a run when the user sets none and the machine does not say what it has.
    MEMORY_BYTES_DEFAULT: usize = 4 << 30 => Code(codes::OUT_OF_MEMORY);

    /// Of the machine's or the container's memory, what joins, aggregates and sorts of all sessions take when nobody says:
    /// the rest is for rows on their way and for others.
    MEMORY_PERCENT: usize = 50 => Code(codes::OUT_OF_MEMORY);

    /// Bytes that a process may have spilled to disk at a time.
    SPILL_BYTES_MAX: u64 = 100 << 30 => Code(codes::OUT_OF_MEMORY);

    /// Of a run's memory, what rows that shards gather may take: the rest is left to what runs meanwhile.
    GATHERED_MEMORY_PERCENT: usize = 50 => Effect("gathered rows are spilled");

    /// Memory that a sort keeps back for merging what it has spilled.
    SORT_RESERVE_BYTES: usize = 10 << 20 => Effect("a sort spills earlier");

    /// Rows of a result or of a shard's output in one fragment.
    OUTPUT_FRAGMENT_ROWS: usize = 64 << 10 => Effect("an output has more fragments");

    /// Rows of one fragment: some types take no bytes for a row.
    FRAGMENT_ROWS_MAX: usize = 16 << 20 => Code(codes::BAD_BATCH);

    /// Rows gathered by a shard input before its partial states are merged for the first time.
    MERGE_ROWS_MIN: usize = 64 << 10 => Effect("partial states are merged");

    /// Rows that must have come in before a stage that may answer early is looked at again.
    EARLY_ROWS_MIN: usize = 4 << 10 => Effect("early answers are looked for");

    /// Gathered batches that are joined into one, so that many small fragments do not cost their
    /// overhead for the rest of the session.
    GATHER_BATCHES_MAX: usize = 256 => Effect("batches are joined");

    /// Bytes of one message: what one fragment sends to one shard is divided into parts of this size.
    MESSAGE_BYTES: usize = 8 << 20 => Effect("a fragment has more parts");

    /// Bytes of one message on the wire, whatever it holds: below what every broker takes.
    WIRE_BYTES_MAX: usize = 15 << 20 => Code(codes::MESSAGE_TOO_LARGE);

    /// Memory that the rows of one message may take once they are decompressed: nothing that comes in is trusted.
    BATCH_MEMORY_BYTES_MAX: usize = 256 << 20 => Code(codes::BAD_BATCH);

    /// Bytes of results that a session may leave unread, divided among its queries: a client that does not read would fill
    /// the broker.
    RESULT_QUOTA_BYTES: usize = 4 << 30 => Effect("workers wait for the reader of the results, if there is one");

    /// The same in one process, where they are in its memory.
    RESULT_MEMORY_BYTES_MAX: usize = 256 << 20 => Effect("queries wait for whoever reads their results");

    /// The part of a query at least: a message or two.
    RESULT_QUEUE_BYTES_MIN: usize = 16 << 20 => Effect("a session of very many queries may leave more unread");

    /// How long results over their quota wait for a reader that is not there: one that has lost its gateway comes back.
    RESULT_UNREAD_SECONDS_MAX: u64 = 30 => Code(codes::RESULTS_OVER_QUOTA);

    /// The pause before a message is tried again that found no room among results; it doubles.
    RESULT_LOOK_MS_MIN: u64 = 20 => Effect("the message is tried again");

    /// The longest pause.
    RESULT_LOOK_MS_MAX: u64 = 1000 => Effect("the message is tried again");

    /// Time that a session may be open when the cluster is not told otherwise.
    SESSION_SECONDS_MAX: u64 = 86_400 => Code(codes::SESSION_TOO_LONG);

    /// Grace period: the time that a session may be without its client before it is closed.
    GRACE_SECONDS: u64 = 30 => Code(codes::CLIENT_GONE);

    /// Time that a session waits for its first worker.
    UNCLAIMED_SECONDS_MAX: u64 = 120 => Code(codes::NO_WORKER);

    /// Time that the tombstone of a session is kept: longer than any process may have been frozen that
    /// still believes in the session.
    TOMBSTONE_HOURS: i64 = 24 => Effect("the session was never heard of");
}
