//! Names of columns, as the files of a table have them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::note::{Note, NoteKind};
use crate::spec::{At, Column, Type};

/// Columns with these names, of which no two are the same; one whose name is empty or not unique is referred to by its index.
pub fn columns_of(names: &[String]) -> Vec<Column> {
    let mut counts = HashMap::<&str, usize>::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let mut taken = HashSet::new();
    // Of each name that is not unique, the number that is tried next.
    let mut numbers = HashMap::<String, usize>::new();
    let column = |(index, name): (usize, &String)| {
        let is_unique = counts[name.as_str()] == 1;
        let at =
            if is_unique && !name.is_empty() { At::Header(name.clone()) } else { At::Index(index) };
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name.clone() };
        let mut name = base.clone();
        while !taken.insert(name.clone()) {
            let number = numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = format!("{base}_{number}");
        }
        Column { name, at, ty: Type::Text }
    };
    names.iter().enumerate().map(column).collect()
}

/// Where each column is in a file with these names, if it is there.
pub fn places_of(columns: &[Column], names: &[String]) -> Vec<Option<usize>> {
    let mut known = HashMap::<&str, usize>::new();
    for (at, name) in names.iter().enumerate() {
        known.entry(name).or_insert(at);
    }
    let place = |column: &Column| match &column.at {
        At::Header(name) => known.get(name.as_str()).copied(),
        At::Index(index) => Some(*index).filter(|index| *index < names.len()),
    };
    columns.iter().map(place).collect()
}

/// Columns with these names that are none yet. A name that does not tell a column from the others of its file gives none.
pub fn more_columns(names: &[String], known: &[Column]) -> Vec<Column> {
    let known: HashSet<&str> = known.iter().map(|column| column.name.as_str()).collect();
    let mut counts = HashMap::<&str, usize>::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    let is_new = |name: &&String| {
        counts[name.as_str()] == 1 && !name.is_empty() && !known.contains(name.as_str())
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
        let others: HashSet<&String> = others.iter().collect();
        of.iter().filter(|name| !others.contains(name)).cloned().collect()
    };
    let mut extra = without(names, first);
    if union_by_name && !extra.is_empty() {
        let taken = columns.iter().filter_map(|column| match &column.at {
            At::Header(name) => Some(name),
            At::Index(_) => None,
        });
        let taken: HashSet<&String> = taken.collect();
        extra.retain(|name| !taken.contains(name));
    }
    let missing = if union_by_name { vec![] } else { without(first, names) };
    let kinds = [NoteKind::ExtraColumns(extra), NoteKind::MissingColumns(missing)];
    let is_any = |kind: &NoteKind| matches!(kind, NoteKind::ExtraColumns(names) | NoteKind::MissingColumns(names) if !names.is_empty());
    kinds.into_iter().filter(is_any).map(|kind| Note::new(file, kind)).collect()
}
