//! Several results on one stdout, each under its name.

use std::io::{self, Write};

use arrow::datatypes::SchemaRef;

use super::json::JsonWriter;
use super::{Format, Held, Style, stdout, writer};

pub struct Several {
    style: Style,
    shown: usize,
}

impl Several {
    pub fn new(style: Style) -> Self {
        Self { style, shown: 0 }
    }

    /// Shows a whole result.
    pub fn show(
        &mut self,
        name: &str,
        title: &str,
        schema: SchemaRef,
        rows: Held,
    ) -> io::Result<()> {
        let mut out = stdout();
        match self.style.format {
            Format::Table => writeln!(out, "{name}: {title}")?,
            Format::Markdown => writeln!(out, "## {name}: {title}\n")?,
            Format::Csv => writeln!(out, "# {name}: {title}")?,
            Format::Json => {
                let before = if self.shown == 0 { "{" } else { ",\n" };
                write!(out, "{before}{}:", serde_json::Value::from(name))?;
            }
            Format::Ndjson | Format::Parquet | Format::Arrow => {}
        }
        self.shown += 1;
        let mut writer = match self.style.format {
            Format::Json => Box::new(JsonWriter::value(&schema, out)),
            Format::Ndjson => writer(self.style, schema, Rows::of(name, out))?,
            _ => writer(self.style, schema, out)?,
        };
        rows.each(|batch| writer.write(batch))?;
        writer.finish()?;
        if matches!(self.style.format, Format::Table | Format::Markdown | Format::Csv) {
            writeln!(stdout())?;
        }
        Ok(())
    }

    /// After the last of them.
    pub fn finish(&self) -> io::Result<()> {
        let mut out = stdout();
        match self.style.format {
            Format::Json if self.shown == 0 => writeln!(out, "{{}}")?,
            Format::Json => writeln!(out, "}}")?,
            _ => {}
        }
        out.flush()
    }
}

/// Lines that are objects, each made the row of a result.
struct Rows<W: Write> {
    before: String,
    is_begun: bool,
    out: W,
}

impl<W: Write> Rows<W> {
    fn of(name: &str, out: W) -> Self {
        let before = format!("{{\"query\":{},\"row\":", serde_json::Value::from(name));
        Self { before, is_begun: false, out }
    }
}

impl<W: Write> Write for Rows<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_begun {
                self.out.write_all(self.before.as_bytes())?;
            }
            self.is_begun = true;
            match line.strip_suffix(b"\n") {
                Some(line) => {
                    self.out.write_all(line)?;
                    self.out.write_all(b"}\n")?;
                    self.is_begun = false;
                }
                None => self.out.write_all(line)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_row_however_it_is_cut() {
        let text = "{\"a\":1}\n{\"a\":2}\n";
        for cut in 1..=text.len() {
            let mut rows = Rows::of("q\"1", vec![]);
            text.as_bytes().chunks(cut).for_each(|piece| rows.write_all(piece).unwrap());
            let expected = "{\"query\":\"q\\\"1\",\"row\":{\"a\":1}}\n{\"query\":\"q\\\"1\",\"row\":{\"a\":2}}\n";
            assert_eq!(String::from_utf8(rows.out).unwrap(), expected, "{cut}");
        }
    }
}
