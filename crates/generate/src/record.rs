//! Writing CSV records.

/// A record being appended to a buffer, field by field.
pub(crate) struct Record<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Record<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, first: true }
    }

    /// A field that may need quotes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.separate();
        let bytes = text.as_bytes();
        if memchr::memchr3(b',', b'"', b'\n', bytes).is_none() {
            self.out.extend_from_slice(bytes);
            return self;
        }
        self.out.push(b'"');
        let mut rest = bytes;
        while let Some(quote) = memchr::memchr(b'"', rest) {
            self.out.extend_from_slice(&rest[..=quote]);
            self.out.push(b'"');
            rest = &rest[quote + 1..];
        }
        self.out.extend_from_slice(rest);
        self.out.push(b'"');
        self
    }

    /// A field that is known to need no quotes.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.separate();
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn int(&mut self, value: u64) -> &mut Self {
        self.separate();
        push_int(self.out, value);
        self
    }

    /// A whole number as pandas writes one in a column that has gaps: `17272.0`.
    pub(crate) fn int_as_float(&mut self, value: u64) -> &mut Self {
        self.int(value);
        self.out.extend_from_slice(b".0");
        self
    }

    /// An amount in hundredths, as pandas writes it: `63.5`, `12.0`, `57.15`.
    pub(crate) fn amount(&mut self, hundredths: u64) -> &mut Self {
        self.int(hundredths / 100);
        let cents = hundredths % 100;
        self.out.extend_from_slice(&[b'.', b'0' + (cents / 10) as u8]);
        if !cents.is_multiple_of(10) {
            self.out.push(b'0' + (cents % 10) as u8);
        }
        self
    }

    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.plain(if value { "True" } else { "False" })
    }

    pub(crate) fn empty(&mut self) -> &mut Self {
        self.plain("")
    }

    pub(crate) fn end(&mut self) {
        self.out.push(b'\n');
    }

    fn separate(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }
}

pub(crate) fn push_int(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Record<'_>)) -> String {
        let mut out = Vec::new();
        let mut record = Record::new(&mut out);
        write(&mut record);
        record.end();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_what_needs_quotes_gets_them() {
        let line = written(|r| {
            r.text("plain").text("a,b").text("say \"hi\"").text("two\nlines").empty();
        });
        assert_eq!(line, "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\n");
    }

    #[test]
    fn numbers_look_as_pandas_writes_them() {
        let line = written(|r| {
            r.int(7).int_as_float(17272).amount(6350).amount(1200).amount(5715).bool(true);
        });
        assert_eq!(line, "7,17272.0,63.5,12.0,57.15,True\n");
    }
}
