//! Columns of a table whose files say what they have: Parquet and Arrow.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::convert::converted;
use crate::error::Error;
use crate::position::positions;
use crate::types::{common, plain};

/// A file and its columns.
pub struct Described<'a> {
    pub path: &'a Path,
    pub schema: &'a Schema,
}

/// The columns that SQL sees: those of the first file, each of a type that holds what all files have of it.
pub fn of_files(files: &[Described<'_>]) -> Result<SchemaRef, Error> {
    let Some((first, others)) = files.split_first() else {
        return Ok(Arc::new(Schema::empty()));
    };
    if first.schema.fields().is_empty() {
        return Err(Error::NoColumns(first.path.to_path_buf()));
    }
    let mut fields: Vec<Field> = vec![];
    for field in first.schema.fields() {
        if fields.iter().any(|known| known.name() == field.name()) {
            let (path, column) = (first.path.to_path_buf(), field.name().clone());
            return Err(Error::ColumnTwice { path, column });
        }
        let mut ty = first.plain_type(field)?;
        let mut is_typeless = field.data_type().is_null();
        for other in others {
            let (_, same) = place(other, field.name(), first.path)?;
            let other_ty = other.plain_type(same)?;
            // A column without a value is of any type.
            let (is_any, other_is_any) = (is_typeless, same.data_type().is_null());
            is_typeless &= other_is_any;
            if is_any || other_is_any {
                ty = if is_any { other_ty } else { ty };
                continue;
            }
            ty = common(&ty, &other_ty).ok_or_else(|| Error::TypesDiffer {
                path: other.path.to_path_buf(),
                column: field.name().clone(),
                ty: other_ty,
                first: first.path.to_path_buf(),
                first_ty: ty,
            })?;
        }
        fields.push(Field::new(field.name(), ty, true));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Where a file has the column of this name.
pub fn place<'a>(
    file: &Described<'a>,
    name: &str,
    first: &Path,
) -> Result<(usize, &'a Field), Error> {
    let (path, column) = (file.path.to_path_buf(), name.to_string());
    let named = file.schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    let named: Vec<_> = named.collect();
    match named[..] {
        [(at, field)] => Ok((at, field)),
        [] => Err(Error::ColumnMissing { path, column, first: first.to_path_buf() }),
        _ => Err(Error::ColumnTwice { path, column }),
    }
}

impl Described<'_> {
    fn plain_type(&self, field: &Field) -> Result<DataType, Error> {
        plain(field.data_type()).ok_or_else(|| Error::TypeNotTaken {
            path: self.path.to_path_buf(),
            column: field.name().clone(),
            ty: field.data_type().clone(),
        })
    }
}

/// A chunk's columns as those of the table; `schema` may have a position after them.
pub fn conformed(
    columns: &[ArrayRef],
    rows: usize,
    schema: &SchemaRef,
    chunk: u64,
) -> Result<RecordBatch, arrow::error::ArrowError> {
    conformed_at(columns, rows, schema, || positions(chunk, rows))
}

/// The same with positions of their own.
pub fn conformed_at(
    columns: &[ArrayRef],
    rows: usize,
    schema: &SchemaRef,
    positions: impl FnOnce() -> ArrayRef,
) -> Result<RecordBatch, arrow::error::ArrowError> {
    let fields = schema.fields().iter().zip(columns);
    let converted = fields.map(|(field, column)| converted(column, field.data_type()));
    let mut arrays = converted.collect::<Result<Vec<_>, _>>()?;
    if schema.fields().len() > columns.len() {
        arrays.push(positions());
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
}
