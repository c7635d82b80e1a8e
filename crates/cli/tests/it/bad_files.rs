//! Files that are not there, or not what their table needs.

use insta::assert_snapshot;

use crate::place::Place;
use crate::shop;

#[test]
fn no_such_file() {
    let ran = Place::new().query("SELECT * FROM t", &["-t", "t=nope.csv"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1001]: no such file: nope.csv
    hint: check the path, or the glob it came from
    ");
}

#[test]
fn no_file_matches_a_pattern() {
    let ran = Place::new().query("SELECT * FROM t", &["-t", "t=nope_*.csv"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1111]: table t: no file matches nope_*.csv
    hint: patterns are relative to the current folder: is it right?
    ");
}

#[test]
fn a_broken_pattern() {
    let ran = Place::new().query("SELECT * FROM t", &["-t", "t=a***b"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1112]: `a***b` is not a file pattern: Pattern syntax error near position 5: wildcards are either regular `*` or recursive `**`
    ");
}

#[test]
fn a_folder_without_files() {
    let place = Place::with("folder/_t.csv", "a\n1\n");
    let ran = place.query("SELECT * FROM t", &["-t", "t=folder"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1111]: table t: the folder folder has no files
    hint: files whose names begin with . or _ are passed over
    ");
}

#[test]
fn an_empty_file() {
    let ran = Place::with("t.csv", "").query("SELECT * FROM t", &["-t", "t=t.csv"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1003]: t.csv is empty: it has no header
    hint: remove the file from the table, or give it a header
    ");
}

#[test]
fn a_header_whose_quote_never_closes() {
    let ran = Place::with("t.csv", "a,\"b\n1,2\n").query("SELECT * FROM t", &["-t", "t=t.csv"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1009]: t.csv: a quote in the header is never closed
    hint: close the quote on the file's first line
    ");
}

#[test]
fn a_file_with_a_header_only_is_a_table_without_rows() {
    let place = Place::with("t.csv", "a,b\n");
    let rows = place.query("SELECT * FROM t", &["-t", "t=t.csv"]).answer();
    assert_eq!(rows, "a,b\n");
    let count = place.query("SELECT count(*) AS n FROM t", &["-t", "t=t.csv"]).answer();
    assert_eq!(count, "n\n0\n");
}

#[test]
fn a_column_of_the_suite_that_the_header_does_not_have() {
    let place = shop::with_all_sales().and("data/sales_2.csv", "id,Itm,price,at\n");
    assert_snapshot!(shop::run(&place, &[]), @"
    exit 2
    --- stderr
    error[CDL-1004]: table `sales`: column `Item` is not in the header of data/sales_2.csv
    hint: did you mean `Itm`? the header has `id`, `Itm`, `price`, `at`
    ");
}

#[test]
fn a_header_with_a_name_twice() {
    let place = shop::with_all_sales().and("data/sales_2.csv", "id,Item,price,at,price\n");
    assert_snapshot!(shop::run(&place, &[]), @"
    exit 2
    --- stderr
    error[CDL-1006]: table `sales`: the header of data/sales_2.csv has more than one `price`
    hint: refer to the column by its index: one of 2, 4
    ");
}

#[test]
fn a_column_at_a_place_no_record_has() {
    let place = shop::with_all_sales();
    let manifest = place.read("suite/suite.toml").replace("header = \"Item\"", "at = 7");
    assert_snapshot!(shop::run(&place.and("suite/suite.toml", manifest), &[]), @"
    exit 2
    --- stderr
    error[CDL-1005]: table `sales`: column `item` is at index 7, but the records of data/sales_1.csv have 4 fields
    hint: indexes go from 0 to 3; if the header has too few names, state how many `fields` a record has
    ");
}

#[test]
fn a_suites_file_that_is_missing() {
    let place = shop::with_all_sales().and("elsewhere/x.csv", "");
    let ran = place.caudal(&["run", "suite", "--data", "elsewhere"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1111]: no file for table `sales` in elsewhere: nothing matches sales_*.csv
    hint: patterns are relative to the data folder: is it the right one?
    ");
}

#[test]
fn a_data_folder_that_is_missing() {
    let ran = Place::new().caudal(&["run", "steam", "--data", "nowhere"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-6007]: there is no folder nowhere
    hint: --data names the folder with the suite's files
    ");
}

#[test]
fn files_that_are_no_table_are_refused_by_what_they_are() {
    for (content, expected) in [
        (&b"\x1f\x8b\x08\x00\x00\x00\x00\x00"[..], "error[CDL-1040]: t.csv: "),
        (b"\x28\xb5\x2f\xfd\x04\x00", "error[CDL-1040]: t.csv: "),
        (b"BZh91AY&SY\x00\x00", "error[CDL-1040]: t.csv: "),
        (b"\xfd7zXZ\x00\x00", "error[CDL-1040]: t.csv: "),
        (b"PK\x03\x04\x14\x00", "error[CDL-1021]: t.csv is not CSV: it is a ZIP archive"),
        (b"PAR1....PAR1", "error[CDL-1043]: t.csv: not a readable Parquet file"),
        (b"a\x00,\x00b\x00\n\x001\x00", "error[CDL-1021]: t.csv is not CSV: it is text in UTF-16"),
    ] {
        let ran = Place::with("t.csv", content).query("SELECT * FROM t", &["-t", "t=t.csv"]);
        assert!(ran.code == Some(2) && ran.stderr.starts_with(expected), "{ran}");
        assert!(ran.stderr.contains("hint: "), "{ran}");
    }
    let header = Place::with("t.csv", "PAR1,b\n1,2\n");
    assert_eq!(header.query("SELECT * FROM t", &["-t", "t=t.csv"]).answer(), "PAR1,b\n1,2\n");
}
