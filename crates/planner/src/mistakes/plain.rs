//! DataFusion's own words, as plain as they get. The one place where they are looked at.

use arrow::datatypes::{DataType, IntervalUnit};
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// Text of an error, without what it says about DataFusion.
pub fn text(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ArrowError(arrow, _) => arrow_text(arrow),
        DataFusionError::Plan(text)
        | DataFusionError::Execution(text)
        | DataFusionError::Internal(text)
        | DataFusionError::Configuration(text) => cleaned(text),
        // Before it, who has how much, by names of operators.
        DataFusionError::ResourcesExhausted(text) => {
            cleaned(text.rsplit_once("\nError: ").map_or(text, |(_, why)| why))
        }
        DataFusionError::NotImplemented(text) => format!("not supported: {}", cleaned(text)),
        DataFusionError::External(source) => cleaned(&source.to_string()),
        DataFusionError::SchemaError(schema, _) => cleaned(&schema.to_string()),
        DataFusionError::Diagnostic(_, inner) => text(inner),
        other => cleaned(&other.strip_backtrace()),
    }
}

/// Value that did not fit into its type, if that is what an error says.
///
/// Kernels have an error of its own for it ([`ArrowError::ArithmeticOverflow`]); casts and functions have words, in which it is
/// always called by one of a few names.
pub fn overflow(error: &DataFusionError) -> Option<String> {
    if let DataFusionError::ArrowError(arrow, _) = error.find_root()
        && let ArrowError::ArithmeticOverflow(words) = arrow.as_ref()
    {
        return Some(what_overflows(&cleaned(words)));
    }
    let words = text(error);
    let lower = words.to_lowercase();
    let is_of_texts = ["string", "byte array", "start position", "capacity"];
    let is_of_numbers = [
        "overflow",
        "out of range",
        "to store in a decimal",
        "can't cast value",
        "exceeds the representable",
    ];
    let is_overflow = is_of_numbers.iter().any(|name| lower.contains(name))
        && !is_of_texts.iter().any(|name| lower.contains(name));
    is_overflow.then(|| what_overflows(&words))
}

/// `overflow happened on: 9223372036854775807 + 1`: the sum.
fn what_overflows(words: &str) -> String {
    let lower = words.to_lowercase();
    if let Some(cast) = lower.strip_prefix("can't cast value ")
        && let Some((value, _)) = cast.split_once(" to type ")
    {
        let kind = &words[words.len() - (cast.len() - value.len() - " to type ".len())..];
        return format!("{value} as {kind}");
    }
    if lower.starts_with("date arithmetic overflow") {
        return "a date plus or minus an interval".to_string();
    }
    if lower == "timestamp out of range" {
        return "a timestamp plus or minus an interval".to_string();
    }
    let before = ["overflow happened on: ", "overflow happened on ", "overflow on "];
    let after =
        |before: &&str| lower.find(*before).map(|at| lower[at + before.len()..].to_string());
    before.iter().find_map(after).unwrap_or_else(|| words.to_string())
}

fn arrow_text(error: &ArrowError) -> String {
    match error {
        ArrowError::DivideByZero => "division by zero".to_string(),
        ArrowError::CastError(text)
        | ArrowError::ParseError(text)
        | ArrowError::ArithmeticOverflow(text)
        | ArrowError::ComputeError(text)
        | ArrowError::InvalidArgumentError(text)
        | ArrowError::NotYetImplemented(text)
        | ArrowError::SchemaError(text) => cleaned(text),
        ArrowError::ExternalError(source) => cleaned(&source.to_string()),
        other => cleaned(&other.to_string()),
    }
}

/// Text of an error, without what DataFusion and Arrow put around it, and with our names of types.
pub fn cleaned(text: &str) -> String {
    // A backtrace, advice to DataFusion's own developers, or the tree of what they did not expect.
    let ends =
        ["\n\nbacktrace:", "This issue was likely caused by", " { ", "\nCandidate functions"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let mut text = text[..end].trim().trim_end_matches(['.', ':']).to_string();
    for before in ["Error during planning: ", "Internal error: ", "Arrow error: ", "Cast error: "] {
        text = text.replace(before, "");
    }
    for (theirs, ours) in TYPES {
        text = replaced_word(&text, theirs, ours);
    }
    for theirs in ["Decimal32(", "Decimal64(", "Decimal128(", "Decimal256("] {
        text = without_digits(&text, theirs);
    }
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        // Not an abbreviation.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text,
    }
}

/// DECIMAL without its digits, of which an error knows others than were written.
fn without_digits(text: &str, theirs: &str) -> String {
    let mut parts = text.split(theirs);
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |before, after| match after.split_once(')') {
        Some((_, after)) => before + "DECIMAL" + after,
        None => before + theirs + after,
    })
}

const TYPES: [(&str, &str); 15] = [
    ("Utf8View", "TEXT"),
    ("LargeUtf8", "TEXT"),
    ("Utf8", "TEXT"),
    ("Int8", "TINYINT"),
    ("Int16", "SMALLINT"),
    ("Int32", "INT"),
    ("Int64", "BIGINT"),
    ("UInt8", "TINYINT UNSIGNED"),
    ("UInt16", "SMALLINT UNSIGNED"),
    ("UInt32", "INT UNSIGNED"),
    ("UInt64", "BIGINT UNSIGNED"),
    ("Float32", "FLOAT"),
    ("Float64", "DOUBLE"),
    ("Boolean", "BOOLEAN"),
    ("Date32", "DATE"),
];

fn replaced_word(text: &str, from: &str, to: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let goes_on = |c: char| c.is_alphanumeric() || c == '_';
        let is_word = !before.ends_with(goes_on) && !after.starts_with(goes_on);
        replaced.push_str(before);
        replaced.push_str(if is_word { to } else { from });
        rest = after;
    }
    replaced + rest
}

/// A type as SQL calls it.
pub fn type_name(ty: &DataType) -> String {
    match ty {
        DataType::Null => "NULL".to_string(),
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            format!("DECIMAL({p}, {s})")
        }
        DataType::Decimal256(p, s) => format!("DECIMAL({p}, {s})"),
        DataType::Timestamp(_, None) => "TIMESTAMP".to_string(),
        DataType::Timestamp(_, Some(_)) => "TIMESTAMP WITH TIME ZONE".to_string(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".to_string(),
        DataType::Date64 => "DATE".to_string(),
        DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime)
        | DataType::Interval(IntervalUnit::MonthDayNano)
        | DataType::Duration(_) => "INTERVAL".to_string(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", type_name(item.data_type()))
        }
        DataType::Struct(_) => "STRUCT".to_string(),
        DataType::Map(..) => "MAP".to_string(),
        DataType::Dictionary(_, values) => type_name(values),
        other => cleaned(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_about_datafusion_is_left() {
        let error = DataFusionError::Internal("Function sum cannot take Utf8View.\nThis issue was likely caused by a bug in DataFusion's code. Please help us".into());
        assert_eq!(text(&error), "function sum cannot take TEXT");
        let error = DataFusionError::Plan("UInt64 and MyInt64".into()).context("somewhere");
        assert_eq!(text(&error), "BIGINT UNSIGNED and MyInt64");
        let error = DataFusionError::Plan("no Decimal128(38, 10) type, Decimal256(".into());
        assert_eq!(text(&error), "no DECIMAL type, Decimal256(");
        let error = DataFusionError::ArrowError(Box::new(ArrowError::DivideByZero), None);
        assert_eq!(text(&error), "division by zero");
    }
}
