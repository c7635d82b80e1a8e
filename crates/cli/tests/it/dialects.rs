//! Files as people have them: what is guessed of them, what is said, and what DuckDB makes of the same file.

use insta::assert_snapshot;

use crate::place::{Place, Ran};

fn read(content: impl AsRef<[u8]>, options: &str) -> Ran {
    let table = format!("t=t.csv{options}");
    Place::with("t.csv", content).query("SELECT * FROM t", &["-t", &table])
}

/// The answers are those that DuckDB 1.5.5 gives with the options above each.
#[test]
fn files_of_all_kinds() {
    for (content, options, answer) in [
        // delim=';'
        ("a;b\n1;2\n", r#"{delimiter=";"}"#, "a,b\n1,2\n"),
        // delim='\t'
        ("a\tb\n1\tx y\n", r#"{delimiter="\t"}"#, "a,b\n1,x y\n"),
        // delim='|', quote=''''
        ("a|b\n'x|y'|2\n", r#"{delimiter="|", quote="'"}"#, "a,b\nx|y,2\n"),
        // escape='\'
        ("a,b\n\"x\\\"y\",2\n", r"{escape='\'}", "a,b\n\"x\"\"y\",2\n"),
        // header=false, names=['c1', 'c2']
        ("1,x\n2,y\n", "{header=false}", "c1,c2\n1,x\n2,y\n"),
        // nullstr='NA'
        ("a,b\nNA,x\n1,NA\n", r#"{null="NA"}"#, "a,b\n,x\n1,\n"),
        // nullstr=['\N', '-']
        ("a,b\n\\N,x\n1,-\n", r#"{null=['\N', "-"]}"#, "a,b\n,x\n1,\n"),
        // comment='#'
        ("#by me\na,b\n1,2\n#x\n3,4\n", r##"{comment="#"}"##, "a,b\n1,2\n3,4\n"),
        // skip=2
        ("Report\n\"of\na,b\n1,2\n", "{skip=2}", "a,b\n1,2\n"),
        // delim=';', decimal_separator=','
        ("a;b\n1,5;2\n", r#"{delimiter=";", decimal=","}"#, "a,b\n1.5,2\n"),
        // delim=';', thousands=','
        ("a;b\n1,234.5;2\n", r#"{delimiter=";", thousands=","}"#, "a,b\n1234.5,2\n"),
        // dateformat='%d/%m/%Y'
        ("a,b\n31/01/2024,1\n", r#"{date="%d/%m/%Y"}"#, "a,b\n2024-01-31,1\n"),
        // timestampformat='%d/%m/%Y %H:%M'
        (
            "a,b\n31/01/2024 09:05,1\n",
            r#"{timestamp="%d/%m/%Y %H:%M"}"#,
            "a,b\n2024-01-31 09:05:00,1\n",
        ),
        // types={'b': 'VARCHAR'}
        ("a,b\n1,1\n2,2\n", r#"{types={b="text"}}"#, "a,b\n1,1\n2,2\n"),
        ("\u{feff}a,b\r\n1,2\r\n", "{}", "a,b\n1,2\n"),
        // delim=chr(1)
        ("a\u{1}b\n1\u{1}2\n", "{delimiter=1}", "a,b\n1,2\n"),
    ] {
        assert_eq!(read(content, options).answer(), answer, "{content:?} {options}");
    }
    let booleans = read("a\nY\nn\n", r#"{true="Y", false="N"}"#);
    assert_eq!(booleans.answer(), "a\ntrue\nfalse\n");
}

#[test]
fn a_delimiter_that_is_not_said_is_guessed_and_told() {
    assert_snapshot!(read("a;b\n1,5;2\n", ""), @r#"
    exit 0
    --- stdout
    a,b
    "1,5",2
    --- stderr
    note: t.csv: guessed that fields end with ";" ({delimiter=";"} says it)
    warning: t.csv: a is taken for text; {decimal=','} would read it otherwise
    "#);
    for content in ["a\tb\n1\t2\n", "a|b\n1|2\n", "a,b\n1,2\n"] {
        assert_eq!(read(content, "").stdout, "a,b\n1,2\n");
    }
    assert_eq!(read("a,b\n1,2\n", "").stderr, "");
}

#[test]
fn what_is_probably_wrong_is_told_with_what_mends_it() {
    let header = read("1,Chess\n2,Go\n", "").stderr;
    assert!(
        header.starts_with("warning: t.csv: the first row was taken for the names"),
        "{header}"
    );
    assert!(header.contains("(1, Chess)") && header.contains("{header=false}"), "{header}");
    let delimiter = read("a:b\n1:2\n", "").stderr;
    assert!(
        delimiter.contains(r#"do fields end with ":"? {delimiter=":"} says so"#),
        "{delimiter}"
    );
    let wide = "a,b\n1,2,3\n4,5,6\n";
    let ran = read(wide, "");
    assert!(ran.stderr.contains("the header has 2 names, and rows have 3 fields"), "{ran}");
    assert_eq!(ran.code, Some(1));
    assert_eq!(read(wide, "{fields=3}").answer(), "a,b,column_3\n1,2,3\n4,5,6\n");
}

#[test]
fn text_in_any_encoding_is_the_same_text() {
    let text = "a,b\ncafé,1\nñandú,2\n";
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (content, options) in [
        (latin.clone(), "{encoding='latin-1'}"),
        (latin.clone(), "{encoding='windows-1252'}"),
        (little.clone(), "{encoding='utf-16le'}"),
        (big.clone(), "{encoding='utf-16be'}"),
        ([&b"\xff\xfe"[..], &little].concat(), "{encoding='utf-16'}"),
        ([&b"\xfe\xff"[..], &big].concat(), "{encoding='utf-16'}"),
    ] {
        assert_eq!(read(content, options).answer(), text, "{options}");
    }
    let marked = read([&b"\xfe\xff"[..], &big].concat(), "");
    assert_eq!(marked.stdout, text);
    assert!(marked.stderr.starts_with("note: t.csv: guessed that it is in utf-16"), "{marked}");
    let unmarked = read(little, "");
    assert!(unmarked.code == Some(2) && unmarked.stderr.contains("utf-16le"), "{unmarked}");
    assert_snapshot!(read(latin, ""), @r#"
    exit 1
    --- stderr
    warning: t.csv: line 2 is not UTF-8 (byte 0xe9); {encoding="windows-1252"} or "latin-1" reads it otherwise
    warning: 2 rows of t did not fit and were left out
      t.csv:2: column `a`: byte 0xe9 after 3 characters is not UTF-8
      t.csv:3: column `a`: byte 0xf1 after 0 characters is not UTF-8
      (--rejects DIR keeps them, --strict makes them an error)
      ({encoding="windows-1252"} or "latin-1" in braces after the files reads text that is not UTF-8)
    error[CDL-1022]: table `t`: 2 of 2 rows do not fit; at most 10 % may be left out
    hint: say how the files are written (docs/files.md), or that this is as it should be: --lenient, or --rejected-max PERCENT
    "#);
}

#[test]
fn what_is_text_only_for_the_way_it_is_written_is_told() {
    for (content, told) in [
        ("a,b\n1,NA\n2,3\n", "b is taken for text; {null='NA'} would read it otherwise"),
        ("a;b\n1,5;2,5\n", "a, b are taken for text; {decimal=','} would read them otherwise"),
        ("a,b\n31/01/2024,1\n", "a is taken for text; {date='%d/%m/%Y'} would read it otherwise"),
    ] {
        let ran = read(content, "");
        assert!(ran.stderr.contains(&format!("warning: t.csv: {told}")), "{ran}");
    }
}

#[test]
fn a_type_that_does_not_fit_later_is_said_how_to_declare() {
    let content = format!("a,b\n{}x,2\n{}", "1,2\n".repeat(5 << 20), "1,2\n".repeat(3 << 20));
    let ran = Place::with("t.csv", &content).query("SELECT sum(a) FROM t", &["-t", "t=t.csv"]);
    assert_snapshot!(ran, @r#"
    exit 0
    --- stdout
    sum(a)
    8388608
    --- stderr
    warning: 1 row of t did not fit and was left out
      t.csv:5242882: column `a`: `x` is not a valid int64
      (--rejects DIR keeps them, --strict makes them an error)
      ({types={a="text"}} in braces after the files reads such columns as text)
    "#);
}

#[test]
fn files_with_other_columns_are_told() {
    let place = Place::with("1.csv", "a,b\n1,2\n").and("2.csv", "a,c\n3,4\n");
    let ran = place.query("SELECT a FROM t ORDER BY a", &["-t", "t=?.csv"]);
    assert_snapshot!(ran, @"
    exit 0
    --- stdout
    a
    1
    3
    --- stderr
    warning: 2.csv: has columns that the table's first file has not: c; {union_by_name=true} takes them
    warning: 2.csv: lacks columns that the table's first file has: b; {union_by_name=true} makes them NULL
    warning: 1.csv: is the table's first file, and says which columns there are
    ");
    let ran = place.query("SELECT * FROM t ORDER BY a", &["-t", "t=?.csv{union_by_name=true}"]);
    assert_snapshot!(ran, @"
    exit 0
    --- stdout
    a,b,c
    1,2,
    3,,4
    ");
    let ran = place.query("SELECT b FROM t", &["-t", "t=?.csv"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("error[CDL-1004]"), "{ran}");
}

#[test]
fn what_is_wrong_with_options_is_said() {
    let ran = read("a\n1\n", r#"{delimeter=";"}"#);
    let expected = "error[CDL-1020]: {delimeter=\";\"}: unknown field `delimeter`, expected one of";
    assert!(ran.code == Some(2) && ran.stderr.starts_with(expected), "{ran}");
    let ran = read("a\n1\n", r#"{types={b="int"}}"#);
    assert!(ran.code == Some(2) && ran.stderr.contains("error[CDL-1004]"), "{ran}");
}

/// As the README says.
#[test]
fn the_readmes_query_runs_on_generated_data() {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("## Ask your own questions").unwrap();
    let (_, rest) = rest.split_once("```text\n$ ").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_caudal")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = [program.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    let place = Place::new();
    let mut answers = vec![];
    for command in block.split("\n$ ") {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(place.path("")).env("PATH", &path);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        answers.push(String::from_utf8(output.stdout).unwrap());
    }
    let [_, top, count, schema] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((top.lines().count(), count.lines().count()), (11, 2), "{top}{count}");
    assert!(
        schema.starts_with("column,type,samples,rows,rejected,dialect,files\napp_id,int,"),
        "{schema}"
    );
}
