//! What columns of text would be, if it were said how their values are written: `NA` for NULL, decimal commas, dates in
//! another order.

use std::collections::BTreeMap;

use crate::formats::Formats;
use crate::guess::Guess;
use crate::note::NoteKind;
use crate::spec::{Column, Type};
use crate::time_format::TimeFormat;

/// Texts that often stand for NULL.
pub const NULLS: [&str; 11] =
    ["NA", "N/A", "n/a", "NULL", "Null", "null", "None", "NaN", "nan", "-", "\\N"];

/// Orders of dates, each alone and before a time.
const DATES: [&str; 6] = ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%d %b %Y"];
const TIMES: [&str; 3] = ["%H:%M:%S", "%H:%M", "%I:%M %p"];

/// Instants as programs write them.
const INSTANTS: [&str; 3] = ["%FT%TZ", "%FT%T.%fZ", "%F %H:%M"];

/// A way to write values, and the option that says it; nothing, if only NULLs are written otherwise.
struct Way {
    option: String,
    formats: Formats,
}

/// Of the columns that are taken for text and need not be, what there is to say.
pub fn notes(formats: &Formats, columns: &[Column], guesses: &[Guess<'_>]) -> Vec<NoteKind> {
    let ways = ways(formats);
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for (column, guess) in columns.iter().zip(guesses).filter(|(_, guess)| guess.is_text()) {
        if let Some(option) = option_for(&ways, guess.seen()) {
            found.entry(option).or_default().push(column.name.clone());
        }
    }
    let note = |(option, columns)| NoteKind::PerhapsNotText { option, columns };
    found.into_iter().map(note).collect()
}

fn option_for(ways: &[Way], values: &[Vec<u8>]) -> Option<String> {
    let way = ways.iter().find(|way| {
        let mut guess = Guess::of(&way.formats);
        values.iter().for_each(|value| guess.look_at(value));
        guess.narrowest() != Type::Text
    })?;
    let mut nulls: Vec<&str> = vec![];
    for null in NULLS {
        if values.iter().any(|value| value == null.as_bytes()) {
            nulls.push(null);
        }
    }
    // A literal of TOML keeps the backslash.
    let nulls = match &nulls[..] {
        [] => None,
        [null] => Some(format!("null='{null}'")),
        nulls => Some(format!("null=['{}']", nulls.join("', '"))),
    };
    let said: Vec<String> =
        nulls.into_iter().chain(Some(way.option.clone()).filter(|said| !said.is_empty())).collect();
    (!said.is_empty()).then(|| format!("{{{}}}", said.join(", ")))
}

fn ways(formats: &Formats) -> Vec<Way> {
    let mut base = formats.clone();
    base.nulls.extend(NULLS.map(String::from));
    let mut ways = vec![Way { option: String::new(), formats: base.clone() }];
    if formats.has_plain_numbers() {
        for (decimal, thousands) in [(b',', None), (b'.', Some(b',')), (b',', Some(b'.'))] {
            let decimal_said = (decimal == b',').then(|| "decimal=','".to_string());
            let thousands_said =
                thousands.map(|byte: u8| format!("thousands='{}'", char::from(byte)));
            let said: Vec<String> = decimal_said.into_iter().chain(thousands_said).collect();
            let formats = Formats { decimal, thousands, ..base.clone() };
            ways.push(Way { option: said.join(", "), formats });
        }
    }
    if formats.date.is_none() {
        let of = |format| Formats { date: Some(format), ..base.clone() };
        ways.extend(DATES.iter().filter_map(|text| Way::of_times("date", text, of)));
    }
    if formats.timestamp.is_none() {
        let of = |format| Formats { timestamp: Some(format), ..base.clone() };
        let times = |date| TIMES.iter().map(move |time| format!("{date} {time}"));
        let texts = DATES.iter().flat_map(times).chain(INSTANTS.map(String::from));
        ways.extend(texts.filter_map(|text| Way::of_times("timestamp", &text, of)));
    }
    ways
}

impl Way {
    fn of_times(name: &str, text: &str, formats: impl Fn(TimeFormat) -> Formats) -> Option<Way> {
        let format = TimeFormat::new(text).ok()?;
        Some(Way { option: format!("{name}='{text}'"), formats: formats(format) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(values: &[&str]) -> Option<String> {
        let values: Vec<Vec<u8>> = values.iter().map(|value| value.as_bytes().to_vec()).collect();
        option_for(&ways(&Formats::default()), &values)
    }

    #[test]
    fn what_text_would_be_otherwise() {
        for (values, expected) in [
            (&["1", "NA", "2.5"][..], Some("{null='NA'}")),
            (&["1", "\\N", "-"], Some("{null=['-', '\\N']}")),
            (&["1,5", "2"], Some("{decimal=','}")),
            (&["1,234.5", "2"], Some("{thousands=','}")),
            (&["1.234,5", "n/a"], Some("{null='n/a', decimal=',', thousands='.'}")),
            (&["31/01/2024", "01/02/2024"], Some("{date='%d/%m/%Y'}")),
            (&["12/31/2024"], Some("{date='%m/%d/%Y'}")),
            (&["31.01.2024 09:05"], Some("{timestamp='%d.%m.%Y %H:%M'}")),
            (&["2024-01-31T10:20:30Z"], Some("{timestamp='%FT%TZ'}")),
            (&["2024-01-31T10:20:30.123Z"], Some("{timestamp='%FT%T.%fZ'}")),
            (&["NA", "-"], None),
            (&["abc", "1"], None),
            (&["007", "NA"], None),
            (&["1.2.3"], None),
            (&["a, b", "c"], None),
        ] {
            assert_eq!(option(values).as_deref(), expected, "{values:?}");
        }
    }
}
