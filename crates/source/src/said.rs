//! What is known of a table's files before they are looked at.

use std::collections::BTreeMap;

use arrow::datatypes::{DataType, Field, Fields};
use caudal_core::error::nearest;
use caudal_csv::{Column, Dialect, Note, NoteKind, Type, Unsaid};

use crate::error::Error;
use crate::origin::Origin;

/// How files are written and of which types their columns are, as far as that is said; the rest is guessed.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Of CSV: how it is written.
    pub dialect: Dialect,
    /// Of CSV: what of that is to be found out.
    pub unsaid: Unsaid,
    /// Of CSV: how many fields a record has, where the header is wrong about it.
    pub fields: Option<usize>,
    /// The types of columns, by their names: of formats that do not say them.
    pub types: BTreeMap<String, Type>,
    /// Whether the table has the columns of all its files, NULL where a file has not one.
    pub union_by_name: bool,
    /// Whether folders like `year=2024` are columns; if it is not said, they are where there are any.
    pub hive_partitioning: Option<bool>,
}

impl Default for Said {
    /// Nothing.
    fn default() -> Said {
        let unsaid = Unsaid { delimiter: true, encoding: true };
        Said {
            dialect: Dialect::default(),
            unsaid,
            fields: None,
            types: BTreeMap::new(),
            union_by_name: false,
            hive_partitioning: None,
        }
    }
}

impl Said {
    /// Gives columns of CSV the types that are said.
    pub(crate) fn type_columns(
        &self,
        table: &str,
        origin: &Origin,
        columns: &mut [Column],
    ) -> Result<(), Error> {
        for (name, ty) in &self.types {
            match columns.iter_mut().find(|column| column.name == *name) {
                Some(column) => column.ty = *ty,
                None => {
                    let names = columns.iter().map(|column| column.name.clone());
                    return Err(no_such_column(table, origin, name, names.collect()));
                }
            }
        }
        Ok(())
    }

    /// The columns of JSON with the types that are said, and what there is to say about those that have not been seen.
    pub(crate) fn typed_fields(
        &self,
        origin: &Origin,
        fields: &Fields,
    ) -> Result<(Fields, Vec<Note>), Error> {
        let mut notes = vec![];
        let mut fields: Vec<Field> = fields.iter().map(|field| Field::clone(field)).collect();
        for (name, ty) in &self.types {
            match fields.iter().position(|field| field.name() == name) {
                Some(at) => fields[at].set_data_type(of_json(*ty)),
                // Later objects may have it.
                None => {
                    fields.push(Field::new(name, of_json(*ty), true));
                    let known = fields.iter().map(|field| field.name().as_str());
                    let near = nearest(name, known.filter(|known| *known != name.as_str()));
                    let (column, nearest) = (name.clone(), near.map(String::from));
                    notes.push(Note::new(origin.path(), NoteKind::NotSeen { column, nearest }));
                }
            }
        }
        Ok((fields.into(), notes))
    }

    /// Fails if something is said that means nothing for files of a format that is not CSV.
    pub(crate) fn check_is_no_csv(&self, table: &str, format: &str) -> Result<(), Error> {
        let Said { dialect, unsaid, fields, .. } = self;
        let nothing = Said::default();
        match (dialect, unsaid, fields) == (&nothing.dialect, &nothing.unsaid, &nothing.fields) {
            true => Ok(()),
            false => Err(bad(
                table,
                format!("its files are {format}: only of CSV can be said how it is written"),
            )),
        }
    }

    /// Fails if types are said of files that say them themselves.
    pub(crate) fn check_no_types(&self, table: &str, format: &str) -> Result<(), Error> {
        match self.types.is_empty() {
            true => Ok(()),
            false => {
                Err(bad(table, format!("its files are {format}, which says its types: use CAST")))
            }
        }
    }
}

/// The type that values of JSON are parsed as.
pub fn of_json(ty: Type) -> DataType {
    match ty {
        Type::Text => DataType::Utf8,
        other => other.data_type(),
    }
}

pub fn bad(table: &str, why: String) -> Error {
    caudal_csv::Error::BadDialect { table: table.to_string(), why }.into()
}

pub fn no_such_column(table: &str, origin: &Origin, column: &str, header: Vec<String>) -> Error {
    let (table, file) = (table.to_string(), origin.path().to_path_buf());
    caudal_csv::Error::NoSuchColumn { table, file, column: column.to_string(), header }.into()
}
