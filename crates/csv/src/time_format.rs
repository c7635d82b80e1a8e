//! Dates and timestamps that are written in another order, or in words.

use std::fmt;

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
}

impl TimeFormat {
    /// Of `%Y %y %m %b %B %d %H %I %p %M %S %f`, `%F` for `%Y-%m-%d`, `%T` for `%H:%M:%S` and other characters. The
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
            false => Err(format!("`{text}` does not say the year, the month and the day")),
        }
    }

    /// Days since 1970-01-01, of a text that has no time of day.
    pub(crate) fn days(&self, text: &[u8]) -> Option<i32> {
        let time = self.read(text)?;
        let has_no_time = (time.hour, time.minute, time.second, time.micros) == (0, 0, 0, 0);
        has_no_time.then(|| days_since_epoch(time.year, time.month, time.day))
    }

    /// Microseconds since 1970-01-01.
    pub(crate) fn micros(&self, text: &[u8]) -> Option<i64> {
        let time = self.read(text)?;
        let days = i64::from(days_since_epoch(time.year, time.month, time.day));
        let seconds = i64::from((time.hour * 60 + time.minute) * 60 + time.second);
        Some((days * SECONDS_PER_DAY + seconds) * MICROS_PER_SECOND + i64::from(time.micros))
    }

    fn read(&self, mut text: &[u8]) -> Option<Time> {
        let mut time = Time::default();
        for item in &self.items {
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
                Item::Second => time.second = short_number(&mut text)?,
                Item::Fraction => time.micros = fraction(&mut text)?,
            }
        }
        if time.is_pm == Some(true) {
            time.hour += 12;
        }
        let is_time = time.hour < 24 && time.minute < 60 && time.second < 60;
        (text.is_empty() && is_time && is_date(time.year, time.month, time.day)).then_some(time)
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
    fn what_is_no_format() {
        for format in ["", "%d/%m", "%Q-%Y-%m-%d", "%Y-%m-%d%", "%Y-%m-%d %I:%M"] {
            assert!(TimeFormat::new(format).is_err(), "{format}");
        }
    }
}
