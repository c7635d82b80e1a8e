//! Samples of a file's records: all of a small file, and of a large one its beginning, its middle and its end.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::header::Header;
use crate::index::Index;
use crate::syntax::Syntax;

/// A piece of a file's text.
pub struct Sample {
    text: Vec<u8>,
    /// Whether it begins anywhere, rather than with a record.
    is_cut: bool,
}

impl Sample {
    /// Samples of a file, of so many bytes together.
    pub fn of_file(file: &Path, header: &Header, bytes_max: usize) -> io::Result<Vec<Sample>> {
        let mut file = File::open(file)?;
        let unit = header.encoding.unit_bytes() as u64;
        let (begin, end) = (header.body_at as u64, file.metadata()?.len());
        let (body, bytes) = (end.saturating_sub(begin), bytes_max as u64);
        if body <= bytes {
            return Ok(vec![Sample::read(&mut file, header, begin, body)?]);
        }
        let (most, some) = (bytes / 2, bytes / 4);
        let middle = begin + (body - some) / 2 / unit * unit;
        let last = begin + (body - some) / unit * unit;
        Ok(vec![
            Sample::read(&mut file, header, begin, most)?,
            Sample::read(&mut file, header, middle, some)?,
            Sample::read(&mut file, header, last, end - last)?,
        ])
    }

    /// A sample of a file whose first bytes these are.
    pub fn of_beginning(bytes: &[u8], is_whole: bool, header: &Header, bytes_max: usize) -> Sample {
        let body = bytes.get(header.body_at..).unwrap_or_default();
        let is_last = is_whole && body.len() <= bytes_max;
        let mut text = header.encoding.decoded(body[..body.len().min(bytes_max)].to_vec());
        if is_last {
            text.push(b'\n');
        }
        Sample { text, is_cut: false }
    }

    fn read(file: &mut File, header: &Header, at: u64, bytes: u64) -> io::Result<Sample> {
        file.seek(SeekFrom::Start(at))?;
        let mut piece = Vec::new();
        file.take(bytes).read_to_end(&mut piece)?;
        let is_last = at + bytes >= file.metadata()?.len();
        let mut text = header.encoding.decoded(piece);
        if is_last {
            text.push(b'\n');
        }
        Ok(Sample { text, is_cut: at != header.body_at as u64 })
    }

    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Its records, of which the first does not count where it is cut. Whether it begins within quotes is not known then:
    /// what makes most records have as many fields as they should is right, and where nothing does, there is nothing.
    pub fn records(&self, syntax: Syntax, fields: usize) -> Option<Cow<'_, [u8]>> {
        if !self.is_cut {
            return Some(Cow::Borrowed(&self.text));
        }
        let outside = share_of(&self.text, syntax, fields);
        let quoted = syntax.quote().map(|quote| [&[quote], &self.text[..]].concat());
        let inside = quoted.as_ref().map_or(0.0, |text| share_of(text, syntax, fields));
        match quoted {
            Some(quoted) if inside > outside.max(SHARE_MIN) => Some(Cow::Owned(quoted)),
            _ if outside > SHARE_MIN => Some(Cow::Borrowed(&self.text)),
            _ => None,
        }
    }
}

const SHARE_MIN: f64 = 0.5;

/// The share of the records after the first that have as many fields as they should.
fn share_of(text: &[u8], syntax: Syntax, fields: usize) -> f64 {
    let (mut all, mut right) = (0u32, 0u32);
    let mut index = Index::new(text, syntax);
    while let Some(stretch) = index.next_stretch() {
        for (first, found) in stretch.records() {
            if !stretch.is_blank(first, found) {
                all += 1;
                right += u32::from(found == fields && all > 1);
            }
        }
    }
    f64::from(right) / f64::from(all.max(2) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn records(text: &str) -> Option<String> {
        let sample = Sample { text: text.into(), is_cut: true };
        let records = sample.records(Dialect::default().syntax(), 2)?;
        Some(String::from_utf8(records.into_owned()).unwrap())
    }

    #[test]
    fn where_records_begin_is_found_out() {
        for (text, expected) in [
            ("2\n3,4\n5,6\n", Some("2\n3,4\n5,6\n")),
            ("a\nb\n\",1\n\"c\nd\",2\n", Some("\"a\nb\n\",1\n\"c\nd\",2\n")),
            ("one\ntwo\nthree\n", None),
            ("", None),
        ] {
            assert_eq!(records(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_large_file_is_looked_at_in_three_places() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows: String = (0..1000).map(|n| format!("{n}\n")).collect();
        std::fs::write(file.path(), format!("n\n{rows}")).unwrap();
        let header = crate::header::read_header(file.path(), &Dialect::default(), 1 << 20).unwrap();
        let samples = |bytes| Sample::of_file(file.path(), &header, bytes).unwrap();
        assert_eq!(samples(1 << 20).len(), 1);
        let three = samples(400);
        assert_eq!(three.iter().map(Sample::is_cut).collect::<Vec<_>>(), [false, true, true]);
        assert!(three[0].text().starts_with(b"0\n1\n") && three[2].text().ends_with(b"999\n\n"));
        assert_eq!(three.iter().map(|sample| sample.text().len()).sum::<usize>(), 401);
    }
}
