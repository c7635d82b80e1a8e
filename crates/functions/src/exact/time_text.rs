//! `time_text(t)`: a timestamp as text, as it is written in SQL: `2020-01-05 10:00:00.12`, with its zone if it has one.
//!
//! DataFusion's cast writes `2020-01-05T10:00:00.120`. That stays the format of answers.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::Result;
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct TimeText {
    signature: Signature,
}

impl TimeText {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for TimeText {
    fn name(&self) -> &str {
        "time_text"
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
    let options = FormatOptions::default().with_display_error(false);
    let times = ArrayFormatter::try_new(&columns[0], &options)?;
    let mut builder = StringBuilder::new();
    let mut written = String::new();
    for row in 0..columns[0].len() {
        if columns[0].is_null(row) {
            builder.append_null();
            continue;
        }
        written.clear();
        times.value(row).write(&mut written)?;
        builder.append_value(in_sql(&written));
    }
    Ok(Arc::new(builder.finish()))
}

/// SQL text of a time that is written as in ISO 8601.
fn in_sql(written: &str) -> String {
    let Some((date, rest)) = written.split_once('T') else { return written.to_string() };
    let date = date.trim_start_matches('+');
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let time = match time.contains('.') {
        true => time.trim_end_matches('0').trim_end_matches('.'),
        false => time,
    };
    let zone = match zone {
        "Z" => "+00",
        zone => zone.strip_suffix(":00").unwrap_or(zone),
    };
    format!("{date} {time}{zone}")
}

#[cfg(test)]
mod tests {
    use super::in_sql;

    #[test]
    fn times_are_written_as_in_sql() {
        assert_eq!(in_sql("2020-01-05T10:00:00"), "2020-01-05 10:00:00");
        assert_eq!(in_sql("2020-01-05T10:00:00.120"), "2020-01-05 10:00:00.12");
        assert_eq!(in_sql("2020-01-05T10:00:00.000123"), "2020-01-05 10:00:00.000123");
        assert_eq!(in_sql("+12020-01-05T10:00:00"), "12020-01-05 10:00:00");
        assert_eq!(in_sql("2020-01-05T10:00:00Z"), "2020-01-05 10:00:00+00");
        assert_eq!(in_sql("2020-01-05T10:00:00.5-04:00"), "2020-01-05 10:00:00.5-04");
        assert_eq!(in_sql("2020-01-05T10:00:00+05:30"), "2020-01-05 10:00:00+05:30");
    }
}
