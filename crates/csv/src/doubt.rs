//! What makes one doubt how a file is read.

use crate::encoding::Encoding;
use crate::guess::Guess;
use crate::header::Header;
use crate::note::NoteKind;
use crate::sample::Sample;

/// What makes one doubt how a sample is read, of whose records most have so many fields.
pub fn doubts(
    sample: &Sample,
    header: &Header,
    found: Option<usize>,
) -> impl Iterator<Item = NoteKind> {
    let (names, is_unsure) = (header.names.len(), header.encoding == Encoding::Utf8);
    let is_comment = has_comment_mark(&header.names, sample.text(), found.is_some());
    let other = found.map(|fields| NoteKind::OtherFieldCount { names, fields });
    let other = if is_comment { Some(NoteKind::PerhapsComment(COMMENT)) } else { other };
    let not_utf8 = is_unsure.then(|| not_utf8(header, sample.text())).flatten();
    // Of a sample that begins anywhere neither is sure.
    let is_sure = !sample.is_cut();
    other.into_iter().chain(not_utf8).filter(move |_| is_sure)
}

/// What lines of comments begin with most often.
const COMMENT: u8 = b'#';

/// Whether the header seems to be a comment: another one follows, or rows have another number of fields.
fn has_comment_mark(names: &[String], body: &[u8], is_other_count: bool) -> bool {
    let is_marked = names.first().is_some_and(|name| name.as_bytes().first() == Some(&COMMENT));
    is_marked && (is_other_count || body.first() == Some(&COMMENT))
}

/// Whether what is taken for a name is a value like those below it, in every column of numbers or dates.
pub fn is_like_values(names: &[String], guesses: &[Guess<'_>]) -> bool {
    let columns = names.iter().zip(guesses);
    let verdicts: Vec<bool> = columns.filter_map(|(name, guess)| guess.is_value(name)).collect();
    !verdicts.is_empty() && verdicts.into_iter().all(|is_value| is_value)
}

/// The first byte that is not UTF-8; one that may be the beginning of a character is.
fn not_utf8(header: &Header, text: &[u8]) -> Option<NoteKind> {
    // What cannot be read has been replaced in names.
    if header.names.iter().any(|name| name.contains(char::REPLACEMENT_CHARACTER)) {
        let byte = header.first_bad_byte?;
        return Some(NoteKind::NotUtf8 { line: header.body_line.saturating_sub(1), byte });
    }
    let error = std::str::from_utf8(text).err()?;
    error.error_len()?;
    let (before, after) = text.split_at(error.valid_up_to());
    let line = header.body_line + memchr::memchr_iter(b'\n', before).count() as u64;
    Some(NoteKind::NotUtf8 { line, byte: after[0] })
}
