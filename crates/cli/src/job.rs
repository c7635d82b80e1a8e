//! What to run: tables on files, and queries. Made from a suite or from the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use caudal_csv::{At, Column, TableSpec, Type};
use caudal_planner::{Param, QuerySpec};
use caudal_suite::{ColumnType, ParamValue, Suite};

use crate::args::ChoiceArgs;
use crate::error::Failed;

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
        let params = params.iter().map(|given| {
            let (name, value) = named(given, "--param")?;
            Ok((name.to_string(), guess(value)))
        });
        let params = params.collect::<Result<_, Failed>>()?;
        let query = QuerySpec { name: "query".to_string(), sql, params };
        let tables = tables.iter().map(|given| {
            let (name, pattern) = named(given, "--table")?;
            guessed_table(name, pattern)
        });
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
        caudal_suite::matching(Path::new(""), pattern)?
    };
    if files.is_empty() {
        return Err(match pattern.contains(['*', '?', '[']) {
            true => Failed::usage("CDL-1113", format!("table {name}: no file matches {pattern}")),
            false => caudal_csv::Error::NoSuchFile(literal.to_path_buf()).into(),
        });
    }
    let columns = caudal_csv::infer(&files)?;
    Ok(TableSpec { name: name.to_string(), files, columns, fields: None })
}

fn named<'a>(given: &'a str, option: &str) -> Result<(&'a str, &'a str), Failed> {
    given
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Failed::usage("CDL-6002", format!("{option} {given}: expected NAME=VALUE")))
}

/// The value that was most likely meant; quotes make a text of anything.
fn guess(value: &str) -> Param {
    if let Ok(int) = value.parse() {
        return Param::Int(int);
    }
    if let Ok(float) = value.parse() {
        return Param::Float(float);
    }
    match value {
        "true" => Param::Bool(true),
        "false" => Param::Bool(false),
        text => {
            let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
            Param::Text(quoted.unwrap_or(text).to_string())
        }
    }
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
