//! Output to the person at the terminal, and the waits that they may notice.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { TERMINAL = "The terminal";
    /// Rows of a result that are drawn: beyond that nobody reads a table.
    TABLE_ROWS_MAX: usize = 100 => Effect("the rest is counted; --format csv or --out DIR gives all");

    /// Characters of a cell that are drawn.
    CELL_CHARS_MAX: usize = 80 => Effect("the cell is cut, with …");

    /// Characters of a terminal that a column needs, borders included, to be worth looking at.
    COLUMN_CHARS_MIN: usize = 8 => Effect("a row is drawn as several lines");

    /// Rows of an answer that a demo shows.
    DEMO_ROWS_MAX: usize = 10 => Effect("the rest is counted");

    /// Rows that a comparison quotes of those that differ.
    DIFFERENCE_ROWS_MAX: usize = 5 => Effect("the rest is counted");

    /// Characters of a cell that a comparison quotes.
    DIFFERENCE_CHARS_MAX: usize = 60 => Effect("the cell is cut, with …");

    /// Rows left over by a comparison are tried pair by pair while there are no more pairs than this.
    DIFFERENCE_PAIRS_MAX: usize = 1_000_000 => Effect("rows that differ in their floats only are told as different");

    /// Unexpected rows that are looked through for the one most like a missing row.
    DIFFERENCE_CANDIDATES_MAX: usize = 1000 => Effect("a nearer row may be missed");

    /// Interval at which progress is drawn.
    PROGRESS_MS: u64 = 100 => Effect("it is drawn");

    /// Nothing is shown of a run that is over sooner.
    PROGRESS_AFTER_MS: u64 = 700 => Effect("progress is shown");

    /// Time far longer than opening, listing or cancelling sessions takes, if all is well.
    ANSWER_EXPECTED_MS: u64 = 2000 => Effect("what it waits for is told");

    /// Time that cancelling a session may keep whoever pressed Ctrl-C.
    INTERRUPT_CANCEL_MS_MAX: u64 = 2000 => Effect("a janitor closes the session");

    /// Time that a run has to remove its unfinished files.
    INTERRUPT_FILES_MS_MAX: u64 = 300 => Effect("the process ends");

    /// Entries that the shell's history keeps.
    HISTORY_ENTRIES_MAX: usize = 1000 => Effect("the oldest are forgotten");

    /// Bytes of an entry of the shell's history: what is longer was pasted, and is a file somewhere.
    HISTORY_ENTRY_BYTES_MAX: usize = 16 << 10 => Effect("it is not kept");

    /// Entries of a folder that are looked through to complete a path.
    COMPLETION_ENTRIES_MAX: usize = 10_000 => Effect("the others are not offered");

    /// Scripts that read one another by `.read`.
    SCRIPT_LEVELS_MAX: usize = 16 => Code(codes::BAD_SHELL_COMMAND);
}
