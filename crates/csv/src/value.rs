//! Numbers and booleans from text. Each takes trimmed, non-empty bytes and gives `None` for what is not
//! of its type.

/// A decimal integer with an optional sign.
pub fn int64(text: &[u8]) -> Option<i64> {
    /// So many digits cannot overflow.
    const SAFE_DIGITS: usize = 18;
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || digits.len() > SAFE_DIGITS {
        return int64_checked(digits, negative);
    }
    let mut value = 0;
    for byte in digits {
        value = value * 10 + i64::from(digit(*byte)?);
    }
    Some(if negative { -value } else { value })
}

#[cold]
fn int64_checked(digits: &[u8], negative: bool) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    // Towards the sign: the smallest integer has no positive counterpart.
    digits.iter().try_fold(0i64, |value, byte| {
        let digit = i64::from(digit(*byte)?);
        let shifted = value.checked_mul(10)?;
        if negative { shifted.checked_sub(digit) } else { shifted.checked_add(digit) }
    })
}

/// Any number that Rust reads as an `f64`, exponents, infinities and NaN included.
#[inline]
pub fn float64(text: &[u8]) -> Option<f64> {
    short_decimal(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
}

/// Digits with at most one point among them, few enough that both they and the power of ten that
/// divides them are exact: then one division rounds as it should. Nearly all floats in files are so.
#[inline]
fn short_decimal(text: &[u8]) -> Option<f64> {
    const DIGITS_MAX: usize = 15;
    const POWERS: [f64; DIGITS_MAX + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, rest) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if rest.is_empty() || rest.len() > DIGITS_MAX {
        return None;
    }
    let (mut digits, mut point) = (0u64, None);
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() && rest.len() > 1 => point = Some(at),
            _ => return None,
        }
    }
    let fraction = point.map_or(0, |point| rest.len() - point - 1);
    let value = digits as f64 / POWERS[fraction];
    Some(if negative { -value } else { value })
}

pub fn boolean(text: &[u8]) -> Option<bool> {
    const TRUE: [&[u8]; 4] = [b"true", b"t", b"yes", b"1"];
    const FALSE: [&[u8]; 4] = [b"false", b"f", b"no", b"0"];
    let is = |word: &&[u8]| text.eq_ignore_ascii_case(word);
    if TRUE.iter().any(is) { Some(true) } else { FALSE.iter().any(is).then_some(false) }
}

/// The digits of a decimal without its point, scaled: `1.5` at scale 2 is 150.
#[inline]
pub fn decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    plain_decimal(text, precision, scale).or_else(|| scientific_decimal(text, precision, scale))
}

/// The same of one with an exponent: `-1.5E-9`, as some write small ones.
#[cold]
fn scientific_decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let at = text.iter().position(|byte| matches!(byte, b'e' | b'E'))?;
    let exponent: i32 = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
    let (negative, mantissa) = split_sign(&text[..at]);
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(|byte| *byte != b'.').collect();
    // One point, and no exponent beyond what any digit could reach.
    if digits.is_empty() || digits.len() + 1 < mantissa.len() || exponent.unsigned_abs() > 100 {
        return None;
    }
    let point = point as i32 + exponent;
    let before = usize::try_from(-point).unwrap_or(0);
    digits.splice(..0, std::iter::repeat_n(b'0', before));
    let point = usize::try_from(point).unwrap_or(0);
    digits.resize(digits.len().max(point), b'0');
    digits.insert(point, b'.');
    let magnitude = plain_decimal(&digits, precision, scale)?;
    Some(if negative { -magnitude } else { magnitude })
}

#[inline]
fn plain_decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let (negative, digits) = split_sign(text);
    let (integer, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &digits[..0]),
    };
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let (fraction, excess) = fraction.split_at(fraction.len().min(usize::from(scale)));
    if excess.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let zeros = usize::from(scale) - fraction.len();
    let magnitude = scaled_digits(integer, fraction, zeros)?;
    if magnitude >= POWERS_OF_TEN[usize::from(precision)] {
        return None;
    }
    let magnitude = magnitude as i128;
    Some(if negative { -magnitude } else { magnitude })
}

/// `integer` and `fraction` as one number, followed by `zeros` zeros.
#[inline]
fn scaled_digits(integer: &[u8], fraction: &[u8], zeros: usize) -> Option<u128> {
    /// So many digits fit in 64 bits, whose arithmetic is much faster.
    const SMALL_DIGITS: usize = 19;
    if integer.len() + fraction.len() + zeros <= SMALL_DIGITS {
        let mut value = 0u64;
        for byte in integer.iter().chain(fraction) {
            value = value * 10 + u64::from(digit(*byte)?);
        }
        return Some(u128::from(value * POWERS_OF_TEN[zeros] as u64));
    }
    let value = integer.iter().chain(fraction).try_fold(0u128, |value, byte| {
        value.checked_mul(10)?.checked_add(u128::from(digit(*byte)?))
    })?;
    value.checked_mul(POWERS_OF_TEN[zeros])
}

/// Up to the largest precision of a 128-bit decimal.
const POWERS_OF_TEN: [u128; 39] = {
    let mut powers = [1; 39];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

#[inline(always)]
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    }
}

#[inline(always)]
fn digit(byte: u8) -> Option<u8> {
    let digit = byte.wrapping_sub(b'0');
    (digit <= 9).then_some(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_to_the_edges_of_64_bits() {
        for value in [0, 7, -1, 999_999_999_999_999_999, i64::MAX, i64::MIN] {
            assert_eq!(int64(value.to_string().as_bytes()), Some(value));
        }
        assert_eq!(int64(b"+5"), Some(5));
        assert_eq!(int64(b"0000000000000000000000012"), Some(12));
        for text in
            ["9223372036854775808", "-9223372036854775809", "", "-", "1.0", "1 2", "0x1", "--1"]
        {
            assert_eq!(int64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, expected) in [
            ("63.5", Some(6350)),
            ("0.0", Some(0)),
            ("-1.25", Some(-125)),
            ("+7", Some(700)),
            (".5", Some(50)),
            ("5.", Some(500)),
            ("1.2500", Some(125)),
            ("99999999.99", Some(9_999_999_999)),
            ("100000000.00", None),
            ("1.255", None),
            (".", None),
            ("-", None),
            ("1.2.3", None),
            ("1e3", Some(100_000)),
            ("-12.5E-1", Some(-125)),
            ("+0E-10", Some(0)),
            ("1.5e-2", None),
            ("25e-1", Some(250)),
            (".5e1", Some(500)),
            ("1e8", None),
            ("1e", None),
            ("e1", None),
            ("1.2.3e1", None),
            ("1e1.5", None),
            ("1e999999999", None),
            ("abc", None),
        ] {
            assert_eq!(decimal(text.as_bytes(), 10, 2), expected, "{text}");
        }
    }

    #[test]
    fn decimals_up_to_38_digits() {
        let nines = "9".repeat(38);
        assert_eq!(decimal(nines.as_bytes(), 38, 0), nines.parse().ok());
        assert_eq!(
            decimal(b"-12345678901234567890.5", 38, 10),
            Some(-123456789012345678905000000000)
        );
        assert_eq!(decimal("9".repeat(39).as_bytes(), 38, 0), None);
        assert_eq!(decimal("9".repeat(200).as_bytes(), 38, 0), None);
        assert_eq!(decimal(nines.as_bytes(), 38, 2), None);
    }

    #[test]
    fn booleans_in_any_case() {
        for text in ["true", "T", "Yes", "1", "TRUE"] {
            assert_eq!(boolean(text.as_bytes()), Some(true), "{text}");
        }
        for text in ["false", "F", "No", "0", "FALSE"] {
            assert_eq!(boolean(text.as_bytes()), Some(false), "{text}");
        }
        assert_eq!(boolean(b"maybe"), None);
        assert_eq!(boolean(b"10"), None);
    }

    #[test]
    fn floats() {
        assert_eq!(float64(b"17272.0"), Some(17272.0));
        assert_eq!(float64(b"-1e3"), Some(-1000.0));
        assert_eq!(float64(b"1,5"), None);
        assert_eq!(float64(b"\xff"), None);
    }

    #[test]
    fn short_floats_are_what_rust_reads() {
        let mut texts: Vec<String> = [
            "", "-", ".", "-.", "1.", ".5", "-.5", "-0", "0.0", "1.2.3", "1-2", "+1", "1e2", "inf",
        ]
        .map(String::from)
        .to_vec();
        let mut number = 1u64;
        for step in 0..20_000u64 {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(step | 1);
            let digits = (number >> 14).to_string();
            let digits = &digits[..1 + step as usize % digits.len().min(17)];
            let point = (number % (digits.len() as u64 + 1)) as usize;
            texts.push(format!("{}.{}", &digits[..point], &digits[point..]));
            texts.push(format!("-{digits}"));
        }
        for text in texts {
            let rust = text.parse::<f64>().ok().map(f64::to_bits);
            assert_eq!(float64(text.as_bytes()).map(f64::to_bits), rust, "{text}");
        }
    }
}
