//! Names of columns, as the files of a table have them.

use std::collections::HashSet;
use std::path::Path;

use crate::note::{Note, NoteKind};
use crate::spec::{At, Column, Type};

/// Columns with these names, of which no two are the same; one whose name is empty or not unique is referred to by its index.
pub fn columns_of(names: &[String]) -> Vec<Column> {
    let mut taken = HashSet::new();
    let column = |(index, name): (usize, &String)| {
        let is_unique = names.iter().filter(|other| *other == name).count() == 1;
        let at =
            if is_unique && !name.is_empty() { At::Header(name.clone()) } else { At::Index(index) };
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name.clone() };
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let name = std::iter::once(base.clone())
            .chain(numbered)
            .find(|name| taken.insert(name.clone()))
            .expect("there is always another number");
        Column { name, at, ty: Type::Text }
    };
    names.iter().enumerate().map(column).collect()
}

/// Where each column is in a file with these names, if it is there.
pub fn places_of(columns: &[Column], names: &[String]) -> Vec<Option<usize>> {
    let place = |column: &Column| match &column.at {
        At::Header(name) => names.iter().position(|at| at == name),
        At::Index(index) => Some(*index).filter(|index| *index < names.len()),
    };
    columns.iter().map(place).collect()
}

/// Columns with these names that are none yet. A name that does not tell a column from the others of its file gives none.
pub fn more_columns(names: &[String], known: &[Column]) -> Vec<Column> {
    let is_new = |name: &&String| {
        let is_unique = names.iter().filter(|other| other == name).count() == 1;
        is_unique && !name.is_empty() && known.iter().all(|column| column.name != **name)
    };
    let column = |name: &String| {
        let (name, at) = (name.clone(), At::Header(name.clone()));
        Column { name, at, ty: Type::Text }
    };
    names.iter().filter(is_new).map(column).collect()
}

/// Which columns a file has that the first has not, and the other way round. Where tables have the columns of all files, only
/// those are told that none of theirs stands for.
pub fn differences(
    file: &Path,
    names: &[String],
    first: &[String],
    union_by_name: bool,
    columns: &[Column],
) -> Vec<Note> {
    let without = |of: &[String], others: &[String]| -> Vec<String> {
        of.iter().filter(|name| !others.contains(name)).cloned().collect()
    };
    let is_taken = |name: &String| {
        union_by_name && columns.iter().any(|column| column.at == At::Header(name.clone()))
    };
    let mut extra = without(names, first);
    extra.retain(|name| !is_taken(name));
    let missing = if union_by_name { vec![] } else { without(first, names) };
    let kinds = [NoteKind::ExtraColumns(extra), NoteKind::MissingColumns(missing)];
    let is_any = |kind: &NoteKind| matches!(kind, NoteKind::ExtraColumns(names) | NoteKind::MissingColumns(names) if !names.is_empty());
    kinds.into_iter().filter(is_any).map(|kind| Note::new(file, kind)).collect()
}
