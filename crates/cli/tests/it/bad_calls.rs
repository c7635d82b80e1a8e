//! Calls that cannot be meant: unknown names, missing values, folders that cannot be written to.

use std::fs::File;

use insta::assert_snapshot;

use crate::place::{Place, Ran};
use crate::shop;

#[test]
fn no_command() {
    let ran = Place::new().caudal(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("Usage: caudal <COMMAND>"), "{ran}");
}

#[test]
fn an_unknown_command() {
    assert_snapshot!(Place::new().caudal(&["rum"]), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'rum'

      tip: a similar subcommand exists: 'run'

    Usage: caudal <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn no_query() {
    assert_snapshot!(Place::new().caudal(&["query", "-t", "t=t.csv"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <--command <SQL>|--file <FILE>|FILES[{OPTIONS}]>

    Usage: caudal query --table <NAME=FILES[{OPTIONS}]> <--command <SQL>|--file <FILE>|FILES[{OPTIONS}]>

    For more information, try '--help'.
    ");
}

#[test]
fn two_queries() {
    let ran = Place::new().caudal(&["query", "-c", "SELECT 1", "-f", "q.sql"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: the argument '--command <SQL>' cannot be used with '--file <FILE>'

    Usage: caudal query <--command <SQL>|--file <FILE>|FILES[{OPTIONS}]>

    For more information, try '--help'.
    ");
}

#[test]
fn sql_in_a_file_that_is_missing() {
    assert_snapshot!(Place::new().caudal(&["query", "-f", "q.sql"]), @"
    exit 2
    --- stderr
    error[CDL-6008]: cannot read the query in q.sql: No such file or directory (os error 2)
    ");
}

#[test]
fn a_table_without_files() {
    assert_snapshot!(Place::new().query("SELECT 1", &["-t", "games.csv"]), @"
    exit 2
    --- stderr
    error[CDL-6002]: --table games.csv: expected NAME=FILES
    ");
}

#[test]
fn a_table_twice() {
    let place = Place::with("a.csv", "x\n1\n").and("b.csv", "x\n2\n");
    assert_snapshot!(place.query("SELECT * FROM t", &["-t", "t=a.csv", "-t", "t=b.csv"]), @"
    exit 2
    --- stderr
    error[CDL-6004]: --table t is given twice
    ");
}

#[test]
fn a_parameter_twice() {
    assert_snapshot!(Place::new().query("SELECT $n", &["-p", "n=1", "-p", "n=2"]), @"
    exit 2
    --- stderr
    error[CDL-6004]: parameter `n` is given twice
    ");
}

#[test]
fn a_parameter_without_value() {
    assert_snapshot!(Place::new().query("SELECT $n", &["-p", "n"]), @"
    exit 2
    --- stderr
    error[CDL-6002]: --param n: expected NAME=VALUE
    ");
}

#[test]
fn a_parameter_that_the_sql_does_not_have() {
    assert_snapshot!(Place::new().query("SELECT $least", &["-p", "leas=1"]), @"
    exit 2
    --- stderr
    error[CDL-6011]: --param leas: the SQL has no $leas
    hint: in double quotes a shell replaces $leas: put the SQL in single quotes
    ");
}

#[test]
fn sizes_that_make_no_sense() {
    assert_snapshot!(Place::new().query("SELECT 1", &["--memory", "4X"]), @r#"
    exit 2
    --- stderr
    error: invalid value '4X' for '--memory <MEMORY>': "X" is not a unit; use K, M or G

    For more information, try '--help'.
    "#);
    for option in [["--threads", "0"], ["--shards", "0"], ["--shards", "257"], ["--memory", "0"]] {
        assert_eq!(Place::new().query("SELECT 1", &option).code, Some(2), "{option:?}");
    }
}

#[test]
fn an_unknown_suite() {
    assert_snapshot!(Place::new().caudal(&["run", "steem", "--data", "."]), @"
    exit 2
    --- stderr
    error[CDL-1101]: no suite is called `steem`, and there is no such folder
    hint: did you mean `steam`?
    ");
    assert_snapshot!(Place::new().caudal(&["explain", "weather"]), @"
    exit 2
    --- stderr
    error[CDL-1101]: no suite is called `weather`, and there is no such folder
    hint: name one of steam, movies, books, coffee, or a folder that holds a suite.toml
    ");
    assert_snapshot!(Place::new().caudal(&["demo", "steem"]), @"
    exit 2
    --- stderr
    error[CDL-1101]: no suite is called `steem`, and there is no such folder
    hint: did you mean `steam`?
    ");
    assert_snapshot!(Place::new().caudal(&["generate", "steem", "--out", "x"]), @"
    exit 2
    --- stderr
    error[CDL-1101]: there is no data to generate for a suite `steem`
    hint: name one of steam, movies, books, coffee
    ");
}

#[test]
fn a_folder_that_is_no_suite() {
    let place = Place::with("mine/q1.sql", "SELECT 1");
    assert_snapshot!(place.caudal(&["run", "mine", "--data", "."]), @"
    exit 2
    --- stderr
    error[CDL-1102]: cannot read mine/suite.toml: No such file or directory (os error 2)
    hint: a suite is a folder with a suite.toml in it
    ");
}

#[test]
fn a_manifest_with_a_mistake() {
    let place = shop::with_all_sales();
    let manifest = place.read("suite/suite.toml");
    let with = |from: &str, to: &str| {
        let place = shop::with_all_sales().and("suite/suite.toml", manifest.replace(from, to));
        shop::run(&place, &[])
    };
    assert_snapshot!(with("header =", "heading ="), @"
    exit 2
    --- stderr
    error[CDL-1103]: suite/suite.toml:13: unknown field `heading`, expected one of `name`, `at`, `header`, `type`
    ");
    assert_snapshot!(with("\"int\"", "\"blob\""), @"
    exit 2
    --- stderr
    error[CDL-1104]: suite/suite.toml:12: column `id` has unknown type `blob`
    hint: types are text, int, float, bool, decimal(precision,scale), date and timestamp
    ");
    assert_snapshot!(with("sales.sql", "sale.sql"), @"
    exit 2
    --- stderr
    error[CDL-1106]: cannot read suite/sale.sql, the SQL of query `sales`: No such file or directory (os error 2)
    hint: `file` is relative to the suite's folder
    ");
    assert_snapshot!(with("name = \"at\"", "name = \"id\""), @"
    exit 2
    --- stderr
    error[CDL-1105]: suite/suite.toml:15: there is already a column called `id`
    ");
}

#[test]
fn an_unknown_query() {
    let run = |query| shop::run(&shop::with_all_sales(), &["--queries", query]);
    assert_snapshot!(run("sale"), @"
    exit 2
    --- stderr
    error[CDL-1107]: suite `suite` has no query `sale`
    hint: did you mean `sales`?
    ");
    assert_snapshot!(run("revenue"), @"
    exit 2
    --- stderr
    error[CDL-1107]: suite `suite` has no query `revenue`
    hint: it has sales
    ");
}

#[test]
fn an_unknown_parameter_of_a_suite() {
    let run = |param| shop::run(&shop::with_all_sales(), &["--param", param]);
    assert_snapshot!(run("lest=3"), @"
    exit 2
    --- stderr
    error[CDL-1108]: there is no parameter `lest`
    hint: did you mean `least`?
    ");
    assert_snapshot!(run("least=few"), @"
    exit 2
    --- stderr
    error[CDL-1109]: parameter `least` is of type int, and `few` is not
    ");
    assert_snapshot!(run("least"), @"
    exit 2
    --- stderr
    error[CDL-1113]: `least` is not of the form name=value
    ");
}

#[test]
fn a_parameter_of_a_suite_that_has_no_default() {
    let place = shop::with_all_sales();
    let manifest = place.read("suite/suite.toml").replace("default = 1", "type = 'int'");
    assert_snapshot!(shop::run(&place.and("suite/suite.toml", manifest), &[]), @"
    exit 2
    --- stderr
    error[CDL-1110]: parameter `least` has no default and was not given
    hint: give it as least=<int>: sold: how many of an item must have been sold for it to be named
    ");
}

#[test]
fn a_file_where_a_folder_should_be() {
    let ran = |options: &[&str]| -> Ran {
        shop::run(&shop::with_all_sales().and("taken", "by a file"), options)
    };
    assert_snapshot!(ran(&["--out", "taken/results"]), @"
    exit 2
    --- stderr
    error[CDL-6005]: cannot write into the folder taken/results: Not a directory (os error 20)
    hint: name a folder that is not there yet, or that you may write to
    ");
    assert_snapshot!(ran(&["--rejects", "taken"]), @"
    exit 2
    --- stderr
    error[CDL-6005]: cannot write into the folder taken: File exists (os error 17)
    hint: name a folder that is not there yet, or that you may write to
    ");
    let place = Place::with("taken", "by a file");
    assert_snapshot!(place.caudal(&["generate", "coffee", "--scale", "0.0001", "--out", "taken"]), @"
    exit 2
    --- stderr
    error[CDL-1119]: cannot write taken/stores/stores.csv: Not a directory (os error 20)
    ");
}

#[test]
fn a_device_without_room() {
    let Ok(full) = File::create("/dev/full") else {
        return caudal_testing::skip_on_this_machine(
            "a device without room",
            "there is no /dev/full",
        );
    };
    let place = Place::new();
    let mut command = place.command(&["query", "-c", "SELECT 1"]);
    assert_snapshot!(Ran::from(command.stdout(full).output().unwrap()), @"
    exit 2
    --- stderr
    error[CDL-6001]: cannot write: No space left on device (os error 28)
    ");
}

#[test]
fn a_scale_that_is_none() {
    let ran = Place::new().caudal(&["generate", "steam", "--scale", "0", "--out", "x"]);
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error[CDL-1118]: scale 0 is not a number above zero
    hint: 1 is the full volume, 0.01 a hundredth
    ");
}

#[test]
fn results_that_are_not_there() {
    let place = Place::with("expected/q1.csv", "a\n1\n").and("empty/readme.txt", "");
    assert_snapshot!(place.caudal(&["check", "nowhere", "--against", "expected"]), @"
    exit 2
    --- stderr
    error[CDL-1115]: cannot read nowhere: No such file or directory (os error 2)
    ");
    assert_snapshot!(place.caudal(&["check", "expected", "--against", "empty"]), @"
    exit 2
    --- stderr
    error[CDL-1117]: no expected results in empty
    hint: expected results are one .csv file per query, named after it
    ");
    assert_snapshot!(place.caudal(&["check", "expected"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <--against <DIR>|--suite <SUITE>>

    Usage: caudal check <--against <DIR>|--suite <SUITE>> <RESULTS>

    For more information, try '--help'.
    ");
}
