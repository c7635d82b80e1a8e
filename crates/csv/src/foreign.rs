//! Files that are no text of a table, by more than their first bytes: archives, pages, whatever is binary.

use crate::kind::Kind;

/// What the beginning of a file shows; nothing, if it may be CSV.
pub fn kind_of(head: &[u8]) -> Option<Kind> {
    const ARCHIVE_AT: usize = 257;
    let is_archive = head.get(ARCHIVE_AT..).is_some_and(|rest| rest.starts_with(b"ustar"));
    if is_archive {
        return Some(Kind::Tar);
    }
    // Without a file in it, and spread over several.
    if head.starts_with(b"PK\x05\x06") || head.starts_with(b"PK\x07\x08") {
        return Some(Kind::Zip);
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |word: &str| {
        text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    if ["<!doctype html", "<html", "<head", "<body"].into_iter().any(begins) {
        return Some(Kind::Page);
    }
    if ["<?xml", "<!doctype"].into_iter().any(begins) {
        return Some(Kind::Other("XML"));
    }
    is_binary(head).then_some(Kind::Binary)
}

/// Whether there are zeros, and either many of them or other bytes that text has not. A few zeros alone are text of somebody
/// who wrote them.
fn is_binary(head: &[u8]) -> bool {
    let zeros = head.iter().filter(|byte| **byte == 0).count();
    // Without those that divide fields somewhere.
    let is_control = |byte: &u8| matches!(byte, 0x02..=0x08 | 0x0e..=0x1a);
    zeros > 0 && (head.iter().any(is_control) || zeros * 10 > head.len() * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_is_known() {
        let mut archive = b"data/t.csv".to_vec();
        archive.resize(257, 0);
        archive.extend_from_slice(b"ustar\0");
        for (head, expected) in [
            (&archive[..], Some(Kind::Tar)),
            (b"PK\x05\x06\0\0", Some(Kind::Zip)),
            (b"\n<!DOCTYPE html>\n<html>", Some(Kind::Page)),
            (b"\xef\xbb\xbf<HTML lang='en'>", Some(Kind::Page)),
            (b"<?xml version=\"1.0\"?>", Some(Kind::Other("XML"))),
            (b"\x02\x04abc\0\0", Some(Kind::Binary)),
            (b"abc\0\0\0\0", Some(Kind::Binary)),
            (b"a,b\n1,\0\n2,\0\n", None),
            (b"a\x01b\n1\x01\0\n", None),
            (b"<html, is a fine name", Some(Kind::Page)),
            (b"<htm>,b\n", None),
            (b"<a>,<b>\n1,2\n", None),
            (b"a,b\n1,2\n", None),
            (b"", None),
        ] {
            assert_eq!(kind_of(head), expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
