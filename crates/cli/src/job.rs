//! What to run: tables on files, and queries. Made from a suite or from the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use caudal_csv::{At, Column, TableSpec, Type};
use caudal_planner::{Param, QuerySpec};
use caudal_suite::{ColumnType, ParamValue, Suite};

use crate::args::ChoiceArgs;
use crate::error::Failed;
use crate::param::guess;

pub struct Job {
    pub tables: Vec<TableSpec>,
    pub queries: Vec<Titled>,
}

/// A query and what people call it.
pub struct Titled {
    pub title: String,
    pub spec: QuerySpec,
}

impl Job {
    /// The chosen queries of a suite over the files in a folder; without a folder, over no files.
    pub fn of_suite(
        suite: &Suite,
        choice: &ChoiceArgs,
        data: Option<&Path>,
    ) -> Result<Self, Failed> {
        let params = suite.assign(&choice.params)?;
        let params: Vec<_> = params.into_iter().map(|(name, value)| (name, param(value))).collect();
        let queries = suite.select(&choice.queries)?.into_iter().map(|query| Titled {
            title: query.title.clone(),
            spec: QuerySpec {
                name: query.name.clone(),
                sql: query.sql.clone(),
                params: params.clone(),
            },
        });
        let tables = suite.tables.iter().map(|table| {
            let files = match data {
                Some(folder) => table.files_in(folder)?,
                None => vec![],
            };
            let columns = table.columns.iter().map(column).collect();
            Ok(TableSpec { name: table.name.clone(), files, columns, fields: table.fields })
        });
        Ok(Self { queries: queries.collect(), tables: tables.collect::<Result<_, Failed>>()? })
    }

    /// One query over files named on the command line, their types guessed.
    pub fn of_sql(sql: String, tables: &[String], params: &[String]) -> Result<Self, Failed> {
        let params = named(params, "--param", "NAME=VALUE")?;
        if let Some((name, _)) = params.iter().find(|(name, _)| !mentions(&sql, name)) {
            return Err(Failed::usage(
                "CDL-6011",
                format!("--param {name}: the SQL has no ${name}"),
            ));
        }
        let params = params.into_iter().map(|(name, value)| (name.to_string(), guess(value)));
        let query = QuerySpec { name: "query".to_string(), params: params.collect(), sql };
        let tables = named(tables, "--table", "NAME=FILES")?.into_iter();
        let tables = tables.map(|(name, pattern)| guessed_table(name, pattern));
        Ok(Self {
            tables: tables.collect::<Result<_, Failed>>()?,
            queries: vec![Titled { title: String::new(), spec: query }],
        })
    }
}

/// The columns SQL sees.
pub fn schema_of(table: &TableSpec) -> SchemaRef {
    let field = |column: &Column| Field::new(&column.name, column.ty.data_type(), true);
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

fn guessed_table(name: &str, pattern: &str) -> Result<TableSpec, Failed> {
    let literal = Path::new(pattern);
    let files: Vec<PathBuf> = if literal.exists() {
        vec![literal.to_path_buf()]
    } else {
        caudal_suite::matching(Path::new("."), pattern)?
    };
    if files.is_empty() {
        return Err(match pattern.contains(['*', '?', '[']) {
            true => Failed::usage("CDL-1111", format!("table {name}: no file matches {pattern}"))
                .hint("patterns are relative to the current folder: is it right?".to_string()),
            false => caudal_csv::Error::NoSuchFile(literal.to_path_buf()).into(),
        });
    }
    let columns = caudal_csv::infer(&files)?;
    Ok(TableSpec { name: name.to_string(), files, columns, fields: None })
}

/// What an option says of each name; a name can be said once.
fn named<'a>(
    given: &'a [String],
    option: &str,
    form: &str,
) -> Result<Vec<(&'a str, &'a str)>, Failed> {
    let mut pairs: Vec<(&str, &str)> = vec![];
    for text in given {
        let (name, value) =
            text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
                Failed::usage("CDL-6002", format!("{option} {text}: expected {form}"))
            })?;
        if pairs.iter().any(|(known, _)| *known == name) {
            return Err(Failed::usage("CDL-6004", format!("{option} {name} is given twice")));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Whether `$name` stands in the SQL.
fn mentions(sql: &str, name: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    sql.split('$').skip(1).any(|after| after.strip_prefix(name).is_some_and(|rest| !goes_on(rest)))
}

fn param(value: ParamValue) -> Param {
    match value {
        ParamValue::Int(value) => Param::Int(value),
        ParamValue::Float(value) => Param::Float(value),
        ParamValue::Text(value) => Param::Text(value),
        ParamValue::Bool(value) => Param::Bool(value),
    }
}

fn column(column: &caudal_suite::Column) -> Column {
    Column {
        name: column.name.clone(),
        at: match &column.at {
            caudal_suite::At::Header(name) => At::Header(name.clone()),
            caudal_suite::At::Index(index) => At::Index(*index),
        },
        ty: match column.ty {
            ColumnType::Text => Type::Text,
            ColumnType::Int => Type::Int64,
            ColumnType::Float => Type::Float64,
            ColumnType::Bool => Type::Boolean,
            ColumnType::Decimal { precision, scale } => Type::Decimal { precision, scale },
            ColumnType::Date => Type::Date,
            ColumnType::Timestamp => Type::Timestamp,
        },
    }
}
