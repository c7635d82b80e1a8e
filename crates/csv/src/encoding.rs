//! Encodings of text: whoever looks at bytes sees UTF-8, whatever the file is in.

/// Encoding of a file's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Utf8,
    /// In the order of the file's byte order mark; little-endian, where it has none.
    Utf16,
    Utf16Le,
    Utf16Be,
    /// ISO 8859-1: each byte is the character of its number.
    Latin1,
    /// Latin-1 with `€` and quotes where that has control characters: what Windows calls ANSI.
    Windows1252,
}

impl Encoding {
    /// Names that options have for them, the one to show first.
    const NAMES: [(Encoding, &[&str]); 6] = [
        (Encoding::Utf8, &["utf-8", "utf8"]),
        (Encoding::Utf16, &["utf-16", "utf16"]),
        (Encoding::Utf16Le, &["utf-16le", "utf16le"]),
        (Encoding::Utf16Be, &["utf-16be", "utf16be"]),
        (Encoding::Latin1, &["latin-1", "latin1", "iso-8859-1"]),
        (Encoding::Windows1252, &["windows-1252", "cp1252"]),
    ];

    /// The encoding that is called so, in any case.
    pub fn named(name: &str) -> Option<Encoding> {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        let found = Self::NAMES.iter().find(|(_, names)| names.iter().any(&is));
        found.map(|(encoding, _)| *encoding)
    }

    /// Its name in options.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names.find(|(encoding, _)| *encoding == self).map_or("", |(_, names)| names[0])
    }

    /// The names that there are.
    pub fn names() -> String {
        Self::NAMES.map(|(_, names)| names[0]).join(", ")
    }

    /// The encoding of a file that begins with these bytes.
    pub(crate) fn of_file(self, head: &[u8]) -> Encoding {
        match self {
            Encoding::Utf16 if head.starts_with(b"\xfe\xff") => Encoding::Utf16Be,
            Encoding::Utf16 => Encoding::Utf16Le,
            other => other,
        }
    }

    /// Bytes that one byte of the file becomes, at most.
    pub(crate) fn growth_max(self) -> usize {
        match self {
            Encoding::Utf8 => 1,
            // A unit of two bytes becomes three.
            Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be | Encoding::Latin1 => 2,
            Encoding::Windows1252 => 3,
        }
    }

    /// Bytes of the smallest piece that means something by itself.
    pub(crate) fn unit_bytes(self) -> usize {
        match self {
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Windows1252 => 1,
            Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be => 2,
        }
    }

    /// Appends as UTF-8 what stands in `piece`. `before` and `after` are its neighbours in the file, a unit of each: a
    /// character that begins in the piece is whole in `out`, one that began before it is not in there.
    ///
    /// What is no character becomes bytes that are no UTF-8, to be found by whoever looks for that.
    pub(crate) fn decode(self, before: &[u8], piece: &[u8], after: &[u8], out: &mut Vec<u8>) {
        match self {
            Encoding::Utf8 => out.extend_from_slice(piece),
            Encoding::Latin1 => decode_bytes(piece, char::from, out),
            Encoding::Windows1252 => decode_bytes(piece, windows_1252, out),
            Encoding::Utf16 | Encoding::Utf16Le => {
                decode_units(u16::from_le_bytes, before, piece, after, out);
            }
            Encoding::Utf16Be => decode_units(u16::from_be_bytes, before, piece, after, out),
        }
    }

    /// A whole text.
    pub(crate) fn decoded(self, bytes: Vec<u8>) -> Vec<u8> {
        if self == Encoding::Utf8 {
            return bytes;
        }
        let mut text = Vec::with_capacity(bytes.len());
        self.decode(&[], &bytes, &[], &mut text);
        text
    }

    /// Bytes that a decoded text has in the file.
    pub(crate) fn encoded_len(self, text: &[u8]) -> usize {
        let chars = || text.iter().filter(|byte| !matches!(byte, 0x80..=0xbf)).count();
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Latin1 | Encoding::Windows1252 => chars(),
            Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be => {
                let pairs = text.iter().filter(|byte| (0xf0..0xf8).contains(*byte)).count();
                2 * (chars() + pairs)
            }
        }
    }
}

fn decode_bytes(piece: &[u8], char_of: impl Fn(u8) -> char, out: &mut Vec<u8>) {
    const RUN_BYTES: usize = 64;
    for run in piece.chunks(RUN_BYTES) {
        if run.is_ascii() {
            out.extend_from_slice(run);
            continue;
        }
        for byte in run {
            push(char_of(*byte), out);
        }
    }
}

fn push(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Bytes that stand for nothing in Windows-1252 are control characters, as browsers have it.
fn windows_1252(byte: u8) -> char {
    const FROM_0X80: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => FROM_0X80[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

fn decode_units(
    unit: impl Fn([u8; 2]) -> u16,
    before: &[u8],
    piece: &[u8],
    after: &[u8],
    out: &mut Vec<u8>,
) {
    let (units, odd) = piece.as_chunks::<2>();
    let neighbour = |bytes: &[u8]| bytes.first_chunk::<2>().map(|bytes| unit(*bytes));
    let is_high = |unit: u16| (0xd800..0xdc00).contains(&unit);
    let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
    let mut is_taken = neighbour(before).is_some_and(is_high);
    for (at, bytes) in units.iter().enumerate() {
        let this = unit(*bytes);
        if std::mem::take(&mut is_taken) && is_low(this) {
            continue;
        }
        if this < 0x80 {
            out.push(this as u8);
            continue;
        }
        let next = || units.get(at + 1).map(|next| unit(*next)).or_else(|| neighbour(after));
        match next() {
            Some(low) if is_high(this) && is_low(low) => {
                let above = u32::from(this - 0xd800) << 10 | u32::from(low - 0xdc00);
                push(char::from_u32(0x1_0000 + above).expect("a pair is a character"), out);
                is_taken = true;
            }
            _ => match char::from_u32(u32::from(this)) {
                Some(c) => push(c, out),
                // Half a pair, written as a character would be: UTF-8 forbids that.
                None => {
                    out.extend([0xed, 0x80 | (this >> 6 & 0x3f) as u8, 0x80 | (this & 0x3f) as u8])
                }
            },
        }
    }
    // Half a unit.
    if !odd.is_empty() {
        out.push(0xff);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn each_has_a_name() {
        for (encoding, names) in Encoding::NAMES {
            assert!(names.iter().all(|name| Encoding::named(name) == Some(encoding)));
            assert_eq!(Encoding::named(&encoding.name().to_uppercase()), Some(encoding));
        }
        assert_eq!(Encoding::named("ebcdic"), None);
    }

    #[test]
    fn bytes_are_characters() {
        let bytes = b"caf\xe9 \x80".to_vec();
        assert_eq!(Encoding::Latin1.decoded(bytes.clone()), "café \u{80}".as_bytes());
        assert_eq!(Encoding::Windows1252.decoded(bytes), "café €".as_bytes());
    }

    #[test]
    fn half_a_pair_is_no_text() {
        let lone = [0xd8, 0x3d, 0, b'x', 0xde, 0];
        let text = Encoding::Utf16Be.decoded(lone.to_vec());
        assert!(std::str::from_utf8(&text).is_err());
        assert_eq!(Encoding::Utf16Be.encoded_len(&text), lone.len());
        assert!(std::str::from_utf8(&Encoding::Utf16Be.decoded(vec![0, b'x', 0])).is_err());
    }

    proptest! {
        #[test]
        fn text_is_the_same_wherever_its_bytes_are_cut(text in "[ -~ñ€😀\u{feff}\n]{0,40}", cut in 0usize..40) {
            let bytes = utf16(&text);
            prop_assert_eq!(Encoding::Utf16Be.encoded_len(text.as_bytes()), bytes.len());
            let cut = (2 * cut).min(bytes.len());
            let (first, second) = bytes.split_at(cut);
            let mut out = vec![];
            let before = &first[first.len().saturating_sub(2)..];
            Encoding::Utf16Be.decode(&[], first, &second[..second.len().min(2)], &mut out);
            Encoding::Utf16Be.decode(before, second, &[], &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
