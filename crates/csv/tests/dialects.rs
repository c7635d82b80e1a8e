//! Files that are written otherwise: a table reads back the same from each of them.

#![allow(clippy::unwrap_used)]

mod common;

use caudal_csv::{Dialect, Encoding, Formats, Options, Reader, TimeFormat, Type};
use common::{Row, Table, row};
use proptest::prelude::*;

fn table(content: impl AsRef<[u8]>, dialect: Dialect, columns: &[Type]) -> Table {
    let mut table = Table::new(content);
    for (index, ty) in columns.iter().enumerate() {
        table = table.column_at(index, *ty);
    }
    table.spec.dialect = dialect;
    table
}

fn texts(content: &str, dialect: Dialect) -> Vec<Row> {
    let table = table(content, dialect, &[Type::Text; 2]);
    let content = table.read();
    assert_eq!(content.rejects, []);
    content.rows
}

fn plain() -> Dialect {
    Dialect::default()
}

#[test]
fn any_byte_divides_fields() {
    for delimiter in (0..=255u8).filter(|byte| !b"\n\r\"xy".contains(byte)) {
        let content =
            [b"x", &[delimiter][..], b"y\n\"", &[delimiter], b"\"", &[delimiter], b"yx"].concat();
        let read =
            table(content, Dialect { delimiter, ..plain() }, &[Type::Int64, Type::Text]).open();
        let table = table(
            [&b"x"[..], &[delimiter], b"y\nx", &[delimiter], b"\"y\"\n"].concat(),
            Dialect { delimiter, ..plain() },
            &[Type::Text; 2],
        );
        assert!(read.is_ok());
        assert_eq!(table.read().rows, [row(["x", "y"])], "delimiter {delimiter}");
    }
}

#[test]
fn zeros_between_fields_are_not_of_another_encoding() {
    let zeros = Dialect { delimiter: 0, quote: None, ..plain() };
    assert_eq!(texts("x\0y\n-\0-\n-\0-\n", zeros), [row(["-", "-"]), row(["-", "-"])]);
}

#[test]
fn quotes_may_be_others_or_none() {
    let single = Dialect { quote: Some(b'\''), ..plain() };
    assert_eq!(texts("a,b\n'x,''y''',\"z\n", single), [row(["x,'y'", "\"z"])]);
    let none = Dialect { quote: None, ..plain() };
    assert_eq!(texts("a,b\n\"x,y\"\n", none), [row(["\"x", "y\""])]);
}

#[test]
fn an_escape_hides_what_follows() {
    let escaped = || Dialect { escape: Some(b'\\'), ..plain() };
    assert_eq!(
        texts("a,b\n\"x\\\"y\",z\\,\\\\\n1\\\n2,\"\"\"\"\n", escaped()),
        [row(["x\"y", "z,\\"]), row(["1\n2", "\""])]
    );
    let cut = table("a,b\n1,2\n3,4\\", escaped(), &[Type::Text; 2]).read();
    assert_eq!(cut.rows, [row(["1", "2"])]);
    assert_eq!(cut.reject_lines(), [(3, None, "the file ends with an escape".to_string())]);
    assert_eq!(texts("a,b\n3,4\\\n", escaped()), [row(["3", "4\n"])]);
}

#[test]
fn comments_and_first_lines_are_passed_over() {
    let dialect = Dialect { comment: Some(b'#'), skip_lines: 1, ..plain() };
    let content = "Report \"1\n# by, \"me\na,b\n#x,\"y\n1,#2\n\n#\n\"#3\",4\n5,\"\n#6\"\n#end";
    assert_eq!(
        texts(content, dialect.clone()),
        [row(["1", "#2"]), row(["#3", "4"]), row(["5", "\n#6"])]
    );
    let rejects = table("x\na,b\n#\n1\n", dialect, &[Type::Text; 2]).read();
    assert_eq!(rejects.reject_lines(), [(4, None, "expected 2 fields, found 1".to_string())]);
}

#[test]
fn without_a_header_every_record_is_a_row() {
    let dialect = Dialect { has_header: false, ..plain() };
    assert_eq!(texts("1,2\n3,4\n", dialect.clone()), [row(["1", "2"]), row(["3", "4"])]);
    let mut named = Table::new("1,2\n").file("3,4\n").column("c2", Type::Int64);
    named.spec.dialect = dialect;
    assert_eq!(named.read().rows, [row(["2"]), row(["4"])]);
}

#[test]
fn texts_that_are_null_are_so_in_every_type() {
    let formats =
        Formats { nulls: vec!["NA".into(), "-1".into(), "\\N".into()], ..Formats::default() };
    let dialect = Dialect { formats, escape: Some(b'\\'), ..plain() };
    let types = [Type::Text, Type::Int64, Type::Float64, Type::Boolean, Type::Date];
    let content = "a,b,c,d,e\nNA, NA,-1,\"NA\",NA\n\\N,\\N,\\N,\\N,\\N\n\"NA\",1,-1.5,t,2024-01-31\nNAN,-2,2,f,\n\\\\N,3,,,\n";
    let read = table(content, dialect, &types).read();
    assert_eq!(read.rejects, []);
    assert_eq!(
        read.rows,
        [
            row(["", "", "", "", ""]),
            row(["", "", "", "", ""]),
            row(["", "1", "-1.5", "true", "2024-01-31"]),
            row(["NAN", "-2", "2.0", "false", ""]),
            row(["\\N", "3", "", "", ""]),
        ]
    );
}

#[test]
fn values_of_another_place() {
    let formats = Formats {
        truths: vec!["ja".into()],
        falsehoods: vec!["nein".into()],
        decimal: b',',
        thousands: Some(b'.'),
        date: Some(TimeFormat::new("%d.%m.%Y").unwrap()),
        timestamp: Some(TimeFormat::new("%d.%m.%Y %H:%M").unwrap()),
        ..Formats::default()
    };
    let dialect = Dialect { delimiter: b';', formats, ..plain() };
    let decimal = Type::Decimal { precision: 12, scale: 2 };
    let types = [Type::Int64, Type::Float64, decimal, Type::Boolean, Type::Date, Type::Timestamp];
    let content = "a;b;c;d;e;f\n1.234;1,5;-1.234,50;Ja;31.01.2024;1.2.2024 9:05\n12;\"2\";0;NEIN;;\n1.5;1;1;ja;;\n";
    let read = table(content, dialect, &types).read();
    assert_eq!(
        read.rows,
        [
            row(["1234", "1.5", "-1234.50", "true", "2024-01-31", "2024-02-01T09:05:00"]),
            row(["12", "2.0", "0.00", "false", "", ""]),
        ]
    );
    assert_eq!(read.reject_lines(), [(4, Some("c0"), "`1.5` is not a valid int64".to_string())]);
}

#[test]
fn what_is_no_character_of_its_encoding_is_located() {
    let units = |text: &[u16]| text.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>();
    let text = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let content = units(&[text("a,b\nx,1\ny"), vec![0xd800], text(",2\nz,3\n")].concat());
    let dialect = Dialect { encoding: Encoding::Utf16Le, ..plain() };
    for content in [content.clone(), [&content[..], b"x"].concat()] {
        let is_odd = content.len() % 2 == 1;
        let read = table(content, dialect.clone(), &[Type::Text; 2]).read();
        assert_eq!(read.rows, [row(["x", "1"]), row(["z", "3"])]);
        let lines: Vec<u64> = read.rejects.iter().map(|reject| reject.line).collect();
        assert_eq!(lines, if is_odd { vec![3, 5] } else { vec![3] });
    }
}

#[test]
fn a_row_that_is_judged_by_all_columns_is_so_whichever_are_read() {
    let mut table = table("a,b\n1,x\nx,2\n3,4\n", plain(), &[Type::Int64; 2]);
    let rows = |table: &Table, projection: &[usize]| {
        let reader = Reader::open(table.spec.clone(), projection.to_vec(), table.options.clone());
        let parsed = common::read_all(&reader.unwrap(), 1).unwrap();
        let columns = parsed[0].batch.num_columns();
        assert_eq!(columns, projection.len());
        parsed.iter().map(|parsed| parsed.batch.num_rows()).sum::<usize>()
    };
    let all = |table: &Table| [&[][..], &[0], &[1], &[1, 0]].map(|columns| rows(table, columns));
    assert_eq!(all(&table), [3, 2, 2, 1]);
    table.options.judge_all_columns = true;
    assert_eq!(all(&table), [1; 4]);
}

/// How a random table is written.
#[derive(Debug, Clone)]
struct Writing {
    dialect: Dialect,
    line_end: &'static str,
    quotes_all: bool,
    has_last_newline: bool,
}

fn writing() -> impl Strategy<Value = Writing> {
    let bytes = (
        prop::sample::select(vec![b',', b';', b'\t', b'|', b' ', 0, 1, b'a', 0xfe]),
        prop::sample::select(vec![None, Some(b'"'), Some(b'"'), Some(b'\'')]),
        prop::sample::select(vec![None, Some(b'\\'), Some(b'^')]),
        prop::sample::select(vec![None, Some(b'#'), Some(b'%')]),
    );
    let lines = (any::<bool>(), 0usize..3, any::<bool>(), any::<bool>(), any::<bool>());
    let null = prop::sample::select(vec![None, Some("NA"), Some("-")]);
    use Encoding::{Latin1, Utf8, Utf16, Utf16Be, Utf16Le, Windows1252};
    let encoding =
        prop::sample::select(vec![Utf8, Utf8, Utf8, Utf16, Utf16Le, Utf16Be, Latin1, Windows1252]);
    (bytes, lines, null, encoding).prop_map(|(bytes, lines, null, encoding)| {
        let (delimiter, quote, escape, comment) = bytes;
        let (has_header, skip_lines, is_crlf, quotes_all, has_last_newline) = lines;
        let nulls = null.into_iter().map(String::from).collect();
        let formats = Formats { nulls, ..Formats::default() };
        let dialect = Dialect {
            encoding,
            delimiter,
            quote,
            escape,
            comment,
            has_header,
            skip_lines,
            formats,
        };
        let line_end = if is_crlf { "\r\n" } else { "\n" };
        Writing { dialect, line_end, quotes_all, has_last_newline }
    })
}

/// Texts with all that can go wrong in them.
fn cell() -> impl Strategy<Value = Option<String>> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        ",",
        ";",
        "\t",
        "|",
        " ",
        "\"",
        "'",
        "\\",
        "^",
        "#",
        "%",
        "\n",
        "\r\n",
        "NA",
        "-",
        "ñ",
        "日本語",
        "😀",
        "a text that is longer than a view",
        "\u{1}",
    ]);
    let text = proptest::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat());
    proptest::option::of(text)
}

impl Writing {
    /// What of a text can be written: without quotes and escapes, nothing that divides.
    fn writable(&self, text: &str) -> Option<String> {
        let Dialect { delimiter, quote, escape, comment, .. } = self.dialect;
        let divides = |c: char| {
            u32::from(c) == u32::from(delimiter)
                || matches!(c, '\n' | '\r')
                || [quote, escape, comment].contains(&u8::try_from(c).ok())
        };
        let mut text: String = text.to_string();
        if quote.is_none() {
            text = match escape {
                // An escape before CRLF would be before the CR.
                Some(_) => text.replace('\r', ""),
                None => text.replace(divides, ""),
            };
        }
        if matches!(self.dialect.encoding, Encoding::Latin1 | Encoding::Windows1252) {
            text.retain(|c| u32::from(c) < 0x80 || c == 'ñ');
        }
        let is_null = self.dialect.formats.nulls.contains(&text);
        (!text.is_empty() && !is_null).then_some(text)
    }

    fn write_cell(&self, cell: Option<&str>, out: &mut Vec<u8>) {
        let Dialect { delimiter, quote, escape, comment, .. } = self.dialect;
        let Some(text) = cell else {
            out.extend(self.dialect.formats.nulls.first().map_or("", String::as_str).bytes());
            return;
        };
        let specials = [Some(delimiter), quote, escape, comment, Some(b'\n'), Some(b'\r')];
        let is_special = |byte: &u8| specials.contains(&Some(*byte));
        match quote {
            Some(quote) if self.quotes_all || text.bytes().any(|byte| is_special(&byte)) => {
                out.push(quote);
                for byte in text.bytes() {
                    match escape {
                        Some(escape) if byte == quote || byte == escape => {
                            out.extend([escape, byte]);
                        }
                        None if byte == quote => out.extend([quote, quote]),
                        _ => out.push(byte),
                    }
                }
                out.push(quote);
            }
            _ => {
                for byte in text.bytes() {
                    out.extend(escape.filter(|_| is_special(&byte)));
                    out.push(byte);
                }
            }
        }
    }

    fn write(&self, rows: &[Row]) -> Vec<u8> {
        let mut out = Vec::new();
        let end = |out: &mut Vec<u8>| out.extend(self.line_end.bytes());
        for _ in 0..self.dialect.skip_lines {
            out.extend(b"some \"line");
            end(&mut out);
        }
        let header: Row = ["x", "y", "z"].map(|name| Some(name.to_string())).to_vec();
        let header = self.dialect.has_header.then_some(&header);
        for (i, row) in header.into_iter().chain(rows).enumerate() {
            if let Some(comment) = self.dialect.comment.filter(|_| i % 3 == 1) {
                out.extend([comment, b' ', self.dialect.delimiter, b'"', b'x']);
                end(&mut out);
            }
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    out.push(self.dialect.delimiter);
                }
                self.write_cell(cell.as_deref(), &mut out);
            }
            end(&mut out);
        }
        if !self.has_last_newline && !rows.is_empty() {
            out.truncate(out.len() - self.line_end.len());
        }
        self.encode(out)
    }

    fn encode(&self, text: Vec<u8>) -> Vec<u8> {
        let chars = |text| String::from_utf8(text).unwrap();
        match self.dialect.encoding {
            Encoding::Utf8 => text,
            Encoding::Latin1 | Encoding::Windows1252 => {
                chars(text).chars().map(|c| u8::try_from(c).unwrap()).collect()
            }
            Encoding::Utf16Be => chars(text).encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Encoding::Utf16Le => chars(text).encode_utf16().flat_map(u16::to_le_bytes).collect(),
            // With its mark, in the order that is not the usual one.
            Encoding::Utf16 => format!("\u{feff}{}", chars(text))
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_table_reads_back_as_it_was_written(
        writing in writing(),
        cells in proptest::collection::vec([cell(), cell(), cell()], 1..12),
        chunk_bytes in prop::sample::select(vec![1usize, 7, 33, 64, 200, 1 << 20]),
        threads in 1usize..3,
    ) {
        prop_assume!(writing.dialect.contradiction().is_none());
        let writable = |cell: &Option<String>| cell.as_deref().and_then(|text| writing.writable(text));
        let rows: Vec<Row> = cells.iter().map(|row| row.iter().map(writable).collect()).collect();
        let mut table = table(writing.write(&rows), writing.dialect.clone(), &[Type::Text; 3]);
        table.options = Options { chunk_bytes, ..Options::default() };
        table.threads = threads;
        let read = table.read();
        prop_assert_eq!(read.reject_lines(), []);
        prop_assert_eq!(read.rows, rows);
    }
}
