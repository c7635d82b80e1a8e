//! Types of columns, guessed from the values that a sample has.

use arrow::datatypes::{DataType, Field, Fields};
use caudal_core::limits;

use super::cursor::{Cursor, Wrong};
use crate::types::list;

/// What the values so far have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Guess {
    /// Nothing but null.
    #[default]
    Any,
    Boolean,
    Integer,
    /// An integer that 64 bits do not hold: as a float it could not be told from its neighbours.
    LargeInteger,
    Float,
    List(Box<Guess>),
    Object(Vec<(String, Guess)>),
    /// Text, or values that have nothing in common: they are told as text.
    Text,
}

/// Digits that a decimal holds.
const LARGE_DIGITS_MAX: u8 = 38;

impl Guess {
    /// Looks at the value that comes next. What is wrong with it is told; what was seen before counts.
    pub fn look_at(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Wrong> {
        match cursor.peek() {
            Some(b'{') => self.look_at_object(cursor),
            Some(b'[') => self.look_at_array(cursor),
            Some(b'"') => {
                cursor.skip()?;
                self.join(Guess::Text);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => {
                let number = of_number(cursor.number()?);
                self.join(number);
                Ok(())
            }
            Some(b't' | b'f') => {
                cursor.skip()?;
                self.join(Guess::Boolean);
                Ok(())
            }
            _ => cursor.skip(),
        }
    }

    fn look_at_object(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Wrong> {
        if *self == Guess::Any {
            *self = Guess::Object(vec![]);
        }
        let Guess::Object(fields) = self else {
            *self = Guess::Text;
            return cursor.skip();
        };
        // Names come in the same order nearly always.
        let mut next = 0;
        cursor.object(|cursor, name| {
            let name = std::str::from_utf8(name).unwrap_or_default();
            let at = match fields.get(next) {
                Some((known, _)) if known == name => next,
                _ => fields.iter().position(|(known, _)| known == name).unwrap_or(fields.len()),
            };
            next = at + 1;
            if at > limits::JSON_NAMES_MAX {
                return cursor.skip();
            }
            if at == fields.len() {
                fields.push((name.to_string(), Guess::Any));
            }
            fields[at].1.look_at(cursor)
        })
    }

    fn look_at_array(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Wrong> {
        if *self == Guess::Any {
            *self = Guess::List(Box::default());
        }
        let Guess::List(item) = self else {
            *self = Guess::Text;
            return cursor.skip();
        };
        cursor.array(|cursor| item.look_at(cursor))
    }

    pub fn join(&mut self, other: Guess) {
        use Guess::{Any, Float, Integer, LargeInteger, Text};
        let joined = match (&*self, other) {
            (Any, other) => other,
            (_, Any) => return,
            (known, other) if *known == other => return,
            (Integer | LargeInteger | Float, Float) | (Float, Integer | LargeInteger) => Float,
            (Integer, LargeInteger) | (LargeInteger, Integer) => LargeInteger,
            _ => Text,
        };
        *self = joined;
    }

    /// Whether an object has more names than rows have.
    pub fn has_too_many_names(&self) -> bool {
        matches!(self, Guess::Object(fields) if fields.len() > limits::JSON_NAMES_MAX)
    }

    pub fn data_type(&self) -> DataType {
        match self {
            Guess::Boolean => DataType::Boolean,
            Guess::Integer => DataType::Int64,
            Guess::LargeInteger => DataType::Decimal128(LARGE_DIGITS_MAX, 0),
            Guess::Float => DataType::Float64,
            Guess::List(item) => list(item.data_type()),
            Guess::Object(fields) if !fields.is_empty() && !self.has_too_many_names() => {
                let field =
                    |(name, guess): &(String, Guess)| Field::new(name, guess.data_type(), true);
                DataType::Struct(fields.iter().map(field).collect::<Fields>())
            }
            Guess::Any | Guess::Text | Guess::Object(_) => DataType::Utf8,
        }
    }
}

fn of_number(number: &[u8]) -> Guess {
    if number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return Guess::Float;
    }
    let text = std::str::from_utf8(number).unwrap_or_default();
    match (text.parse::<i64>(), text.trim_start_matches('-').len() <= usize::from(LARGE_DIGITS_MAX))
    {
        (Ok(_), _) => Guess::Integer,
        (Err(_), true) => Guess::LargeInteger,
        (Err(_), false) => Guess::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(values: &str) -> String {
        let mut guess = Guess::default();
        let mut cursor = Cursor::new(values.as_bytes());
        while cursor.peek().is_some() {
            guess.look_at(&mut cursor).unwrap();
        }
        guess.data_type().to_string()
    }

    #[test]
    fn the_narrowest_type_that_fits_every_value() {
        for (values, expected) in [
            ("1 null -2", "Int64"),
            ("1 2.5", "Float64"),
            ("1 9223372036854775808", "Decimal128(38, 0)"),
            ("1e3 9223372036854775808", "Float64"),
            ("true null", "Boolean"),
            ("\"a\"", "Utf8"),
            ("1 \"a\"", "Utf8"),
            ("true 1", "Utf8"),
            ("null", "Utf8"),
            ("{}", "Utf8"),
            ("[1] [] [2.5, null]", "List(Float64)"),
            ("[]", "List(Utf8)"),
            ("[1] 1", "Utf8"),
            ("1 [1]", "Utf8"),
            ("{\"a\":1} {\"b\":[true],\"a\":null}", "Struct(\"a\": Int64, \"b\": List(Boolean))"),
        ] {
            assert_eq!(ty(values), expected, "{values}");
        }
        assert_eq!(ty(&"1".repeat(39)), "Utf8");
    }
}
