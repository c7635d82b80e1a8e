//! `replacement(r)`: the replacement of `regexp_replace` as PostgreSQL knows it, said in what DataFusion understands.
//!
//! `\1` to `\9` are groups, `\&` is all that was found, `\\` a backslash; whatever else there is, `$` too, is meant literally. To
//! DataFusion `$1` and `\12` are groups as well, and `\\1` is one, too.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// A group that no pattern has, so that nothing stands for it: it keeps a backslash from the digit that follows.
const NOTHING: &str = "${_}";

pub fn translate(replacement: &str) -> String {
    let mut translated = String::with_capacity(replacement.len());
    let mut letters = replacement.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' => translated.push_str("$$"),
            '\\' => match letters.peek() {
                Some(group @ '1'..='9') => {
                    translated.extend(['$', '{', *group, '}']);
                    letters.next();
                }
                Some('&') => {
                    translated.push_str("${0}");
                    letters.next();
                }
                next => {
                    if next == Some(&'\\') {
                        letters.next();
                    }
                    translated.push('\\');
                    translated.push_str(NOTHING);
                }
            },
            other => translated.push(other),
        }
    }
    translated
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Replacement {
    signature: Signature,
}

impl Replacement {
    pub fn new() -> Self {
        Self { signature: Signature::string(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Replacement {
    fn name(&self) -> &str {
        "replacement"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(translated, vec![])(&arguments.args)
    }
}

fn translated(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = cast(&columns[0], &DataType::Utf8)?;
    let texts = texts.as_string::<i32>().iter();
    Ok(Arc::new(texts.map(|text| text.map(translate)).collect::<StringArray>()))
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn replacements_are_what_they_are_in_postgresql() {
        assert_eq!(translate("[\\1]"), "[${1}]");
        assert_eq!(translate("\\12"), "${1}2");
        assert_eq!(translate("$1"), "$$1");
        assert_eq!(translate("\\&\\&"), "${0}${0}");
        assert_eq!(translate("\\\\1"), "\\${_}1");
        assert_eq!(translate("\\0"), "\\${_}0");
        assert_eq!(translate("a\\"), "a\\${_}");
        assert_eq!(translate("plain"), "plain");
    }
}
