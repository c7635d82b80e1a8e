//! `zoneless(s)`: the text of a time without its zone, and with its seconds.
//!
//! What has no zone is not moved by one: `CAST('2020-01-05 10:00:00+02' AS TIMESTAMP)` is ten o'clock, as in PostgreSQL and DuckDB.
//! DataFusion takes it for eight, and a DATE for that of London. `10:00` it does not read.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Zoneless {
    signature: Signature,
}

impl Zoneless {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Zoneless {
    fn name(&self) -> &str {
        "zoneless"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(texts, vec![])(&arguments.args)
    }
}

fn texts(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let column = cast(&columns[0], &DataType::Utf8)?;
    let texts = column.as_string::<i32>();
    let changes = |text: &str| matches!(without_zone(text), Cow::Owned(_));
    if !texts.iter().flatten().any(changes) {
        return Ok(column);
    }
    let texts = texts.iter().map(|text| text.map(without_zone));
    Ok(Arc::new(texts.collect::<StringArray>()))
}

fn without_zone(text: &str) -> Cow<'_, str> {
    let whole = text.trim();
    let Some((date, rest)) = whole.split_once(['T', 't', ' ']) else { return text.into() };
    let is_time = |letter: char| letter.is_ascii_digit() || letter == ':' || letter == '.';
    let (time, zone) = rest.split_at(rest.find(|letter| !is_time(letter)).unwrap_or(rest.len()));
    let zone = zone.trim();
    let colons = time.matches(':').count();
    let is_zone = zone.is_empty() || zone.eq_ignore_ascii_case("z") || zone.parse::<Tz>().is_ok();
    let is_complete = zone.is_empty() && colons == 2;
    if !is_zone || is_complete || !(1..=2).contains(&colons) {
        return text.into();
    }
    let seconds = if colons == 1 { ":00" } else { "" };
    format!("{date} {time}{seconds}").into()
}

#[cfg(test)]
mod tests {
    use super::without_zone;

    #[test]
    fn zones_go_and_seconds_come() {
        for (text, expected) in [
            ("2020-01-05 10:00:00+02", "2020-01-05 10:00:00"),
            ("2020-01-05T10:00:00.5-05:30", "2020-01-05 10:00:00.5"),
            ("2020-01-05 10:00:00 +0200", "2020-01-05 10:00:00"),
            ("2020-01-05T10:00:00Z", "2020-01-05 10:00:00"),
            ("2020-01-05 10:00:00 America/New_York", "2020-01-05 10:00:00"),
            ("2020-01-05 10:00", "2020-01-05 10:00:00"),
            ("2020-01-05T10:00Z", "2020-01-05 10:00:00"),
        ] {
            assert_eq!(without_zone(text), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_zone_stays() {
        for text in [
            "2020-01-05",
            "2020-01-05 10:00:00",
            "2020-01-05T10:00:00.25",
            "10:00:00 PM",
            "",
            "a b",
        ] {
            assert_eq!(without_zone(text), text);
        }
        assert_eq!(without_zone("2020-01-05 10:00 PM"), "2020-01-05 10:00 PM");
    }
}
