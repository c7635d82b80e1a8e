//! Reading of files, and reports of the rows that do not fit.

use super::Met::{Code, Effect};
use super::limit::limits;
use crate::error::codes;

limits! { FILES = "Files";
    /// Bytes of CSV in one fragment: big enough that a run's fixed cost vanishes, small enough that a
    /// few of them per core fit into memory and caches.
    FRAGMENT_CSV_BYTES: usize = 4 << 20 => Effect("a file has more fragments");

    /// Bytes of CSV in one fragment on a cluster: what is lost and sent again is less, and several of
    /// them in each queue are little memory.
    CLUSTER_FRAGMENT_CSV_BYTES: usize = 2 << 20 => Effect("a file has more fragments");

    /// The longest record a CSV file may hold: nearly always a quote was left open.
    CSV_RECORD_BYTES_MAX: usize = 256 << 20 => Code(codes::RECORD_TOO_LONG);

    /// The beginning of a CSV file up to the end of its header: what ends later is no line of names, and a pipe's beginning has
    /// to hold it.
    CSV_HEADER_BYTES_MAX: usize = 4 << 20 => Code(codes::RECORD_TOO_LONG);

    /// Columns of a table: the time to plan a query grows with the square of those that it names, and `SELECT *` names
    /// all.
    TABLE_COLUMNS_MAX: usize = 10_000 => Code(codes::TOO_MANY_COLUMNS);

    /// A chunk of a CSV file, whatever is asked for: Arrow's views and our index have 32-bit offsets, and a chunk may be a
    /// long record and a block.
    CSV_CHUNK_BYTES_MAX: usize = 1 << 29 => Effect("chunks are this long at most");

    /// Buffers that a reader keeps for its next chunks: more are in use only where batches are kept, and then none comes
    /// back soon.
    CSV_IDLE_BUFFERS_MAX: usize = 8 => Effect("buffers beyond it are freed");

    /// Bytes of a table that are looked at to guess its types, shared among its files. Many, since a row that does not fit
    /// the guess is left out, and cheap, since text is soon known to be text.
    INFER_BYTES: usize = 16 << 20 => Effect("types are guessed from the beginnings of files");

    /// Bytes of each file that are looked at in any case.
    INFER_FILE_BYTES_MIN: usize = 256 << 10 => Effect("tables of very many files are looked at for longer");

    /// How much of a file is looked at to guess its delimiter: hundreds of rows, and no time.
    SNIFF_BYTES: usize = 256 << 10 => Effect("the delimiter is guessed from the beginning of a file");

    /// The share of a table's rows that may be left out because they do not fit, unless another is said: dirt is less, and
    /// a wrong delimiter, type or header is more.
    REJECTED_PERCENT_MAX: u8 = 10 => Code(codes::TOO_MUCH_REJECTED);

    /// Rows at the beginning of a file among which values are looked for that show what a column holds.
    SAMPLE_ROWS_MAX: usize = 1000 => Effect("a column that is NULL in them has no samples in its description");

    /// Values that show what a column holds.
    SAMPLE_VALUES_MAX: usize = 3 => Effect("no more are shown");

    /// Bytes of a pipe that are kept to tell its format and guess its types: enough for thousands of rows, and no wait worth a
    /// word where it flows.
    PIPE_SAMPLE_BYTES: usize = 4 << 20 => Effect("types are guessed from the beginning of what comes");

    /// Bytes that are decompressed at a time.
    UNPACK_BUFFER_BYTES: usize = 256 << 10 => Effect("the next ones are decompressed");

    /// Buffers of decompressed bytes that wait to be parsed, of each file that is being read.
    UNPACK_AHEAD_BUFFERS: usize = 16 => Effect("the thread that decompresses waits");

    /// Memory that a decompressor may look back upon: what all of them take unless they are told to take more.
    UNPACK_WINDOW_BYTES_MAX: usize = 128 << 20 => Code(codes::COMPRESSED_DAMAGED);

    /// Bytes that one compressed byte may make: gzip cannot make more than 1,032, and tables that others make do not come
    /// near.
    UNPACKED_BYTES_PER_BYTE_MAX: u64 = 5000 => Code(codes::UNPACKS_TO_TOO_MUCH);

    /// Compressed bytes that count as so many for it: a small file may well be of a few rows that are all alike.
    UNPACK_BYTES_FREE: u64 = 64 << 10 => Effect("small files may make more of a byte");

    /// Rows that are decoded of a row group of Parquet, or of a batch of Arrow, at a time.
    DECODED_ROWS_MAX: usize = 64 << 10 => Effect("a row group is several chunks");

    /// The fewest rows at a time, however wide they are: fewer would cost more to begin than to decode.
    DECODED_ROWS_MIN: usize = 1 << 10 => Effect("chunks of very wide rows are larger");

    /// Rows of a row group that one thread decodes after the other: those of a larger one are divided among several.
    STRETCH_ROWS_MAX: u64 = 256 << 10 => Effect("several threads decode the row group");

    /// Decoded bytes of a row group, as its footer says them, for one thread.
    STRETCH_BYTES_MAX: u64 = 32 << 20 => Effect("several threads decode the row group");

    /// The fewest rows for a thread: each begins with the dictionaries of its columns.
    STRETCH_ROWS_MIN: u64 = 32 << 10 => Effect("one thread decodes them");

    /// Parts of one row group, however many rows it is said to have.
    ROW_GROUP_SLICES_MAX: u64 = 256 => Effect("each part has more rows");

    /// Rows of which the columns of a filter are looked at, at a time, before others are decoded.
    PROBE_ROWS: usize = 16 << 10 => Effect("the next ones are looked at");

    /// One of so many rows may fit a filter for it to pay to decode the others' columns for it alone.
    PROBE_ROWS_OF_EACH: usize = 16 => Effect("all columns of all rows are decoded");

    /// Bytes that the other columns have for each of the filter's.
    PROBE_BYTES_OF_EACH: u64 = 4 => Effect("all columns of all rows are decoded");

    /// Values that a column is compared with one after the other.
    PROBE_VALUES_MAX: usize = 32 => Effect("the filter is not asked of each row");

    /// Memory that a batch of an Arrow file may take: files of one batch are decoded whole.
    ARROW_BATCH_BYTES_MAX: u64 = 16 << 30 => Code(codes::FILE_DAMAGED);

    /// Names that objects of JSON may have of their values: with more of them they are no rows but dictionaries.
    JSON_NAMES_MAX: usize = 2000 => Effect("objects with more are texts, and no rows");

    /// Levels to which values of JSON may nest: a guard of the stack.
    JSON_LEVELS_MAX: usize = 64 => Effect("the row is rejected");

    /// Rejected rows described one by one: a few show what is wrong.
    REJECTS_DESCRIBED_MAX: usize = 10 => Effect("the rest is counted");

    /// A value that does not fit, as it is quoted: enough to find it.
    REJECT_VALUE_CHARS_MAX: usize = 40 => Effect("the value is cut, with …");

    /// A word that may be meant for NULL, if it is all that keeps a column from being numbers or dates.
    NULL_WORD_BYTES_MAX: usize = 12 => Effect("it is not offered as an option, the type still is");

    /// Names of a header that are listed in a hint: more would be no help.
    HEADER_NAMES_LISTED_MAX: usize = 12 => Effect("the names are counted");

    /// Letters of a text that `language` looks at: those beyond change the verdict of hardly any text.
    LANGUAGE_LETTERS_MAX: usize = 512 => Effect("the language is that of the beginning");

    /// Levels to which the containers of a Python literal may nest: a guard of the stack against hostile text, far above real
    /// columns.
    PYTHON_LITERAL_LEVELS_MAX: usize = 64 => Effect("the text is no literal: NULL");
}
