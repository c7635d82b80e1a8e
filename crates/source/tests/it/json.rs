//! JSON: lines, values and arrays; what does not fit is told with its line.

use caudal_core::{Coded, codes};
use caudal_source::{Codec, Options};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::common::{CODECS, Folder, compress, guessed, read, read_files, small_chunks};
use crate::formats::all_types;
use crate::write;

fn schema(folder: &Folder, text: &str) -> Vec<String> {
    let table = guessed(&[folder.file("t", text)]).unwrap();
    let schema = table.schema();
    schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect()
}

#[test]
fn columns_are_the_names_of_all_objects() {
    let folder = Folder::new();
    assert_eq!(
        schema(
            &folder,
            "{\"a\":1,\"b\":\"x\"}\n{\"c\":{\"d\":[1.5]},\"a\":null}\n{\"a\":2,\"e\":{}}\n"
        ),
        ["a Int64", "b Utf8View", "c Struct(\"d\": List(Float64))", "e Utf8View"]
    );
}

#[test]
fn rows_that_do_not_fit_are_told_with_their_line() {
    let folder = Folder::new();
    let right: String =
        (0..6000).map(|n| format!("{{\"n\":{n},\"t\":\"{}\"}}\n", "x".repeat(3000))).collect();
    let wrong = "\n{\"n\":1.5,\"t\":\"y\"}\n{\"n\":1\n[1]\n{\"n\":\"7\"}\n{\"n\":1,\"n\":2}\n{\"n\":9223372036854775808}\n{\"n\":1} 2\n{\"t\":\"\\ud800\"}\n{\"t\":7}\n{\"n\":true,\"new\":[]}";
    let file = folder.file("t", right + wrong);
    let options = Options { keep_raw_rejects: true, ..Options::default() };
    let content = read(&guessed(&[file]).unwrap(), options).unwrap();
    assert_eq!(content.batch.num_rows(), 6001);
    let lines = content.reject_lines();
    assert_eq!(
        lines,
        [
            "t:6002 n: `1.5` is not a valid Int64",
            "t:6003 -: not an object of JSON: an object without a comma or its end",
            "t:6004 -: not an object of JSON: it does not begin with a brace",
            "t:6005 n: `\"7\"` is not a valid Int64",
            "t:6006 -: not an object of JSON: a name twice in an object",
            "t:6007 n: `9223372036854775808` is not a valid Int64",
            "t:6008 -: not an object of JSON: more comes after its end",
            "t:6009 -: not an object of JSON: half of a character",
            "t:6011 n: `true` is not a valid Int64",
        ]
    );
    assert_eq!(content.rejects[1].raw.as_deref(), Some(&b"{\"n\":1"[..]));
    assert_eq!(content.rows()[6000], [None, Some("7".to_string())]);
}

#[test]
fn bytes_that_are_no_text_are_told() {
    let folder = Folder::new();
    let content =
        read_files(&[folder.file("t", b"{\"a\":\"x\"}\n{\"a\":\"\xff\"}\n{\"a\":\"y\"}\n")])
            .unwrap();
    assert_eq!(content.reject_lines(), ["t:2 -: not an object of JSON: it is not valid UTF-8"]);
    assert_eq!(content.batch.num_rows(), 2);
}

#[test]
fn however_objects_are_arranged_they_are_the_same_rows() {
    let folder = Folder::new();
    let objects: Vec<Value> = (0..500)
        .map(|n| json!({"n": n, "t": format!("}}{n}]"), "l": [n, null], "o": {"x": n % 2 == 0}}))
        .collect();
    let joined =
        |separator: &str| objects.iter().map(Value::to_string).collect::<Vec<_>>().join(separator);
    let pretty: Vec<String> =
        objects.iter().map(|o| serde_json::to_string_pretty(o).unwrap()).collect();
    let expected = read_files(&[folder.file("lines", joined("\n"))]).unwrap();
    assert_eq!(expected.batch.num_rows(), 500);
    for (name, text) in [
        ("crlf", joined("\r\n\n")),
        ("values", joined(" ")),
        ("pretty", pretty.join("\n")),
        ("array", format!("[{}]", joined(","))),
        ("pretty array", format!("\u{feff} [\n{}\n]\n", pretty.join(",\n"))),
    ] {
        let content = read_files(&[folder.file(name, &text)]).unwrap();
        assert_eq!(content.batch, expected.batch, "{name}");
        for codec in CODECS {
            let content =
                read_files(&[folder.file(name, compress(codec, text.as_bytes()))]).unwrap();
            assert_eq!(content.batch, expected.batch, "{name} {codec:?}");
        }
    }
}

#[test]
fn an_array_that_is_cut_is_an_error() {
    let folder = Folder::new();
    let text = "[{\"a\":1},{\"a\":2},{\"a\":[3]}]";
    for length in 2..text.len() {
        let error = match read_files(&[folder.file("t", &text[..length])]) {
            Ok(content) => panic!("{length}: {content:?}"),
            Err(error) => error.code(),
        };
        assert!(
            [codes::FILE_DAMAGED, codes::NO_TABLE_IN_FILE].contains(&error),
            "{length}: {error}"
        );
    }
}

#[test]
fn json_that_is_no_table_is_told() {
    let folder = Folder::new();
    let names: Map<String, Value> = (0..3000).map(|n| (format!("n{n}"), n.into())).collect();
    for text in ["{}", "[]", "[{}]", "{}\n{}\n", &Value::from(names).to_string()] {
        let error = guessed(&[folder.file("t", text)]).unwrap_err();
        assert_eq!(error.code(), codes::NO_TABLE_IN_FILE, "{text:.50}");
    }
}

#[test]
fn what_arrow_writes_is_read() {
    let folder = Folder::new();
    let batch = all_types(2000).project(&[0, 3, 5, 6, 16, 17]).unwrap();
    let file = folder.file("t", compress(Codec::Gzip, &write::json_lines(&batch)));
    let content = read_files(&[file]).unwrap();
    // A struct whose values are all null is written as one without names.
    let rows = |batch: &arrow::array::RecordBatch| -> Vec<Vec<Option<String>>> {
        crate::common::rows(&batch.project(&[0, 1, 2, 3, 4]).unwrap())
    };
    let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    let order: Vec<usize> =
        names.iter().map(|name| content.batch.schema().index_of(name).unwrap()).collect();
    assert!(rows(&batch) == rows(&content.batch.project(&order).unwrap()));
}

#[test]
fn an_empty_file_is_of_any_format() {
    let folder = Folder::new();
    let file = |name, content: &str| folder.file(name, content);
    let files = [file("1", ""), file("2", "{\"a\":1}\n"), file("3", "\n \n")];
    assert_eq!(read_files(&files).unwrap().rows(), [[Some("1".to_string())]]);
    let gzip = compress(Codec::Gzip, b"");
    let files = [folder.file("4", gzip), folder.file("5", write::parquet(&all_types(3), 10))];
    // Of Parquet none is empty.
    assert_eq!(read_files(&files).unwrap_err().code(), codes::FILE_DAMAGED);
    assert_eq!(read_files(&[file("6", "")]).unwrap_err().code(), codes::FILE_EMPTY);
}

fn value(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(error) => format!("{error}"),
    }
}

proptest! {
    #[test]
    fn values_are_what_serde_says(
        ints in prop::collection::vec(any::<Option<i64>>(), 1..20),
        texts in prop::collection::vec(".*", 1..20),
        floats in prop::collection::vec(prop::num::f64::NORMAL, 1..20),
        chunk_bytes in 1usize..300,
    ) {
        let folder = Folder::new();
        let rows = ints.len().min(texts.len()).min(floats.len());
        let lines: Vec<String> = (0..rows)
            .map(|n| json!({"t": texts[n], "i": ints[n], "f": floats[n], "l": [texts[n], null], "_": 0}).to_string())
            .collect();
        let table = guessed(&[folder.file("t", lines.join("\n"))]).unwrap();
        let content = read(&table, Options { chunk_bytes, ..small_chunks() }).unwrap();
        prop_assert_eq!(content.batch.num_rows(), rows);
        for (n, row) in content.rows().into_iter().enumerate() {
            let column = |name: &str| row[content.batch.schema().index_of(name).unwrap()].clone();
            prop_assert_eq!(column("t").unwrap(), value(&Value::from(texts[n].clone()).to_string()));
            prop_assert_eq!(column("i"), ints[n].map(|i| i.to_string()));
            prop_assert_eq!(column("f").unwrap().parse::<f64>().unwrap(), floats[n]);
        }
    }
}
