//! Folders like `year=2024` as columns of the table whose files are in them, as Hive and those after it write tables.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::util::display::FormatOptions;
use caudal_csv::{Note, NoteKind, Options, Type};
use percent_encoding::percent_decode_str;

use crate::error::Error;
use crate::fill::{Fill, Filled, ManyFiles};
use crate::format::{Content, Format};
use crate::origin::Origin;
use crate::position::with_position;
use crate::said::{Said, bad};

/// Name of a folder whose rows have NULL there.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Columns that the folders of a table say.
#[derive(Debug)]
pub struct Folders {
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
    ty: Type,
    /// Of each file.
    texts: Vec<Option<String>>,
}

impl Folders {
    /// Those that all files have, unless it is said that there are none.
    pub fn of(table: &str, origins: &[Origin], said: &Said) -> Result<Option<Folders>, Error> {
        if said.hive_partitioning == Some(false) || origins.is_empty() {
            return Ok(None);
        }
        let keys: Vec<_> =
            origins.iter().map(|origin| keys_of(origin.path())).collect::<Result<_, _>>()?;
        let first = &keys[0];
        for (keys, origin) in keys.iter().zip(origins) {
            let lacks = |one: &Keys, other: &Keys| {
                let lacking =
                    one.iter().find(|(name, _)| other.iter().all(|(known, _)| known != name));
                lacking.map(|(name, _)| name.clone())
            };
            let differ = |path: &Origin, name, first: &Origin| {
                let why =
                    format!("it is in no folder `{name}=...`, unlike {}", first.path().display());
                Error::Folders { path: path.path().to_path_buf(), why }
            };
            if let Some(name) = lacks(first, keys) {
                return Err(differ(origin, name, &origins[0]));
            }
            if let Some(name) = lacks(keys, first) {
                return Err(differ(&origins[0], name, origin));
            }
        }
        if first.is_empty() {
            return match said.hive_partitioning {
                Some(true) => Err(bad(
                    table,
                    "hive_partitioning: its files are in no folders like `year=2024`".into(),
                )),
                _ => Ok(None),
            };
        }
        let columns = first.iter().map(|(name, _)| {
            let of_file = |keys: &Keys| keys.iter().find(|(key, _)| key == name)?.1.clone();
            let texts: Vec<Option<String>> = keys.iter().map(of_file).collect();
            let ty = said.types.get(name).copied().unwrap_or_else(|| guessed(&texts));
            Column { name: name.clone(), ty, texts }
        });
        Ok(Some(Folders { columns: columns.collect() }))
    }

    /// What is said of the other columns.
    pub fn others(&self, said: &Said) -> Said {
        let mut others = said.clone();
        others.types.retain(|name, _| self.columns.iter().all(|column| column.name != *name));
        others
    }

    /// What there is to say about them.
    pub fn note(&self, origin: &Origin) -> Note {
        let columns = self.columns.iter().map(|column| format!("{} ({})", column.name, column.ty));
        Note::new(origin.path(), NoteKind::FolderColumns(columns.collect()))
    }

    /// A table with these columns after its own.
    pub fn around(self, table: &str, inner: Arc<dyn Format>) -> Result<InFolders, Error> {
        let origins = inner.origins()?;
        let own = inner.schema();
        let mut fields: Vec<_> = own.fields().iter().cloned().collect();
        let mut values = vec![];
        for Column { name, ty, texts } in &self.columns {
            if own.fields().iter().any(|field| field.name() == name) {
                let path = origins[0].path().to_path_buf();
                let why = format!("`{name}` is a column, and a folder as well");
                return Err(Error::Folders { path, why });
            }
            fields.push(Arc::new(Field::new(name, ty.data_type(), true)));
            let value = |text: &Option<String>| {
                value_of(text.as_deref(), *ty).ok_or_else(|| {
                    let text = text.as_deref().unwrap_or_default();
                    bad(table, format!("types: the folder `{name}={text}` is no {ty}"))
                })
            };
            values.push(texts.iter().map(value).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(InFolders { inner, schema: Arc::new(Schema::new(fields)), values })
    }
}

/// Names and values; none is NULL.
type Keys = Vec<(String, Option<String>)>;

fn keys_of(path: &Path) -> Result<Keys, Error> {
    let wrong = |why: String| Error::Folders { path: path.to_path_buf(), why };
    let text = path.to_string_lossy();
    let Some((folders, _)) = text.rsplit_once('/') else { return Ok(vec![]) };
    let mut keys: Keys = vec![];
    for folder in folders.split('/') {
        let Some((name, value)) = folder.split_once('=').filter(|(name, _)| !name.is_empty())
        else {
            continue;
        };
        let decoded = |text: &str| {
            let decoded = percent_decode_str(text).decode_utf8();
            decoded
                .map(String::from)
                .map_err(|_| wrong(format!("the folder `{folder}` is no UTF-8")))
        };
        let (name, value) = (decoded(name)?, decoded(value)?);
        if keys.iter().any(|(known, _)| *known == name) {
            return Err(wrong(format!("two of its folders are named `{name}=...`")));
        }
        keys.push((name, Some(value).filter(|value| value != NULL)));
    }
    Ok(keys)
}

/// The narrowest type that loses nothing: an integer or a date, if all are. Of `01` to `12`, as months and hours are written, nothing is
/// lost; of longer codes with zeros before them there would be.
fn guessed(texts: &[Option<String>]) -> Type {
    let all = |fits: fn(&str) -> bool| {
        let mut texts = texts.iter().flatten().peekable();
        texts.peek().is_some() && texts.all(|text| fits(text))
    };
    let is_integer =
        |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let is_two_digits =
        |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |text: &str| text.len() == 10 && value_of(Some(text), Type::Date).is_some();
    if all(is_integer) || all(is_two_digits) {
        Type::Int64
    } else if all(is_date) {
        Type::Date
    } else {
        Type::Text
    }
}

/// As an array of one.
fn value_of(text: Option<&str>, ty: Type) -> Option<ArrayRef> {
    let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let options = CastOptions { safe: false, format_options: FormatOptions::default() };
    cast_with_options(&text, &ty.data_type(), &options).ok()
}

/// A table, and the columns of its folders after its own.
#[derive(Debug)]
pub struct InFolders {
    inner: Arc<dyn Format>,
    schema: SchemaRef,
    /// Of each such column, a value of each file.
    values: Vec<Vec<ArrayRef>>,
}

impl Format for InFolders {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        self.inner.origins()
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn as_csv(&self) -> Option<&caudal_csv::Table> {
        self.inner.as_csv()
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        let own_count = self.inner.schema().fields().len();
        let own: Vec<usize> = needed.iter().copied().filter(|at| *at < own_count).collect();
        let content = self.inner.open(&own, options)?;
        if own.len() == needed.len() {
            return Ok(content);
        }
        let fields: Vec<_> = needed.iter().map(|at| self.schema.fields()[*at].clone()).collect();
        let schema = with_position(fields, options.position.as_deref());
        let of_file = |file: usize| {
            let mut next_own = 0..;
            let column = |at: &usize| match at.checked_sub(own_count) {
                Some(folder) => Filled::Constant(Arc::clone(&self.values[folder][file])),
                None => Filled::Own(next_own.next().unwrap_or_default()),
            };
            Arc::new(Fill {
                schema: Arc::clone(&schema),
                columns: needed.iter().map(column).collect(),
            })
        };
        let fills = (0..self.origins()?.len()).map(of_file).collect();
        let chunks = Box::new(ManyFiles { chunks: content.chunks, fills });
        Ok(Content { schema, chunks, ..content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_an_equals_sign_are_keys() {
        let keys = |path: &str| keys_of(Path::new(path)).unwrap();
        let key = |name: &str, value: &str| (name.to_string(), Some(value.to_string()));
        assert_eq!(
            keys("a/year=2024/b/m=a%2Fb=c/x=1.csv"),
            [key("year", "2024"), key("m", "a/b=c")]
        );
        assert_eq!(keys("s3://b/k=/x.csv"), [key("k", "")]);
        assert_eq!(keys("k=__HIVE_DEFAULT_PARTITION__/=/x.csv"), [("k".to_string(), None)]);
        assert_eq!(keys("k=1.csv"), []);
        assert!(keys_of(Path::new("k=1/k=2/x")).is_err());
        assert!(keys_of(Path::new("k=%ff/x")).is_err());
    }

    #[test]
    fn values_are_of_the_narrowest_type_that_loses_nothing() {
        for (texts, ty) in [
            (&["1", "-20"][..], Type::Int64),
            (&["01", "12"], Type::Int64),
            (&["2024-01-31", "1970-01-01"], Type::Date),
            (&["2024-01-31", "2024-02-30"], Type::Text),
            (&["007"], Type::Text),
            (&["01", "1"], Type::Text),
            (&["1", "x"], Type::Text),
            (&["9223372036854775808"], Type::Text),
            (&[], Type::Text),
        ] {
            let texts: Vec<_> =
                texts.iter().map(|text| Some(text.to_string())).chain([None]).collect();
            assert_eq!(guessed(&texts), ty, "{texts:?}");
        }
        assert!(value_of(Some("x"), Type::Int64).is_none());
        assert!(value_of(None, Type::Int64).unwrap().is_null(0));
    }
}
