//! What columns of text would be, if it were said how their values are written: `NA` for NULL, decimal commas, dates in
//! another order.

use std::collections::BTreeMap;

use crate::formats::Formats;
use crate::guess::Guess;
use crate::note::NoteKind;
use crate::odd::Place;
use crate::spec::Column;
use crate::time_format::TimeFormat;

/// Texts that often stand for NULL.
pub const NULLS: [&str; 34] = [
    "NA", "N/A", "n/a", "na", "n.a.", "NULL", "Null", "null", "(null)", "<NULL>", "<null>", "<NA>",
    "None", "none", "NONE", "nil", "NaN", "nan", "NAN", "-", "--", ".", "?", "\\N", "unknown",
    "Unknown", "UNKNOWN", "missing", "#N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!",
];

/// Orders of dates, each alone and before a time.
const DATES: [&str; 7] =
    ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y"];
const TIMES: [&str; 3] = ["%H:%M:%S", "%H:%M", "%I:%M %p"];

/// Instants as programs write them.
const INSTANTS: [&str; 4] = ["%FT%T%z", "%F %T%z", "%F %T %z", "%F %H:%M"];

/// A way to write values, and the option that says it; nothing, if only NULLs are written otherwise.
struct Way {
    option: String,
    formats: Formats,
}

/// Of the columns that are taken for text and need not be, what there is to say.
pub struct Otherwise {
    pub notes: Vec<NoteKind>,
    /// Of each column, whether it is said of it.
    pub is_told: Vec<bool>,
}

pub fn look_at(formats: &Formats, columns: &[Column], guesses: &[Guess<'_>]) -> Otherwise {
    let ways = ways(formats);
    let mut found = BTreeMap::<Vec<String>, Vec<String>>::new();
    let mut is_told = vec![];
    for (column, guess) in columns.iter().zip(guesses) {
        let options = if guess.is_text() { options_for(&ways, guess.seen()) } else { vec![] };
        is_told.push(!options.is_empty());
        if !options.is_empty() {
            found.entry(options).or_default().push(column.name.clone());
        }
    }
    let note = |(options, columns)| NoteKind::PerhapsNotText { options, columns };
    Otherwise { notes: found.into_iter().map(note).collect(), is_told }
}

/// The options of which any would do, the likeliest first: `1,234` may have a fraction or a group, and `1/2/2024` two orders.
fn options_for(ways: &[Way], values: &[Vec<u8>]) -> Vec<String> {
    // Most texts are nothing else, however they are written.
    if values.iter().any(|value| is_plain_text(value)) {
        return vec![];
    }
    let does = |way: &&Way| {
        let mut guess = Guess::of(&way.formats);
        let fits = |value: &Vec<u8>| {
            guess.look_at(value, Place::default);
            !guess.is_text()
        };
        values.iter().all(fits) && guess.has_values()
    };
    let mut ways = ways.iter().filter(does);
    let Some(first) = ways.next() else { return vec![] };
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
    // One that only says more than the first is none.
    let more = format!("{}, ", first.option);
    let others = ways.filter(|way| !first.option.is_empty() && !way.option.starts_with(&more));
    let options = std::iter::once(first).chain(others).map(|way| {
        let option = Some(way.option.clone()).filter(|said| !said.is_empty());
        nulls.iter().cloned().chain(option).collect::<Vec<_>>().join(", ")
    });
    let options = options.filter(|said| !said.is_empty()).take(OPTIONS_MAX);
    options.map(|said| format!("{{{said}}}")).collect()
}

/// More would not help to choose.
const OPTIONS_MAX: usize = 2;

/// Neither a number nor a time in any way of writing them, nor a word for true, false or nothing.
fn is_plain_text(value: &[u8]) -> bool {
    const WORD_BYTES_MAX: usize = 8;
    value.len() > WORD_BYTES_MAX && !value.iter().any(u8::is_ascii_digit)
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

    fn options(values: &[&str]) -> Vec<String> {
        let values: Vec<Vec<u8>> = values.iter().map(|value| value.as_bytes().to_vec()).collect();
        options_for(&ways(&Formats::default()), &values)
    }

    #[test]
    fn what_text_would_be_otherwise() {
        for (values, expected) in [
            (&["1", "NA", "2.5"][..], "{null='NA'}"),
            (&["1", "\\N", "-"], "{null=['-', '\\N']}"),
            (&["1", "#N/A", "?"], "{null=['?', '#N/A']}"),
            (&["true", "unknown"], "{null='unknown'}"),
            (&["1,5", "2"], "{decimal=','}"),
            (&["1,234.5", "2"], "{thousands=','}"),
            (&["1.234,5", "n/a"], "{null='n/a', decimal=',', thousands='.'}"),
            (&["31/01/2024", "01/02/2024"], "{date='%d/%m/%Y'}"),
            (&["12/31/2024"], "{date='%m/%d/%Y'}"),
            (&["12-31-2024"], "{date='%m-%d-%Y'}"),
            (&["31.01.2024 09:05"], "{timestamp='%d.%m.%Y %H:%M'}"),
            (&["2024-01-31T10:20:30Z", "2024-01-31T10:20:30.5+02:00"], "{timestamp='%FT%T%z'}"),
        ] {
            assert_eq!(options(values), [expected], "{values:?}");
        }
        for values in [&["NA", "-"][..], &["abc", "1"], &["007", "NA"], &["1.2.3"], &["a, b", "c"]]
        {
            assert!(options(values).is_empty(), "{values:?}");
        }
    }

    #[test]
    fn two_ways_that_do_are_both_told() {
        assert_eq!(options(&["1,234", "12,345"]), ["{decimal=','}", "{thousands=','}"]);
        let slashes = ["{date='%d/%m/%Y'}", "{date='%m/%d/%Y'}"];
        assert_eq!(options(&["01/02/2024", "3/4/2024"]), slashes);
        let dashes = ["{null='NA', date='%d-%m-%Y'}", "{null='NA', date='%m-%d-%Y'}"];
        assert_eq!(options(&["01-02-2024", "NA"]), dashes);
    }
}
