//! Reading of files that are somewhere on the net: in stores of objects, and at addresses.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { REMOTE = "Files on the net";
    /// Bytes that are asked for at a time: long enough that the wait for the first of them is little beside the rest, short
    /// enough that what is cut off is soon asked for again.
    REMOTE_REQUEST_BYTES: usize = 8 << 20 => Effect("an object is several requests");

    /// Requests that are under way for what comes next, of each file that is read from its beginning to its end.
    REMOTE_AHEAD_REQUESTS: usize = 3 => Effect("the next is made when the first has been read");

    /// Bytes of all files that are asked for before anybody waits for them.
    REMOTE_AHEAD_BYTES_MAX: usize = 256 << 20 => Effect("what comes next is asked for when it is needed");

    /// Bytes that are kept of a file that is read at several places at once: a row group of Parquet, of its needed columns.
    REMOTE_KEPT_BYTES_MAX: usize = 64 << 20 => Effect("columns of larger row groups come in smaller requests");

    /// The fewest bytes of such a request.
    REMOTE_REQUEST_BYTES_MIN: usize = 64 << 10 => Effect("row groups of very many columns are kept in more memory");

    /// Bytes between two columns that are fetched with them: they cost less than another request.
    REMOTE_GAP_BYTES_MAX: u64 = 512 << 10 => Effect("they are two requests");

    /// Bytes of an object that are fetched when it is opened: what it is, and all of a small one.
    REMOTE_HEAD_BYTES: usize = 16 << 10 => Effect("the rest is asked for when it is needed");

    /// Bytes that are fetched where the last of them are wanted: nearly every footer, together with its length.
    REMOTE_TAIL_BYTES: usize = 64 << 10 => Effect("a longer footer is two requests");

    /// Requests at once that open the objects of a table.
    REMOTE_OPEN_REQUESTS: usize = 16 => Effect("the others wait");

    /// Threads that talk to the net: they only pass bytes on, and decrypt them.
    REMOTE_THREADS: usize = 2 => Effect("that is what they are");

    /// Time without a byte after which a request is made again.
    REMOTE_SILENT_MS_MAX: u64 = 30_000 => Effect("the request is made again");

    /// Times that a request is made again that failed before its answer began.
    REMOTE_RETRIES: usize = 6 => Code(codes::ADDRESS_UNREADABLE);

    /// Time for which it is.
    REMOTE_RETRY_MS_MAX: u64 = 20_000 => Code(codes::ADDRESS_UNREADABLE);

    /// Times that an answer may break off, or fall silent, without a byte in between.
    REMOTE_CUTS_RETRIES: usize = 3 => Code(codes::ADDRESS_UNREADABLE);

    /// Time before an answer that broke off is asked for again; twice as long each time.
    REMOTE_CUT_WAIT_MS: u64 = 200 => Effect("the rest is asked for");

    /// Objects that a table may have.
    REMOTE_NAMES_MAX: usize = 100_000 => Code(codes::ADDRESS_NOT_TAKEN);

    /// The beginning of what a server says of a failure, as it is quoted.
    REMOTE_ERROR_CHARS_MAX: usize = 200 => Effect("it is cut, with …");
}
