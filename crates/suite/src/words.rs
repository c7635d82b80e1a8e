//! Words of the options for what is known of a table: what is printed can be said again.

use caudal_csv::{Dialect, Encoding, Type};
use toml::Value;

/// The types that a column can be said to be.
pub(crate) const TYPES: &str = "int, float, decimal(digits,scale), text, bool, date and timestamp";

/// The name that options have for a type.
pub fn type_name(ty: Type) -> String {
    ty.word()
}

/// A dialect as options say it: the delimiter, and what is not as usual.
pub fn dialect_options(dialect: &Dialect, fields: Option<usize>) -> String {
    let usual = Dialect::default();
    let mut said = vec![format!("delimiter={}", byte(dialect.delimiter))];
    let mut say = |name: &str, value: String| said.push(format!("{name}={value}"));
    if dialect.encoding != Encoding::Utf8 {
        say("encoding", text(dialect.encoding.name()));
    }
    if dialect.quote != usual.quote {
        say("quote", dialect.quote.map_or("false".to_string(), byte));
    }
    for (name, it) in [("escape", dialect.escape), ("comment", dialect.comment)] {
        it.into_iter().for_each(|it| say(name, byte(it)));
    }
    if !dialect.has_header {
        say("header", "false".to_string());
    }
    if dialect.skip_lines > 0 {
        say("skip", dialect.skip_lines.to_string());
    }
    fields.into_iter().for_each(|fields| say("fields", fields.to_string()));
    let formats = &dialect.formats;
    let lists =
        [("null", &formats.nulls), ("true", &formats.truths), ("false", &formats.falsehoods)];
    for (name, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        say(name, format!("[{}]", texts.iter().map(text).collect::<Vec<_>>().join(", ")));
    }
    if formats.decimal != usual.formats.decimal {
        say("decimal", byte(formats.decimal));
    }
    formats.thousands.into_iter().for_each(|it| say("thousands", byte(it)));
    for (name, format) in [("date", &formats.date), ("timestamp", &formats.timestamp)] {
        format.iter().for_each(|format| say(name, text(format.to_string())));
    }
    format!("{{{}}}", said.join(", "))
}

fn byte(byte: u8) -> String {
    match byte {
        b'\t' | b' '..=b'~' => text(char::from(byte).to_string()),
        other => other.to_string(),
    }
}

fn text(text: impl Into<String>) -> String {
    Value::String(text.into()).to_string()
}

#[cfg(test)]
mod tests {
    use caudal_csv::{Formats, TimeFormat};

    use super::*;
    use crate::TableOptions;
    use crate::manifest::parse_type;

    #[test]
    fn what_is_printed_can_be_said_again() {
        let formats = Formats {
            nulls: vec!["NA".into(), "\\N".into(), "\"".into()],
            truths: vec!["sí".into()],
            falsehoods: vec!["no".into()],
            decimal: b',',
            thousands: Some(b'\''),
            date: Some(TimeFormat::new("%d/%m/%Y").unwrap()),
            timestamp: Some(TimeFormat::new("%F %T").unwrap()),
        };
        let unusual = Dialect {
            encoding: Encoding::Utf16,
            delimiter: b'\t',
            quote: None,
            escape: Some(b'\\'),
            comment: Some(b'#'),
            has_header: false,
            skip_lines: 3,
            formats,
        };
        let bytes = Dialect { delimiter: 1, quote: Some(b'\''), ..Dialect::default() };
        for (dialect, fields) in [(Dialect::default(), None), (unusual, Some(7)), (bytes, None)] {
            let said = TableOptions::parse(&dialect_options(&dialect, fields)).unwrap();
            assert_eq!((said.dialect(), said.field_count()), (&dialect, fields));
        }
        assert_eq!(dialect_options(&Dialect::default(), None), r#"{delimiter=","}"#);
    }

    #[test]
    fn a_type_has_the_name_that_it_is_declared_with() {
        let decimal = Type::Decimal { precision: 8, scale: 2 };
        for ty in [
            Type::Text,
            Type::Int64,
            Type::Float64,
            Type::Boolean,
            Type::Date,
            Type::Timestamp,
            decimal,
        ] {
            assert_eq!(parse_type(&type_name(ty)), Some(ty));
        }
        for (word, ty) in [
            ("INTEGER", Type::Int64),
            ("bigint", Type::Int64),
            ("varchar(20)", Type::Text),
            ("string", Type::Text),
            ("double precision", Type::Float64),
            ("Boolean", Type::Boolean),
            ("datetime", Type::Timestamp),
            ("NUMERIC(8, 2)", decimal),
            ("decimal(8)", Type::Decimal { precision: 8, scale: 0 }),
        ] {
            assert_eq!(parse_type(word), Some(ty), "{word}");
        }
        assert_eq!(parse_type("varchar(x)"), None);
        assert_eq!(parse_type("money"), None);
    }
}
