//! Dates and timestamps from text, in the proleptic Gregorian calendar.

pub const MICROS_PER_SECOND: i64 = 1_000_000;
pub const SECONDS_PER_DAY: i64 = 86_400;

/// `YYYY-MM-DD` as days since 1970-01-01.
#[inline]
pub fn date(text: &[u8]) -> Option<i32> {
    days(text.try_into().ok()?)
}

/// `YYYY-MM-DD[ T]HH:MM:SS[.fraction]` or a bare date, as microseconds since 1970-01-01.
#[inline]
pub fn timestamp(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_first_chunk::<10>()?;
    let days = days(date)?;
    let Some((time, fraction)) = time.split_first_chunk::<9>() else {
        return time.is_empty().then_some(i64::from(days) * SECONDS_PER_DAY * MICROS_PER_SECOND);
    };
    let seconds = i64::from(days) * SECONDS_PER_DAY + i64::from(seconds_of_day(time)?);
    let micros = if fraction.is_empty() { 0 } else { micros(fraction)? };
    Some(seconds * MICROS_PER_SECOND + micros)
}

#[inline(always)]
fn days(text: &[u8; 10]) -> Option<i32> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else {
        return None;
    };
    let [century, year, month, day] = numbers([[y1, y2], [y3, y4], [m1, m2], [d1, d2]])?;
    let year = century * 100 + year;
    is_date(year, month, day).then(|| days_since_epoch(year, month, day))
}

/// `[ T]HH:MM:SS`.
#[inline(always)]
fn seconds_of_day(text: &[u8; 9]) -> Option<u32> {
    let [b' ' | b'T', h1, h2, b':', m1, m2, b':', s1, s2] = *text else {
        return None;
    };
    let [hour, minute, second] = numbers([[h1, h2], [m1, m2], [s1, s2]])?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then_some((hour * 60 + minute) * 60 + second)
}

/// `.fraction` of a second; digits beyond the sixth are cut.
fn micros(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b".")?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0'));
    Some(padded.take(6).fold(0, |micros, byte| micros * 10 + i64::from(byte - b'0')))
}

/// Numbers of two digits, with one branch for all of them.
#[inline(always)]
fn numbers<const N: usize>(pairs: [[u8; 2]; N]) -> Option<[u32; N]> {
    let digits = pairs.map(|pair| pair.map(|byte| byte.wrapping_sub(b'0')));
    let largest = digits.as_flattened().iter().fold(0, |largest, digit| largest.max(*digit));
    let number = |[tens, ones]: [u8; 2]| u32::from(tens) * 10 + u32::from(ones);
    (largest <= 9).then(|| digits.map(number))
}

#[inline(always)]
pub fn is_date(year: u32, month: u32, day: u32) -> bool {
    const DAYS_MAX: [u32; 13] = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap =
        || year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days_max = DAYS_MAX.get(month as usize).copied().unwrap_or(0);
    (1..=days_max).contains(&day) && (month != 2 || day < 29 || is_leap())
}

/// Counts in years that begin in March, so that the leap day is a year's last (Howard Hinnant's
/// `days_from_civil`), and from 400 years before year 0, so that nothing is negative.
#[inline(always)]
pub fn days_since_epoch(year: u32, month: u32, day: u32) -> i32 {
    const DAYS_IN_400_YEARS: u32 = 146_097;
    const EPOCH_DAY: i32 = 719_468 + DAYS_IN_400_YEARS as i32;
    let year = year + 400 - u32::from(month <= 2);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    days as i32 - EPOCH_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = -719_528;
        for year in 0..=9999 {
            for month in 1..=12 {
                for day in (1..=31).filter(|day| is_date(year, month, *day)) {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    assert_eq!(date(text.as_bytes()), Some(expected), "{text}");
                    expected += 1;
                }
            }
        }
        assert_eq!(expected, 2_932_897, "the day after 9999-12-31");
    }

    #[test]
    fn known_dates() {
        assert_eq!(date(b"1970-01-01"), Some(0));
        assert_eq!(date(b"2000-02-29"), Some(11_016));
        for text in [
            "1900-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-04-31",
            "2024-1-1",
            "2024/01/01",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn timestamps_to_the_microsecond() {
        let noon = 1_704_110_400_000_000;
        for (text, expected) in [
            ("2024-01-01 12:00:00", Some(noon)),
            ("2024-01-01T12:00:00", Some(noon)),
            ("2024-01-01 12:00:00.5", Some(noon + 500_000)),
            ("2024-01-01 12:00:00.1234567", Some(noon + 123_456)),
            ("2024-01-01", Some(noon - 43_200_000_000)),
            ("1969-12-31 23:59:59", Some(-1_000_000)),
            ("2024-01-01 24:00:00", None),
            ("2024-01-01 12:60:00", None),
            ("2024-01-01 12:00:60", None),
            ("2024-01-01 12:00", None),
            ("2024-01-01 12:00:00.", None),
            ("2024-01-01 12:00:00Z", None),
            ("2024-01-01_12:00:00", None),
            ("2024-01-01 ", None),
            ("2024", None),
        ] {
            assert_eq!(timestamp(text.as_bytes()), expected, "{text}");
        }
    }
}
