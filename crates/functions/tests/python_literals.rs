//! Agreement with Python itself on the literal columns of the shared data.

use std::borrow::Cow;
use std::process::{Command, Output};

use caudal_functions::python_literal::{field_values, list_items};

/// Prints `[literal, items]` a line, as JSON; the items are null where the literal is none.
const SCRIPT: &str = r#"
import ast, csv, json, sys

path, column, key = sys.argv[1:]
csv.field_size_limit(sys.maxsize)

def items(literal):
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return None
    if not key:
        return [str(item) for item in value if item is not None] if isinstance(value, list) else None
    dicts = [value] if isinstance(value, dict) else value
    if not isinstance(dicts, list):
        return None
    return [str(d[key]) for d in dicts if isinstance(d, dict) and d.get(key) is not None]

for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
    literal = row[column] or ""
    print(json.dumps([literal, items(literal)]))
"#;

#[test]
fn lists_agree() {
    for column in ["authors", "categories"] {
        assert_agreement("books/books_data.csv", column, "");
    }
}

#[test]
fn fields_agree() {
    for (file, column, key) in [
        ("movies/credits.csv", "cast", "name"),
        ("movies/credits.csv", "cast", "id"),
        ("movies/credits.csv", "crew", "job"),
        ("movies/credits.csv", "cast", "profile_path"),
        ("movies/movies_metadata.csv", "genres", "name"),
        ("movies/movies_metadata.csv", "production_countries", "iso_3166_1"),
        ("movies/movies_metadata.csv", "belongs_to_collection", "name"),
    ] {
        assert_agreement(file, column, key);
    }
}

/// Compares the items of a column's lists, or with a key the values of their dicts.
fn assert_agreement(file: &str, column: &str, key: &str) {
    let path = caudal_testing::shared("Python literals", &format!("data/{file}"));
    let Some(path) = path else { return };
    let python =
        Command::new("python3").args(["-c", SCRIPT]).arg(&path).args([column, key]).output();
    let Ok(Output { status, stdout, stderr }) = python else {
        return caudal_testing::skip("Python literals", "there is no python3");
    };
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let lines = String::from_utf8(stdout).expect("JSON is UTF-8");
    assert!(!lines.is_empty(), "nothing to compare");
    for line in lines.lines() {
        let (literal, expected): (String, Option<Vec<String>>) =
            serde_json::from_str(line).expect("what the script writes");
        assert_eq!(items(&literal, key), expected, "{file} {column} {key}: {literal}");
    }
}

fn items(literal: &str, key: &str) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let parsed = match key {
        "" => list_items(literal, &mut items),
        key => field_values(literal, key, &mut items),
    };
    parsed.ok()?;
    Some(items.into_iter().map(Cow::into_owned).collect())
}
