//! Dates and timestamps that are written in another order, or in words.

use std::fmt;

use crate::time_words::in_letters_of_strftime;

use crate::time::{MICROS_PER_SECOND, SECONDS_PER_DAY, days_since_epoch, is_date};

/// How a date or a timestamp is written, in the letters of `strftime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeFormat {
    text: String,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// This byte.
    Literal(u8),
    /// `%Y`: four digits.
    Year,
    /// `%y`: two digits, of 1969 to 2068.
    ShortYear,
    /// `%m`: one or two digits, as in the others without a letter for it.
    Month,
    /// `%b`: three letters of the month's English name, in any case.
    MonthName {
        is_long: bool,
    },
    Day,
    Hour,
    /// `%I`: of twelve.
    Hour12,
    /// `%p`: AM or PM, in any case.
    Half,
    Minute,
    Second,
    /// `%f`: a fraction of a second; digits beyond the sixth are cut.
    Fraction,
    /// `%z`: `Z`, `+02:00`, `+0200` or `+02`.
    Zone,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What is said of a time so far.
#[derive(Default)]
struct Time {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    is_pm: Option<bool>,
    minute: u32,
    second: u32,
    micros: u32,
    /// What the clock is ahead of UTC.
    ahead_minutes: i32,
}

impl TimeFormat {
    /// Of `%Y %y %m %b %B %d %H %I %p %M %S %f %z`, `%F` for `%Y-%m-%d`, `%T` for `%H:%M:%S` and other characters. The
    /// error says what is wrong with it.
    pub fn new(text: &str) -> Result<TimeFormat, String> {
        let mut items = Vec::new();
        let long = text.replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S");
        let mut chars = long.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                let mut buffer = [0; 4];
                items.extend(c.encode_utf8(&mut buffer).bytes().map(Item::Literal));
                continue;
            }
            items.push(match chars.next() {
                Some('Y') => Item::Year,
                Some('y') => Item::ShortYear,
                Some('m') => Item::Month,
                Some('b') => Item::MonthName { is_long: false },
                Some('B') => Item::MonthName { is_long: true },
                Some('d' | 'e') => Item::Day,
                Some('H') => Item::Hour,
                Some('I') => Item::Hour12,
                Some('p') => Item::Half,
                Some('M') => Item::Minute,
                Some('S') => Item::Second,
                Some('f') => Item::Fraction,
                Some('z') => Item::Zone,
                Some('%') => Item::Literal(b'%'),
                Some(other) => return Err(format!("`%{other}` is not known in a time's format")),
                None => return Err("a time's format ends with `%`".to_string()),
            });
        }
        let format = TimeFormat { text: text.to_string(), items };
        let has = |of: &[Item]| format.items.iter().any(|item| of.contains(item));
        let months = [Item::MonthName { is_long: false }, Item::MonthName { is_long: true }];
        let is_whole = has(&[Item::Year, Item::ShortYear])
            && (has(&[Item::Month]) || has(&months))
            && has(&[Item::Day]);
        match is_whole {
            true if has(&[Item::Hour12]) != has(&[Item::Half]) => {
                Err(format!("`{text}`: `%I` and `%p` belong together"))
            }
            true => Ok(format),
            false => {
                let meant = in_letters_of_strftime(text).filter(|meant| *meant != text);
                let meant = meant.filter(|meant| TimeFormat::new(meant).is_ok());
                let meant = meant.map_or(String::new(), |meant| format!("; is `{meant}` meant?"));
                Err(format!("`{text}` does not say the year, the month and the day{meant}"))
            }
        }
    }

    /// Days since 1970-01-01, of a text that has no time of day.
    pub(crate) fn days(&self, text: &[u8]) -> Option<i32> {
        let time = self.read(text)?;
        let has_no_time = (time.hour, time.minute, time.second, time.micros) == (0, 0, 0, 0);
        (has_no_time && time.ahead_minutes == 0)
            .then(|| days_since_epoch(time.year, time.month, time.day))
    }

    /// Microseconds since 1970-01-01, in UTC where the text says a zone.
    pub(crate) fn micros(&self, text: &[u8]) -> Option<i64> {
        let time = self.read(text)?;
        let days = i64::from(days_since_epoch(time.year, time.month, time.day));
        let minutes = i64::from(time.hour * 60 + time.minute) - i64::from(time.ahead_minutes);
        let seconds = minutes * 60 + i64::from(time.second);
        Some((days * SECONDS_PER_DAY + seconds) * MICROS_PER_SECOND + i64::from(time.micros))
    }

    fn read(&self, mut text: &[u8]) -> Option<Time> {
        let mut time = Time::default();
        for (at, item) in self.items.iter().enumerate() {
            match item {
                Item::Literal(byte) => text = text.strip_prefix(&[*byte])?,
                Item::Year => {
                    let digits = text.split_off(..4)?;
                    time.year = number(digits)?;
                }
                Item::ShortYear => {
                    let year = number(text.split_off(..2)?)?;
                    time.year = if year < 69 { 2000 + year } else { 1900 + year };
                }
                Item::Month => time.month = short_number(&mut text)?,
                Item::MonthName { is_long } => time.month = month(&mut text, *is_long)?,
                Item::Day => time.day = short_number(&mut text)?,
                Item::Hour => time.hour = short_number(&mut text)?,
                Item::Hour12 => {
                    let hour = short_number(&mut text)?;
                    time.hour = (1..=12).contains(&hour).then_some(hour % 12)?;
                }
                Item::Half => time.is_pm = Some(is_pm(text.split_off(..2)?)?),
                Item::Minute => time.minute = short_number(&mut text)?,
                Item::Second => {
                    time.second = short_number(&mut text)?;
                    // Whoever writes fractions leaves them out where they are zero.
                    if !self.has_point_after(at) && text.first() == Some(&b'.') {
                        text.split_off(..1)?;
                        time.micros = fraction(&mut text)?;
                    }
                }
                Item::Zone => time.ahead_minutes = zone(&mut text)?,
                Item::Fraction => time.micros = fraction(&mut text)?,
            }
        }
        if time.is_pm == Some(true) {
            time.hour += 12;
        }
        let is_time = time.hour < 24 && time.minute < 60 && time.second < 60;
        (text.is_empty() && is_time && is_date(time.year, time.month, time.day)).then_some(time)
    }

    /// Whether the format itself says what comes after an item of it.
    fn has_point_after(&self, at: usize) -> bool {
        matches!(self.items.get(at + 1), Some(Item::Literal(b'.') | Item::Fraction))
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

/// Of one or two digits.
fn short_number(text: &mut &[u8]) -> Option<u32> {
    let digits = text.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    number(text.split_off(..digits)?)
}

fn month(text: &mut &[u8], is_long: bool) -> Option<u32> {
    let letters = |name: &&'static str| if is_long { *name } else { &name[..3] };
    let is_here = |name: &str| {
        text.get(..name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes()))
    };
    let names = MONTHS.iter().map(letters);
    let (at, name) = names.enumerate().find(|(_, name)| is_here(name))?;
    text.split_off(..name.len())?;
    Some(at as u32 + 1)
}

fn is_pm(text: &[u8]) -> Option<bool> {
    match text {
        [b'a' | b'A', b'm' | b'M'] => Some(false),
        [b'p' | b'P', b'm' | b'M'] => Some(true),
        _ => None,
    }
}

/// Minutes that a zone is ahead of UTC.
fn zone(text: &mut &[u8]) -> Option<i32> {
    let sign = text.split_off(..1)?;
    if matches!(sign, b"Z" | b"z") {
        return Some(0);
    }
    let hours = number(text.split_off(..2)?)?;
    let has_colon = text.first() == Some(&b':');
    if has_colon {
        text.split_off(..1)?;
    }
    let has_minutes = has_colon || text.first().is_some_and(u8::is_ascii_digit);
    let minutes = if has_minutes { number(text.split_off(..2)?)? } else { 0 };
    let minutes = (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) as i32)?;
    match sign {
        b"+" => Some(minutes),
        b"-" => Some(-minutes),
        _ => None,
    }
}

fn fraction(text: &mut &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = text.split_off(..digits).filter(|digits| !digits.is_empty())?;
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0'));
    Some(padded.take(6).fold(0, |micros, byte| micros * 10 + u32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;

    #[test]
    fn dates_in_any_order() {
        for (format, text, expected) in [
            ("%d/%m/%Y", "31/01/2024", Some("2024-01-31")),
            ("%d/%m/%Y", "1/2/2024", Some("2024-02-01")),
            ("%m/%d/%y", "12/31/69", Some("1969-12-31")),
            ("%m/%d/%y", "12/31/68", Some("2068-12-31")),
            ("%d.%m.%Y", "29.02.2023", None),
            ("%d %b %Y", "5 mar 2024", Some("2024-03-05")),
            ("%B %d, %Y", "March 05, 2024", Some("2024-03-05")),
            ("%Y%m%d", "20240305", Some("2024-03-05")),
            ("%F", "2024-03-05", Some("2024-03-05")),
            ("%d/%m/%Y", "31/13/2024", None),
            ("%d/%m/%Y", "31/01/24", None),
            ("%d/%m/%Y", "31/01/2024 ", None),
            ("%d/%m/%Y", "/01/2024", None),
            ("%d de %m año %Y", "1 de 2 año 2024", Some("2024-02-01")),
        ] {
            let days = TimeFormat::new(format).unwrap().days(text.as_bytes());
            assert_eq!(days, expected.and_then(|text| time::date(text.as_bytes())), "{text}");
        }
    }

    #[test]
    fn timestamps_in_any_order() {
        for (format, text, expected) in [
            ("%d/%m/%Y %H:%M", "31/01/2024 09:05", Some("2024-01-31 09:05:00")),
            ("%m/%d/%Y %I:%M %p", "1/31/2024 12:05 AM", Some("2024-01-31 00:05:00")),
            ("%m/%d/%Y %I:%M %p", "1/31/2024 12:05 pm", Some("2024-01-31 12:05:00")),
            ("%m/%d/%Y %I:%M %p", "1/31/2024 13:05 pm", None),
            ("%FT%TZ", "2024-01-31T10:20:30Z", Some("2024-01-31 10:20:30")),
            ("%F %T.%f", "2024-01-31 10:20:30.25", Some("2024-01-31 10:20:30.25")),
            ("%F %T", "2024-01-31 24:00:00", None),
            ("%F %T", "2024-01-31 10:20:30.25", Some("2024-01-31 10:20:30.25")),
            ("%F %T", "2024-01-31 10:20:30.", None),
            ("%FT%TZ", "2024-01-31T10:20:30.5Z", Some("2024-01-31 10:20:30.5")),
            ("%F %T.%f", "2024-01-31 10:20:30", None),
            ("%FT%T%z", "2024-01-31T10:20:30Z", Some("2024-01-31 10:20:30")),
            ("%FT%T%z", "2024-01-31T00:20:30.5+02:00", Some("2024-01-30 22:20:30.5")),
            ("%F %T %z", "2024-01-31 22:20:30 -0330", Some("2024-02-01 01:50:30")),
            ("%FT%T%z", "2024-01-31T10:20:30+01", Some("2024-01-31 09:20:30")),
            ("%FT%T%z", "2024-01-31T10:20:30", None),
            ("%FT%T%z", "2024-01-31T10:20:30+1", None),
            ("%FT%T%z", "2024-01-31T10:20:30+24:00", None),
        ] {
            let micros = TimeFormat::new(format).unwrap().micros(text.as_bytes());
            assert_eq!(
                micros,
                expected.and_then(|text| time::timestamp(text.as_bytes())),
                "{text}"
            );
        }
    }

    #[test]
    fn letters_of_others_are_told_in_ours() {
        for (format, meant) in [
            ("dd/mm/yyyy", "%d/%m/%Y"),
            ("YYYY-MM-DD", "%Y-%m-%d"),
            ("dd MMM yy", "%d %b %y"),
            ("MM/dd/yyyy HH:mm:ss", "%m/%d/%Y %H:%M:%S"),
            ("yyyy-MM-dd'T'HH:mm", "%Y-%m-%dT%H:%M"),
        ] {
            let error = TimeFormat::new(format).unwrap_err();
            assert!(error.ends_with(&format!("is `{meant}` meant?")), "{error}");
        }
        assert!(!TimeFormat::new("soon").unwrap_err().contains("meant"));
    }

    #[test]
    fn what_is_no_format() {
        for format in ["", "%d/%m", "%Q-%Y-%m-%d", "%Y-%m-%d%", "%Y-%m-%d %I:%M"] {
            assert!(TimeFormat::new(format).is_err(), "{format}");
        }
    }
}
