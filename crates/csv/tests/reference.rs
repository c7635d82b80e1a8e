//! The reader against a parser so simple that one can see that it is right, on random bytes.

#![allow(clippy::unwrap_used)]

mod common;

use caudal_csv::{Options, Type};
use common::{RejectLine, Row, Table};
use proptest::prelude::*;

/// One record of a file, as the reference reads it.
struct Record {
    line: u64,
    fields: Vec<Vec<u8>>,
    /// Line of the quote that is still open at the end of the file.
    unclosed_line: Option<u64>,
}

/// Byte by byte, in the states of Python's `csv` module.
fn reference(body: &[u8], first_line: u64) -> Vec<Record> {
    #[derive(PartialEq)]
    enum State {
        FieldStart,
        Unquoted,
        Quoted,
        QuoteInQuoted,
    }
    use State::*;
    let mut records = Vec::new();
    let (mut line, mut record_line, mut quote_line) = (first_line, first_line, 0);
    let mut fields: Vec<Vec<u8>> = vec![Vec::new()];
    let mut state = FieldStart;
    let is_cut = !body.is_empty() && !body.ends_with(b"\n");
    // A missing final newline is supplied, unless a quote is open.
    for (i, byte) in body.iter().chain(is_cut.then_some(&b'\n')).enumerate() {
        if i == body.len() && state == Quoted {
            break;
        }
        let field = fields.last_mut().unwrap();
        match (&state, byte) {
            (Quoted, b'"') => state = QuoteInQuoted,
            (Quoted, _) => field.push(*byte),
            (QuoteInQuoted, b'"') => {
                field.push(b'"');
                state = Quoted;
            }
            (FieldStart, b'"') => {
                quote_line = line;
                state = Quoted;
            }
            (_, b',') => {
                fields.push(Vec::new());
                state = FieldStart;
            }
            (_, b'\n') => {
                if state == Unquoted && field.ends_with(b"\r") {
                    field.pop();
                }
                records.push(Record {
                    line: record_line,
                    fields: std::mem::replace(&mut fields, vec![Vec::new()]),
                    unclosed_line: None,
                });
                record_line = line + 1;
                // A blank line is no record; an empty quoted field is one.
                let record = records.last().unwrap();
                let quoted = state == QuoteInQuoted;
                if record.fields.len() == 1
                    && record.fields[0].is_empty()
                    && !quoted
                    && !was_quoted(body, i)
                {
                    records.pop();
                }
                state = FieldStart;
            }
            _ => {
                field.push(*byte);
                state = Unquoted;
            }
        }
        line += u64::from(*byte == b'\n');
    }
    if state == Quoted {
        records.push(Record { line: record_line, fields, unclosed_line: Some(quote_line) });
    }
    records
}

/// Whether the line that ends at `newline` is `""` and a CR, which is a record with an empty field.
fn was_quoted(body: &[u8], newline: usize) -> bool {
    body[..newline].ends_with(b"\"\r")
}

fn expected(body: &[u8], fields: usize) -> (Vec<Row>, Vec<RejectLine<'static>>) {
    const NAMES: [&str; 3] = ["c0", "c1", "c2"];
    let (mut rows, mut rejects) = (Vec::new(), Vec::new());
    for record in reference(body, 2) {
        if let Some(line) = record.unclosed_line {
            let reason = format!(
                "the quote opened on line {line} is never closed; the rest of the file is this record"
            );
            rejects.push((record.line, None, reason));
        } else if record.fields.len() != fields {
            let reason = format!("expected {fields} fields, found {}", record.fields.len());
            rejects.push((record.line, None, reason));
        } else if let Some(bad) = record.fields.iter().position(|f| std::str::from_utf8(f).is_err())
        {
            let field = &record.fields[bad];
            let valid = field.utf8_chunks().next().unwrap().valid();
            let (byte, chars) = (field[valid.len()], valid.chars().count());
            let characters = if chars == 1 { "character" } else { "characters" };
            let reason = format!("byte {byte:#04x} after {chars} {characters} is not UTF-8");
            rejects.push((record.line, Some(NAMES[bad]), reason));
        } else {
            let text =
                |field: Vec<u8>| (!field.is_empty()).then(|| String::from_utf8(field).unwrap());
            rows.push(record.fields.into_iter().map(text).collect());
        }
    }
    (rows, rejects)
}

/// Bytes that are mostly the characters that matter, so that every state meets every other.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"\""[..]),
        4 => Just(&b","[..]),
        3 => Just(&b"\n"[..]),
        2 => Just(&b"\r\n"[..]),
        1 => Just(&b"\r"[..]),
        2 => Just(&b"a"[..]),
        1 => Just("ñ".as_bytes()),
        1 => Just("日本".as_bytes()),
        1 => Just(&b"a longer piece of text, with a comma"[..]),
        1 => Just(&b"\"quoted, and\nin two lines\""[..]),
        1 => Just(&b"\"x\",\"y\"\n"[..]),
        1 => Just(&b"x,y\n"[..]),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn check(
    body: &[u8],
    fields: usize,
    chunk_bytes: usize,
    threads: usize,
) -> Result<(), TestCaseError> {
    let header = &b"h0,h1,h2"[..3 * fields - 1];
    let mut table = Table::new([header, b"\n", body].concat());
    for index in 0..fields {
        table = table.column_at(index, Type::Text);
    }
    table.options = Options { chunk_bytes, ..Options::default() };
    table.threads = threads;
    let content = table.read();
    let (rows, rejects) = expected(body, fields);
    prop_assert_eq!(content.reject_lines(), rejects);
    prop_assert_eq!(&content.rows, &rows);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn same_rows_rejects_and_lines(body in body(), fields in 1usize..4, chunk_bytes in 1usize..64, threads in 1usize..4) {
        check(&body, fields, chunk_bytes, threads)?;
        check(&body, fields, 4 << 20, 1)?;
    }

    #[test]
    fn bytes_that_are_no_text(mut body in body(), at in 0usize..200, byte in 0x80u8..) {
        if !body.is_empty() {
            let at = at % body.len();
            body[at] = byte;
        }
        check(&body, 2, 32, 2)?;
    }
}
