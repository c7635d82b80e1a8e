//! `like_pattern(p, e)` and `similar_pattern(p, e)`: patterns of LIKE and SIMILAR TO, said in what DataFusion understands.
//!
//! Its LIKE knows no other escape than a backslash, and its SIMILAR TO takes SQL's patterns for regular expressions.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err};
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Like,
    SimilarTo,
}

impl Kind {
    /// The pattern with backslashes for escapes, or the regular expression that it stands for.
    pub fn translate(self, pattern: &str, escape: char) -> Result<String> {
        match self {
            Kind::Like => like(pattern, escape),
            Kind::SimilarTo => similar(pattern, escape),
        }
    }
}

fn ends_with_escape<T>() -> Result<T> {
    exec_err!("a pattern must not end with its escape character")
}

fn like(pattern: &str, escape: char) -> Result<String> {
    let mut translated = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == escape {
            let Some(escaped) = letters.next() else { return ends_with_escape() };
            translated.extend(['\\', escaped]);
        } else if letter == '\\' {
            translated.push_str("\\\\");
        } else {
            translated.push(letter);
        }
    }
    Ok(translated)
}

/// As PostgreSQL does it: `%` and `_` are LIKE's, what has no meaning in SQL is meant literally, the rest is the regular
/// expression's; and it is about the whole text.
fn similar(pattern: &str, escape: char) -> Result<String> {
    let mut translated = String::from("(?s)^(?:");
    let mut letters = pattern.chars().peekable();
    let mut in_brackets = false;
    while let Some(letter) = letters.next() {
        match letter {
            _ if letter == escape => {
                let Some(escaped) = letters.next() else { return ends_with_escape() };
                translated.extend(['\\', escaped]);
            }
            '[' if !in_brackets => {
                in_brackets = true;
                translated.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    translated.push('^');
                }
                // The first one does not end them.
                if letters.next_if_eq(&']').is_some() {
                    translated.push_str("\\]");
                }
            }
            '[' if letters.peek() == Some(&':') => {
                translated.push('[');
                for inner in letters.by_ref() {
                    translated.push(inner);
                    if inner == ']' {
                        break;
                    }
                }
            }
            ']' if in_brackets => {
                in_brackets = false;
                translated.push(']');
            }
            // What means something only here.
            '[' | '\\' | '&' | '~' if in_brackets => translated.extend(['\\', letter]),
            _ if in_brackets => translated.push(letter),
            '%' => translated.push_str(".*"),
            '_' => translated.push('.'),
            '(' => translated.push_str("(?:"),
            '\\' | '.' | '^' | '$' => translated.extend(['\\', letter]),
            _ => translated.push(letter),
        }
    }
    translated.push_str(")$");
    Ok(translated)
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    kind: Kind,
    signature: Signature,
}

impl Pattern {
    pub fn new(kind: Kind) -> Self {
        Self { kind, signature: Signature::string(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Pattern {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Like => "like_pattern",
            Kind::SimilarTo => "similar_pattern",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let kind = self.kind;
        make_scalar_function(move |columns| translated(kind, columns), vec![])(&arguments.args)
    }
}

fn translated(kind: Kind, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let patterns = cast(&columns[0], &DataType::Utf8)?;
    let escapes = cast(&columns[1], &DataType::Utf8)?;
    let both = patterns.as_string::<i32>().iter().zip(escapes.as_string::<i32>());
    let translated = both.map(|(pattern, escape)| {
        let escape = escape.and_then(|escape| escape.chars().next());
        pattern.zip(escape).map(|(pattern, escape)| kind.translate(pattern, escape)).transpose()
    });
    Ok(Arc::new(translated.collect::<Result<StringArray>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_like_become_backslashes() {
        assert_eq!(like("a!%b%", '!').unwrap(), "a\\%b%");
        assert_eq!(like("a!!_", '!').unwrap(), "a\\!_");
        assert_eq!(like("a\\%", '!').unwrap(), "a\\\\%");
        assert_eq!(like("%%%_", '%').unwrap(), "\\%\\_");
        assert!(like("a!", '!').is_err());
    }

    #[test]
    fn patterns_of_similar_to_become_regular_expressions() {
        assert_eq!(similar("(a|b)%", '\\').unwrap(), "(?s)^(?:(?:a|b).*)$");
        assert_eq!(similar("a.c_", '\\').unwrap(), "(?s)^(?:a\\.c.)$");
        assert_eq!(similar("a!%", '!').unwrap(), "(?s)^(?:a\\%)$");
        assert_eq!(similar("[%_]+", '\\').unwrap(), "(?s)^(?:[%_]+)$");
        assert_eq!(similar("[[:alpha:]x]", '\\').unwrap(), "(?s)^(?:[[:alpha:]x])$");
        assert_eq!(similar("[^]a]", '\\').unwrap(), "(?s)^(?:[^\\]a])$");
        assert!(similar("a\\", '\\').is_err());
    }
}
