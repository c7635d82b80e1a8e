//! SQL as text: where statements end, what words there are, which files are named. For shells and editors.

pub use caudal_planner::{
    KEYWORDS, Script, Statement, Unread, Word, WordKind, Words, files_in_from, functions, words,
};
