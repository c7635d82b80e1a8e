//! Right files of each format, which changes begin with.

use fastrand::Rng;

use crate::common::{CODECS, compress, csv};
use crate::formats::all_types;
use crate::write;

/// What is done to bytes that have been changed.
pub type Pack = fn(&mut Rng, Vec<u8>) -> Vec<u8>;

/// Of one target.
pub struct Originals {
    pub files: Vec<Vec<u8>>,
    /// What means something in such files.
    pub tokens: &'static [&'static [u8]],
    /// The bytes at the end of files that have a footer: its length, and what they are known by.
    pub footer_end: Option<usize>,
    pub pack: Option<Pack>,
}

impl Originals {
    pub fn of(target: &str) -> Originals {
        let of = |files| Originals { files, tokens: &[], footer_end: None, pack: None };
        match target {
            "csv" => Originals { tokens: CSV_TOKENS, ..of(csv_files()) },
            "json" => Originals { tokens: JSON_TOKENS, ..of(json_files()) },
            "parquet" => Originals { footer_end: Some(8), ..of(written("parquet")) },
            "arrow" => of(written("arrow")),
            "compressed" => Originals { pack: Some(maybe_packed), ..of(compressed_files()) },
            other => panic!("no target {other}"),
        }
    }
}

const CSV_TOKENS: &[&[u8]] = &[
    b",",
    b";",
    b"\t",
    b"|",
    b"\"",
    b"\"\"",
    b"\"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\\",
    b"'",
    b"#",
    b"\0",
    b" ",
    b"\x1b[2J",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"1e999",
    b"-0",
    b"NaN",
    b"inf",
    b"NULL",
    b"\\N",
    b"NA",
    b"true",
    b"007",
    b"9223372036854775808",
    b"99999999999999999999999999999999999999999",
    b"0.1e-400",
    b"1.000,5",
    b"2024-02-30",
    b"2024-02-29 24:00:00",
    b"9999999-01-01",
    b"1970-01-01T00:00:00.1234567",
];

fn csv_files() -> Vec<Vec<u8>> {
    let typed = |delimiter: char, quote: &str, end: &str| {
        let row = |n: usize| {
            let text = format!("{quote}a {n}{delimiter} b{quote}");
            let day = format!("2024-01-{:02}", 1 + n % 28);
            let values =
                [n.to_string(), text, format!("{}.5", n), day, n.is_multiple_of(2).to_string()];
            values.join(&delimiter.to_string()) + end
        };
        let names = ["id", "text", "price", "day", "ok"].join(&delimiter.to_string());
        names + end + &(0..60).map(row).collect::<String>()
    };
    let utf16 = |text: &str, little: bool| {
        let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    let wide = (0..300).map(|n| n.to_string()).collect::<Vec<_>>().join(",") + "\n";
    vec![
        csv(40).into_bytes(),
        // More than a chunk of small ones.
        csv(700).into_bytes(),
        typed(',', "\"", "\n").into_bytes(),
        typed(';', "\"", "\r\n").into_bytes(),
        typed('\t', "", "\n").into_bytes(),
        typed('|', "\"", "\n").into_bytes(),
        utf16(&typed('\t', "\"", "\r\n"), true),
        utf16(&typed(',', "\"", "\n"), false),
        [b"\xef\xbb\xbf", typed(',', "\"", "\n").as_bytes()].concat(),
        wide.repeat(4).into_bytes(),
        b"one\n1\n2\n\n3\n".to_vec(),
        b"a,b\n\"x\ny\",\"1\"\"2\"\n,\n".to_vec(),
    ]
}

const JSON_TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\n",
    b"\r\n",
    b" ",
    b"null",
    b"true",
    b"false",
    b"nul",
    b"-",
    b"0",
    b"00",
    b"1e5",
    b"1e999",
    b"-0.0",
    b"1.",
    b"\\u0000",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\u12",
    b"\\x",
    b"\0",
    b"\x1f",
    b"\xff",
    b"\xef\xbb\xbf",
    b"[[[[[[[[",
    b"]]]]]]]]",
    b"{\"a\":",
    b"\"id\":",
    b"{}",
    b"[]",
    b"}{",
    b"},{",
    b"9223372036854775808",
    b"99999999999999999999999999999999999999",
    b"999999999999999999999999999999999999999999",
];

fn json_files() -> Vec<Vec<u8>> {
    let object = |n: usize| {
        format!(
            "{{\"id\":{n},\"name\":\"n\\u00e9 \\\"{n}\\\"\",\"price\":{}.25,\"ok\":{},\"list\":[{n},null],\
             \"object\":{{\"a\":{n},\"b\":[\"x\",{{\"c\":null}}]}},\"big\":922337203685477580{n}}}",
            n,
            n.is_multiple_of(2)
        )
    };
    let objects = |count: usize| (0..count).map(object).collect::<Vec<_>>();
    let pretty = objects(20).join("\n").replace(",\"", ",\n  \"");
    vec![
        write::json_lines(&all_types(30).project(&[0, 1, 3, 5, 6, 16, 17]).unwrap()),
        objects(30).join("\n").into_bytes(),
        // More than a chunk of small ones.
        objects(200).join("\r\n").into_bytes(),
        objects(20).concat().into_bytes(),
        pretty.into_bytes(),
        format!("[{}]", objects(20).join(",")).into_bytes(),
        format!("\u{feff}[\n  {}\n]\n", objects(60).join(",\n  ")).into_bytes(),
        b"{\"a\":1}\n{\"a\":\"x\",\"b\":[[1],[]]}\n{}\n".to_vec(),
    ]
}

fn written(format: &str) -> Vec<Vec<u8>> {
    let (few, many) = (write::all(&all_types(30), 10), write::all(&all_types(300), 100));
    let mut files: Vec<_> =
        few.into_iter().chain(many).filter(|(name, _)| name.starts_with(format)).collect();
    // The same ones in every run.
    files.sort();
    files.into_iter().map(|(_, content)| content).collect()
}

fn compressed_files() -> Vec<Vec<u8>> {
    let mut files = vec![];
    for codec in CODECS {
        for rows in [1, 30, 500] {
            files.push(compress(codec, csv(rows).as_bytes()));
        }
        let halves = csv(60);
        let (first, second) = halves.split_at(halves.len() / 2);
        files.push([first, second].map(|half| compress(codec, half.as_bytes())).concat());
        files.push(compress(codec, &json_files()[1]));
        files.push(compress(codec, &write::ipc_stream(&all_types(20), 10)));
        files.push(compress(codec, "a,b\n1,2\n".repeat(5000).as_bytes()));
    }
    files
}

/// Now and then compressed once more.
fn maybe_packed(rng: &mut Rng, content: Vec<u8>) -> Vec<u8> {
    match rng.u8(..10) {
        0 => compress(CODECS[rng.usize(..CODECS.len())], &content),
        _ => content,
    }
}
