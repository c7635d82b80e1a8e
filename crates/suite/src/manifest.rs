//! `suite.toml`: from its text to checked tables, parameters and queries.
//!
//! Unknown keys are errors, and every error names the file and the line.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use caudal_core::ParamValue;
use caudal_csv::{At, Column, Dialect, Type};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::options::RawDialect;
use crate::params::{Param, ParamType};
use crate::{Error, TablePattern};

pub(crate) const FILE: &str = "suite.toml";

/// A manifest that passed every check which needs no other file.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub title: String,
    pub params: Vec<Param>,
    pub tables: Vec<TablePattern>,
    pub queries: Vec<QueryEntry>,
}

#[derive(Debug)]
pub(crate) struct QueryEntry {
    pub name: String,
    pub group: Option<String>,
    pub title: String,
    pub file: String,
}

pub(crate) fn parse(path: &Path, text: &str) -> Result<Manifest, Error> {
    let source = Source { path, text };
    let raw: RawManifest = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        source.bad(offset, error.message())
    })?;
    source.refuse_duplicates("table", raw.table.iter().map(|table| &table.name))?;
    source.refuse_duplicates("query", raw.query.iter().map(|query| &query.name))?;
    Ok(Manifest {
        title: raw.title,
        params: collect(raw.params, |(name, param)| source.param(name, param))?,
        tables: collect(raw.table, |table| source.table(table))?,
        queries: collect(raw.query, |query| source.query(query))?,
    })
}

fn collect<T, U>(
    raw: impl IntoIterator<Item = T>,
    check: impl Fn(T) -> Result<U, Error>,
) -> Result<Vec<U>, Error> {
    raw.into_iter().map(check).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    title: String,
    #[serde(default)]
    params: BTreeMap<Spanned<String>, RawParam>,
    #[serde(default)]
    table: Vec<RawTable>,
    #[serde(default)]
    query: Vec<RawQuery>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawParam {
    #[serde(default, deserialize_with = "value")]
    default: Option<ParamValue>,
    r#type: Option<ParamType>,
    #[serde(default)]
    description: String,
}

/// A parameter's value as TOML writes it.
fn value<'de, D: Deserializer<'de>>(toml: D) -> Result<Option<ParamValue>, D::Error> {
    Ok(Some(match toml::Value::deserialize(toml)? {
        toml::Value::Integer(value) => ParamValue::Int(value),
        toml::Value::Float(value) => ParamValue::Float(value),
        toml::Value::String(value) => ParamValue::Text(value),
        toml::Value::Boolean(value) => ParamValue::Bool(value),
        _ => return Err(D::Error::custom("a default is a number, a text, true or false")),
    }))
}

/// A pattern, or several of which the first that matches is meant.
fn one_or_several<'de, D: Deserializer<'de>>(toml: D) -> Result<Vec<String>, D::Error> {
    match toml::Value::deserialize(toml)? {
        toml::Value::String(pattern) => Ok(vec![pattern]),
        several => Vec::deserialize(several).map_err(D::Error::custom),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    name: Spanned<String>,
    #[serde(deserialize_with = "one_or_several")]
    files: Vec<String>,
    fields: Option<usize>,
    #[serde(default)]
    dialect: Option<Spanned<RawDialect>>,
    #[serde(default)]
    columns: Vec<RawColumn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
    name: Spanned<String>,
    at: Option<usize>,
    header: Option<String>,
    r#type: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuery {
    name: Spanned<String>,
    group: Option<String>,
    title: Option<String>,
    file: String,
}

/// The manifest's text, for errors that say where.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn param(&self, name: Spanned<String>, raw: RawParam) -> Result<Param, Error> {
        let ty = match (&raw.default, raw.r#type) {
            (Some(default), None) => ParamType::of(default),
            (None, Some(ty)) => ty,
            _ => {
                let message = "a parameter has either a default, whose type is its own, or a type";
                return Err(self.bad(name.span().start, message));
            }
        };
        Ok(Param {
            name: name.into_inner(),
            ty,
            default: raw.default,
            description: raw.description,
        })
    }

    fn table(&self, raw: RawTable) -> Result<TablePattern, Error> {
        if raw.files.is_empty() {
            return Err(self.bad(raw.name.span().start, "a table needs a file pattern"));
        }
        self.refuse_duplicates("column", raw.columns.iter().map(|column| &column.name))?;
        let dialect = self.dialect(raw.dialect)?;
        let columns = raw.columns.into_iter().enumerate();
        Ok(TablePattern {
            name: raw.name.into_inner(),
            files: raw.files,
            fields: raw.fields,
            columns: collect(columns, |(index, column)| {
                self.column(column, (!dialect.has_header).then_some(index))
            })?,
            dialect,
        })
    }

    fn dialect(&self, raw: Option<Spanned<RawDialect>>) -> Result<Dialect, Error> {
        let Some(raw) = raw else { return Ok(Dialect::default()) };
        let offset = raw.span().start;
        let options = raw.into_inner().options().map_err(|why| self.bad(offset, &why))?;
        if !options.types().is_empty() || options.field_count().is_some() {
            return Err(self.bad(offset, "types are said of columns, and fields of the table"));
        }
        if options.is_union_by_name() || options.are_folders_columns().is_some() {
            let why = "a suite's tables have the columns that it lists, of every file";
            return Err(self.bad(offset, why));
        }
        Ok(options.dialect().clone())
    }

    /// A column that says nothing of its place is where the header has its name; without a header, where it is listed.
    fn column(&self, raw: RawColumn, listed_at: Option<usize>) -> Result<Column, Error> {
        let ty = parse_type(raw.r#type.get_ref()).ok_or_else(|| Error::UnknownType {
            path: self.path.to_path_buf(),
            line: self.line(raw.r#type.span().start),
            column: raw.name.get_ref().clone(),
            ty: raw.r#type.get_ref().clone(),
        })?;
        let at = match (raw.at, raw.header) {
            (Some(_), Some(_)) => {
                let message = "a column is read by its position (at) or by its header, not by both";
                return Err(self.bad(raw.name.span().start, message));
            }
            (Some(index), None) => At::Index(index),
            (None, Some(header)) => At::Header(header),
            (None, None) => match listed_at {
                Some(index) => At::Index(index),
                None => At::Header(raw.name.get_ref().clone()),
            },
        };
        Ok(Column { name: raw.name.into_inner(), at, ty })
    }

    fn query(&self, raw: RawQuery) -> Result<QueryEntry, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = raw.name.get_ref();
        if name.is_empty() || !name.chars().all(plain) {
            let message =
                "a query's name is the name of its result's file: letters, digits, _ and -";
            return Err(self.bad(raw.name.span().start, message));
        }
        let name = raw.name.into_inner();
        Ok(QueryEntry {
            title: raw.title.unwrap_or_else(|| name.clone()),
            name,
            group: raw.group,
            file: raw.file,
        })
    }

    fn refuse_duplicates<'n>(
        &self,
        what: &'static str,
        names: impl Iterator<Item = &'n Spanned<String>>,
    ) -> Result<(), Error> {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name.get_ref()) {
                return Err(Error::Duplicate {
                    path: self.path.to_path_buf(),
                    line: self.line(name.span().start),
                    what,
                    name: name.get_ref().clone(),
                });
            }
        }
        Ok(())
    }

    fn bad(&self, offset: usize, message: &str) -> Error {
        Error::BadManifest {
            path: self.path.to_path_buf(),
            line: self.line(offset),
            message: message.trim_end().replace('\n', ", "),
        }
    }

    fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }
}

/// A type by our word for it, or by one that SQL or others have.
pub(crate) fn parse_type(text: &str) -> Option<Type> {
    let text = text.trim().to_lowercase();
    let (word, arguments) = match text.split_once('(') {
        Some((word, arguments)) => (word.trim_end(), Some(arguments.strip_suffix(')')?)),
        None => (text.as_str(), None),
    };
    let length = arguments.map(|arguments| arguments.trim().parse::<u32>());
    if matches!(word, "varchar" | "char") && !matches!(length, Some(Err(_))) {
        return Some(Type::Text);
    }
    Some(match (word, arguments) {
        ("text" | "string" | "str", None) => Type::Text,
        (
            "int" | "integer" | "bigint" | "smallint" | "tinyint" | "long" | "int64" | "int32",
            None,
        ) => Type::Int64,
        ("float" | "double" | "real" | "double precision" | "float64" | "float32", None) => {
            Type::Float64
        }
        ("bool" | "boolean", None) => Type::Boolean,
        ("date", None) => Type::Date,
        ("timestamp" | "datetime", None) => Type::Timestamp,
        ("decimal" | "numeric", Some(arguments)) => {
            let (precision, scale) = arguments.split_once(',').unwrap_or((arguments, "0"));
            let precision: u8 = precision.trim().parse().ok()?;
            let scale: i8 = scale.trim().parse().ok()?;
            let digits_fit = (1..=38).contains(&precision);
            let scale_fits = (0..=i16::from(precision)).contains(&i16::from(scale));
            (digits_fit && scale_fits).then_some(Type::Decimal { precision, scale })?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use caudal_core::{Code, Coded, codes};

    use super::*;

    const GOOD: &str = r#"
title = "A suite"
[params.country]
type = "text"
description = "whose films"
[[table]]
name = "films"
files = ["a.csv", "b_*.csv"]
fields = 4
columns = [
    { name = "id", at = 0, type = "int" },
    { name = "score", header = "review/score", type = "decimal(10, 2)" },
    { name = "day", type = "date" },
]
[[query]]
name = "q1"
title = "Films"
file = "q1.sql"
"#;

    fn parsed(text: &str) -> Result<Manifest, Error> {
        parse(Path::new("s/suite.toml"), text)
    }

    /// The code and the message after one edit of a good manifest.
    fn refused(good: &str, bad: &str) -> (Code, String) {
        assert!(GOOD.contains(good));
        let error = parsed(&GOOD.replacen(good, bad, 1)).unwrap_err();
        (error.code(), error.to_string())
    }

    #[test]
    fn a_manifest_becomes_typed() {
        let manifest = parsed(GOOD).unwrap();
        let [id, score, day] = manifest.tables[0].columns.as_slice() else {
            panic!("three columns");
        };
        assert_eq!((&id.at, id.ty), (&At::Index(0), Type::Int64));
        assert_eq!(score.at, At::Header("review/score".to_string()));
        let (precision, scale) = (10, 2);
        assert_eq!(score.ty, Type::Decimal { precision, scale });
        assert_eq!(day.at, At::Header("day".to_string()));
        assert_eq!(manifest.params[0].ty, ParamType::Text);
        assert_eq!(manifest.tables[0].fields, Some(4));
    }

    #[test]
    fn the_example_in_the_docs_is_a_manifest_with_every_key() {
        let page = include_str!("../../../docs/suites.md");
        let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        let manifest = parsed(example.unwrap()).unwrap();
        assert_eq!(manifest.tables[0].files, ["games.csv"]);
        assert_eq!(manifest.tables[1].files.len(), 2);
        assert_eq!(
            (manifest.queries[1].name.as_str(), manifest.queries[1].title.as_str()),
            ("worst", "worst")
        );
        for key in ["default", "type", "description", "fields", "at", "header", "group"] {
            assert!(page.contains(&format!("`{key}`")), "{key} is not explained");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let (code, message) = refused("fields = 4", "field = 4");
        assert_eq!(code, codes::BAD_MANIFEST);
        assert!(message.starts_with("s/suite.toml:9: unknown field `field`"), "{message}");
    }

    #[test]
    fn a_missing_key_is_refused_with_its_line() {
        let (code, message) = refused("file = \"q1.sql\"", "");
        assert_eq!(code, codes::BAD_MANIFEST);
        assert!(message.starts_with("s/suite.toml:15: missing field `file`"), "{message}");
    }

    #[test]
    fn an_unknown_type_is_refused_with_its_line() {
        let (code, message) = refused("\"date\"", "\"day\"");
        assert_eq!(code, codes::UNKNOWN_TYPE);
        assert_eq!(message, "s/suite.toml:13: column `day` has unknown type `day`");
        assert_eq!(refused("decimal(10, 2)", "decimal(39,2)").0, codes::UNKNOWN_TYPE);
        assert_eq!(refused("decimal(10, 2)", "decimal(2,3)").0, codes::UNKNOWN_TYPE);
    }

    #[test]
    fn a_name_used_twice_is_refused_with_its_line() {
        let (code, message) = refused("name = \"day\"", "name = \"id\"");
        assert_eq!(code, codes::MANIFEST_NAME_TWICE);
        assert_eq!(message, "s/suite.toml:13: there is already a column called `id`");
        let twice = GOOD.to_string() + "[[query]]\nname = 'q1'\ntitle = ''\nfile = ''";
        assert_eq!(parsed(&twice).unwrap_err().code(), codes::MANIFEST_NAME_TWICE);
    }

    #[test]
    fn contradictions_are_refused() {
        assert_eq!(refused("type = \"text\"", "").0, codes::BAD_MANIFEST);
        assert_eq!(
            refused("type = \"text\"", "type = \"text\"\ndefault = 3").0,
            codes::BAD_MANIFEST
        );
        assert_eq!(refused("at = 0", "at = 0, header = \"x\"").0, codes::BAD_MANIFEST);
        assert_eq!(refused("\"q1\"", "\"../q1\"").0, codes::BAD_MANIFEST);
        assert_eq!(refused("[\"a.csv\", \"b_*.csv\"]", "[]").0, codes::BAD_MANIFEST);
    }

    #[test]
    fn columns_may_be_left_to_the_files() {
        let (head, rest) = GOOD.split_once("columns = [").unwrap();
        let text = format!("{head}{}", rest.split_once("\n]\n").unwrap().1);
        assert_eq!(parsed(&text).unwrap().tables[0].columns, []);
    }

    #[test]
    fn a_table_has_a_dialect() {
        let dialect = "dialect = { delimiter = ';', header = false, null = 'NA' }";
        let text =
            GOOD.replacen("fields = 4", dialect, 1).replacen(", header = \"review/score\"", "", 1);
        let table = &parsed(&text).unwrap().tables[0];
        assert_eq!((table.dialect.delimiter, table.dialect.has_header), (b';', false));
        let places: Vec<_> = table.columns.iter().map(|column| column.at.clone()).collect();
        assert_eq!(places, [At::Index(0), At::Index(1), At::Index(2)]);
        let (code, message) = refused("fields = 4", "dialect = { delimiter = '' }");
        assert_eq!(code, codes::BAD_MANIFEST);
        assert_eq!(message, "s/suite.toml:9: delimiter: there has to be one");
    }
}
