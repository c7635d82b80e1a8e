//! What can be said of a table's files: the same words in `suite.toml`, on the command line and in a program.

use std::collections::BTreeMap;
use std::path::Path;

use caudal_csv::{Dialect, Encoding, TimeFormat, Type, Unsaid};
use serde::Deserialize;

use crate::Error;
use crate::manifest::parse_type;
use crate::mistakes::{bare_word, open_brace};
use crate::words::TYPES;

/// How the files of a table are written, and of which types its columns are, as far as it is known. The rest is guessed.
///
/// ```
/// # use caudal_suite::TableOptions;
/// let said = TableOptions::new().delimiter(b';').null("NA").header(false);
/// assert_eq!(said, TableOptions::parse(r#"{delimiter=";", null="NA", header=false}"#).unwrap());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    dialect: Dialect,
    is_delimiter_said: bool,
    is_encoding_said: bool,
    fields: Option<usize>,
    types: BTreeMap<String, Type>,
    union_by_name: bool,
    hive_partitioning: Option<bool>,
}

impl TableOptions {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// From text: a table of TOML in braces, `{delimiter=";", null="NA"}`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Said {
            options: RawDialect,
        }
        let bad = |message: String| Error::BadOptions { text: text.to_string(), message };
        let said: Said = toml::from_str(&format!("options = {text}")).map_err(|error| {
            let told = || error.message().trim_end().replace('\n', ", ");
            bad(bare_word(text).unwrap_or_else(told))
        })?;
        said.options.options().map_err(bad)
    }

    /// The files of a table, and what is said of them: `games.csv{delimiter=";"}`. A file may have braces in its name.
    pub fn split(source: &str) -> Result<(&str, Self), Error> {
        if Path::new(source).exists() {
            return Ok((source, Self::new()));
        }
        let source = source.trim_end();
        if let Some((text, message)) = open_brace(source) {
            return Err(Error::BadOptions { text: text.to_string(), message });
        }
        if !source.ends_with('}') {
            return Ok((source, Self::new()));
        }
        let braces = source.match_indices('{').map(|(at, _)| source.split_at(at));
        // Nobody means a blank before the brace.
        let mut tried = braces.map(|(files, text)| (files.trim_end(), Self::parse(text)));
        let Some((files, first)) = tried.next() else { return Ok((source, Self::new())) };
        match first {
            Ok(options) => Ok((files, options)),
            Err(wrong) => match tried.find_map(|(files, options)| Some((files, options.ok()?))) {
                Some(found) if Path::new(found.0).exists() => Ok(found),
                _ => Err(wrong),
            },
        }
    }

    /// The byte between two fields.
    pub fn delimiter(mut self, byte: u8) -> Self {
        self.dialect.delimiter = byte;
        self.is_delimiter_said = true;
        self
    }

    /// The encoding of the files.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.dialect.encoding = encoding;
        self.is_encoding_said = true;
        self
    }

    /// The byte around fields; `None` where there is none.
    pub fn quote(mut self, byte: impl Into<Option<u8>>) -> Self {
        self.dialect.quote = byte.into();
        self
    }

    /// The byte that makes the next an ordinary character.
    pub fn escape(mut self, byte: u8) -> Self {
        self.dialect.escape = Some(byte);
        self
    }

    /// The byte that a line begins with that is a comment.
    pub fn comment(mut self, byte: u8) -> Self {
        self.dialect.comment = Some(byte);
        self
    }

    /// Whether the first record has names; without them columns are `c1`, `c2`, …
    pub fn header(mut self, has_header: bool) -> Self {
        self.dialect.has_header = has_header;
        self
    }

    /// How many lines are before the first record.
    pub fn skip(mut self, lines: usize) -> Self {
        self.dialect.skip_lines = lines;
        self
    }

    /// Another text that stands for NULL.
    pub fn null(mut self, text: impl Into<String>) -> Self {
        self.dialect.formats.nulls.push(text.into());
        self
    }

    /// How many fields a record has, where the header is wrong about it.
    pub fn fields(mut self, count: usize) -> Self {
        self.fields = Some(count);
        self
    }

    /// The type of a column.
    pub fn column(mut self, name: impl Into<String>, ty: Type) -> Self {
        self.types.insert(name.into(), ty);
        self
    }

    /// Whether the table has the columns of all its files, NULL where a file has not one, rather than those of the first, which
    /// all others have to have.
    pub fn union_by_name(mut self, is_union: bool) -> Self {
        self.union_by_name = is_union;
        self
    }

    /// Whether folders like `year=2024` are columns. If it is not said, they are where a folder or a pattern is named.
    pub fn hive_partitioning(mut self, are_columns: bool) -> Self {
        self.hive_partitioning = Some(are_columns);
        self
    }

    /// How the files are written, as far as it is said.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// What is to be found out.
    pub fn unsaid(&self) -> Unsaid {
        Unsaid { delimiter: !self.is_delimiter_said, encoding: !self.is_encoding_said }
    }

    /// How many fields a record has, where that is said.
    pub fn field_count(&self) -> Option<usize> {
        self.fields
    }

    /// Whether the table has the columns of all its files.
    pub fn is_union_by_name(&self) -> bool {
        self.union_by_name
    }

    /// Whether folders are columns, where that is said.
    pub fn are_folders_columns(&self) -> Option<bool> {
        self.hive_partitioning
    }

    /// The types that are said, by the names of their columns.
    pub fn types(&self) -> &BTreeMap<String, Type> {
        &self.types
    }
}

/// A dialect that is known, with its delimiter.
impl From<Dialect> for TableOptions {
    fn from(dialect: Dialect) -> Self {
        Self { dialect, is_delimiter_said: true, is_encoding_said: true, ..Self::default() }
    }
}

/// As TOML has it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDialect {
    encoding: Option<String>,
    delimiter: Option<RawByte>,
    quote: Option<RawByte>,
    escape: Option<RawByte>,
    comment: Option<RawByte>,
    header: Option<bool>,
    skip: Option<usize>,
    fields: Option<usize>,
    #[serde(default)]
    null: Texts,
    #[serde(default, rename = "true")]
    truths: Texts,
    #[serde(default, rename = "false")]
    falsehoods: Texts,
    decimal: Option<RawByte>,
    thousands: Option<RawByte>,
    date: Option<String>,
    timestamp: Option<String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
    #[serde(default)]
    union_by_name: bool,
    hive_partitioning: Option<bool>,
}

/// A byte: as a character, by its name or as a number; or that there is none.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawByte {
    Number(u8),
    Text(String),
    None(bool),
}

/// One text, or several.
#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Texts {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl RawByte {
    fn byte(&self, what: &str) -> Result<Option<u8>, String> {
        match self {
            RawByte::Number(byte) => Ok(Some(*byte)),
            RawByte::None(false) => Ok(None),
            RawByte::Text(text) => match text.as_bytes() {
                [] => Ok(None),
                [byte] => Ok(Some(*byte)),
                b"tab" => Ok(Some(b'\t')),
                _ => Err(format!("{what}: `{text}` is not one character (or a byte as a number)")),
            },
            RawByte::None(true) => {
                Err(format!("{what}: true says nothing; which character is it?"))
            }
        }
    }
}

impl From<Texts> for Vec<String> {
    fn from(texts: Texts) -> Self {
        match texts {
            Texts::None => vec![],
            Texts::One(text) => vec![text],
            Texts::Many(texts) => texts,
        }
    }
}

impl RawDialect {
    /// What is said; or what is wrong with it.
    pub fn options(self) -> Result<TableOptions, String> {
        let mut options = TableOptions::new();
        if let Some(name) = &self.encoding {
            let unknown = || format!("encoding: `{name}` is none of {}", Encoding::names());
            options = options.encoding(Encoding::named(name).ok_or_else(unknown)?);
        }
        let dialect = &mut options.dialect;
        if let Some(byte) = &self.delimiter {
            dialect.delimiter = byte.byte("delimiter")?.ok_or("delimiter: there has to be one")?;
            options.is_delimiter_said = true;
        }
        let set = |byte: Option<RawByte>, what: &str, to: &mut Option<u8>| {
            byte.map_or(Ok(()), |byte| byte.byte(what).map(|byte| *to = byte))
        };
        set(self.quote, "quote", &mut dialect.quote)?;
        set(self.escape, "escape", &mut dialect.escape)?;
        set(self.comment, "comment", &mut dialect.comment)?;
        if dialect.escape == dialect.quote {
            // Others call it so that a quote is doubled.
            dialect.escape = None;
        }
        dialect.has_header = self.header.unwrap_or(true);
        dialect.skip_lines = self.skip.unwrap_or(0);
        options.fields = self.fields;
        options.union_by_name = self.union_by_name;
        options.hive_partitioning = self.hive_partitioning;
        let formats = &mut options.dialect.formats;
        formats.nulls = self.null.into();
        formats.truths = self.truths.into();
        formats.falsehoods = self.falsehoods.into();
        if let Some(byte) = self.decimal {
            formats.decimal = byte.byte("decimal")?.ok_or("decimal: there has to be one")?;
        }
        set(self.thousands, "thousands", &mut formats.thousands)?;
        formats.date = self.date.map(|text| TimeFormat::new(&text)).transpose()?;
        formats.timestamp = self.timestamp.map(|text| TimeFormat::new(&text)).transpose()?;
        for (name, ty) in self.types {
            let unknown =
                || format!("types: column `{name}` has unknown type `{ty}`: it is one of {TYPES}");
            options.types.insert(name.clone(), parse_type(&ty).ok_or_else(unknown)?);
        }
        match options.dialect.contradiction() {
            // A delimiter that is still to be found cannot contradict anything.
            Some(why) if options.is_delimiter_said || !why.contains("delimiter") => Err(why),
            _ => Ok(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    #[test]
    fn all_that_can_be_said() {
        let said = TableOptions::parse(
            r##"{encoding="latin-1", delimiter="tab", quote="'", escape='\', comment="#", header=false, skip=2,
                null=["NA", '\N'], true="Y", false="N", decimal=",", thousands=".",
                date="%d/%m/%Y", timestamp="%d/%m/%Y %H:%M", types={c1="decimal(8,2)"},
                union_by_name=true, hive_partitioning=false}"##
                .replace('\n', "")
                .as_str(),
        )
        .unwrap();
        let dialect = said.dialect();
        assert_eq!(dialect.encoding, Encoding::Latin1);
        assert_eq!((dialect.delimiter, dialect.quote), (b'\t', Some(b'\'')));
        assert_eq!((dialect.escape, dialect.comment), (Some(b'\\'), Some(b'#')));
        assert_eq!((dialect.has_header, dialect.skip_lines), (false, 2));
        assert_eq!(dialect.formats.nulls, ["NA", "\\N"]);
        assert_eq!((dialect.formats.decimal, dialect.formats.thousands), (b',', Some(b'.')));
        assert_eq!(said.types()["c1"], Type::Decimal { precision: 8, scale: 2 });
        assert_eq!(said.unsaid(), Unsaid::default());
        assert_eq!((said.is_union_by_name(), said.are_folders_columns()), (true, Some(false)));
    }

    #[test]
    fn options_are_in_braces_after_the_files() {
        let split =
            |text| TableOptions::split(text).map(|(files, options)| (files.to_string(), options));
        assert_eq!(split("a.csv").unwrap().0, "a.csv");
        assert_eq!(split("a{1}.csv").unwrap().0, "a{1}.csv");
        let (files, options) = split("a.csv{delimiter=';', types={x='int'}}").unwrap();
        assert_eq!((files.as_str(), options.dialect().delimiter), ("a.csv", b';'));
        assert_eq!(options.types().len(), 1);
        let (files, options) = split("a.csv {delimiter=';'} ").unwrap();
        assert_eq!((files.as_str(), options.dialect().delimiter), ("a.csv", b';'));
        let open = split("a.csv{delimiter=';'").unwrap_err().to_string();
        assert!(open.contains("the brace is not closed"), "{open}");
        assert!(split("a.csv{delimiter=;}").is_err());
        assert!(split("a.csv{nul='x'}").is_err());
    }

    #[test]
    fn what_is_not_said_is_as_ever() {
        let nothing = TableOptions::parse("{}").unwrap();
        assert_eq!(nothing, TableOptions::new());
        assert_eq!(nothing.unsaid(), Unsaid { delimiter: true, encoding: true });
        let doubled = TableOptions::parse(r#"{escape='"'}"#).unwrap();
        assert_eq!(doubled, TableOptions::new());
        assert_eq!(TableOptions::parse("{quote=false}").unwrap().dialect().quote, None);
        assert_eq!(TableOptions::parse("{delimiter=1}").unwrap().dialect().delimiter, 1);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("{delimeter=';'}", "unknown field `delimeter`"),
            ("{delimiter=';;'}", "`;;` is not one character"),
            ("{delimiter=''}", "there has to be one"),
            ("{delimiter='\"'}", "the quote and the delimiter are the same"),
            ("{date='%d'}", "does not say the year"),
            ("{types={a='money'}}", "unknown type `money`: it is one of int, float, decimal("),
            ("{date='dd/mm/yyyy'}", "is `%d/%m/%Y` meant?"),
            ("{null=NA}", "texts stand in quotes: null=\"NA\""),
            ("{header=no}", "it is true or false"),
            ("{decimal='.', thousands='.'}", "are the same"),
            ("{encoding='ebcdic'}", "`ebcdic` is none of utf-8, "),
            ("{", ""),
        ] {
            let error = TableOptions::parse(text).unwrap_err();
            assert_eq!(error.code(), codes::BAD_DIALECT);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
