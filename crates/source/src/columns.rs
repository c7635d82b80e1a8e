//! Columns of a table whose files say what they have: Parquet and Arrow.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use caudal_csv::{Note, NoteKind};

use crate::convert::converted;
use crate::error::Error;
use crate::fill::{Fill, Filled};
use crate::position::{positions, with_position};
use crate::types::{common, plain};

/// A file and its columns.
pub struct Described<'a> {
    pub path: &'a Path,
    pub schema: &'a Schema,
}

/// The columns that SQL sees, each of a type that holds what all files have of it: those of the first file, which all others
/// have to have, or with `union_by_name` those that any file has. And what the others have besides.
pub fn of_files(
    files: &[Described<'_>],
    union_by_name: bool,
) -> Result<(SchemaRef, Vec<Note>), Error> {
    let Some((first, others)) = files.split_first() else {
        return Ok((Arc::new(Schema::empty()), vec![]));
    };
    if first.schema.fields().is_empty() {
        return Err(Error::NoColumns(first.path.to_path_buf()));
    }
    let mut names: Vec<&str> = vec![];
    let mut is_known = HashSet::new();
    for field in first.schema.fields() {
        if !is_known.insert(field.name().as_str()) {
            let (path, column) = (first.path.to_path_buf(), field.name().clone());
            return Err(Error::ColumnTwice { path, column });
        }
        names.push(field.name());
    }
    let mut notes = vec![];
    for file in others {
        let extra = file.schema.fields().iter().map(|field| field.name().as_str());
        let extra: Vec<&str> = extra.filter(|name| !is_known.contains(name)).collect();
        if union_by_name {
            names.extend(extra.into_iter().filter(|name| is_known.insert(*name)));
        } else if !extra.is_empty() {
            let extra = extra.into_iter().map(String::from).collect();
            notes.push(Note::new(file.path, NoteKind::ExtraColumns(extra)));
        }
    }
    let field = |name: &&str| field_of(name, files, union_by_name);
    let fields = names.iter().map(field).collect::<Result<Vec<Field>, _>>()?;
    Ok((Arc::new(Schema::new(fields)), notes))
}

fn field_of(name: &str, files: &[Described<'_>], union_by_name: bool) -> Result<Field, Error> {
    /// Type of a column so far, whether it is sure, and the file that had it.
    type Known<'a> = Option<(DataType, bool, &'a Path)>;
    let mut known: Known<'_> = None;
    for file in files {
        let Some((_, field)) = place(file, name)? else {
            if union_by_name {
                continue;
            }
            let (path, first) = (file.path.to_path_buf(), files[0].path.to_path_buf());
            return Err(Error::ColumnMissing { path, column: name.to_string(), first });
        };
        // A column without a value is of any type.
        let (ty, is_sure) = (file.plain_type(field)?, !field.data_type().is_null());
        known = Some(match known {
            None | Some((_, false, _)) => (ty, is_sure, file.path),
            Some(known) if !is_sure => known,
            Some((known, _, first)) => match common(&known, &ty) {
                Some(ty) => (ty, true, first),
                None => {
                    return Err(Error::TypesDiffer {
                        path: file.path.to_path_buf(),
                        column: name.to_string(),
                        ty,
                        first: first.to_path_buf(),
                        first_ty: known,
                    });
                }
            },
        });
    }
    let ty = known.map_or(DataType::Utf8View, |(ty, ..)| ty);
    Ok(Field::new(name, ty, true))
}

/// Where a file has the column of this name, if it has one.
fn place<'a>(file: &Described<'a>, name: &str) -> Result<Option<(usize, &'a Field)>, Error> {
    let named = file.schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    let named: Vec<_> = named.collect();
    match named[..] {
        [] => Ok(None),
        [(at, field)] => Ok(Some((at, field))),
        _ => {
            let (path, column) = (file.path.to_path_buf(), name.to_string());
            Err(Error::ColumnTwice { path, column })
        }
    }
}

/// What is read of a file, and how its rows are made into those of the table.
pub struct Laid {
    /// Of each needed column that the file has, its place there.
    pub columns: Vec<usize>,
    /// Those columns as the table has them, and the position if there is one.
    pub schema: SchemaRef,
    /// None, if the file has all of them.
    pub fill: Option<Arc<Fill>>,
}

impl Laid {
    /// Of the needed columns of a table, with the name of the position.
    pub fn of(
        file: &Described<'_>,
        needed: &[FieldRef],
        position: Option<&str>,
    ) -> Result<Laid, Error> {
        let (mut columns, mut fields, mut filled) = (vec![], vec![], vec![]);
        for field in needed {
            filled.push(match place(file, field.name())? {
                Some((at, _)) => {
                    columns.push(at);
                    fields.push(Arc::clone(field));
                    Filled::Own(columns.len() - 1)
                }
                None => Filled::null(field.data_type()),
            });
        }
        let is_whole = columns.len() == needed.len();
        let schema = with_position(fields, position);
        let fill = || {
            let schema = with_position(needed.to_vec(), position);
            Arc::new(Fill { schema, columns: filled })
        };
        Ok(Laid { columns, schema, fill: (!is_whole).then(fill) })
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
