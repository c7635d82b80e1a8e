//! `split_part_back(s, d, n)`: `split_part` with an `n` that may be negative.
//!
//! The parts are the same from whichever end they are counted. DataFusion's looks for delimiters from the end, and finds others:
//! there are two ways to find `bb` in `abbbc`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SplitPartBack {
    signature: Signature,
}

impl SplitPartBack {
    pub fn new() -> Self {
        let kinds = vec![DataType::Utf8, DataType::Utf8, DataType::Int64];
        Self { signature: Signature::exact(kinds, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SplitPartBack {
    fn name(&self) -> &str {
        "split_part_back"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(parts, vec![])(&arguments.args)
    }
}

fn parts(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = cast(&columns[0], &DataType::Utf8)?;
    let delimiters = cast(&columns[1], &DataType::Utf8)?;
    let numbers = cast(&columns[2], &DataType::Int64)?;
    let rows = texts.as_string::<i32>().iter().zip(delimiters.as_string::<i32>());
    let rows = rows.zip(numbers.as_primitive::<Int64Type>());
    let parts = rows.map(|((text, delimiter), number)| match (text, delimiter, number) {
        (Some(text), Some(delimiter), Some(number)) => part(text, delimiter, number).map(Some),
        _ => Ok(None),
    });
    Ok(Arc::new(parts.collect::<Result<StringArray>>()?))
}

fn part<'a>(text: &'a str, delimiter: &str, number: i64) -> Result<&'a str> {
    if number == 0 {
        return exec_err!("the field position of split_part must not be zero");
    }
    let parts: Vec<&str> = match delimiter.is_empty() {
        true => vec![text],
        false => text.split(delimiter).collect(),
    };
    let count = parts.len() as i64;
    let at = if number > 0 { number - 1 } else { count.saturating_add(number) };
    let part = usize::try_from(at).ok().and_then(|at| parts.get(at));
    Ok(part.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_are_the_same_from_either_end() {
        assert_eq!(part("abbbc", "bb", 1).unwrap(), "a");
        assert_eq!(part("abbbc", "bb", -1).unwrap(), "bc");
        assert_eq!(part("abbbc", "bb", -2).unwrap(), "a");
        assert_eq!(part("abbbc", "bb", -3).unwrap(), "");
        assert_eq!(part("a", "", -1).unwrap(), "a");
        assert_eq!(part("a,b", ",", i64::MIN).unwrap(), "");
        assert!(part("a", ",", 0).is_err());
    }
}
