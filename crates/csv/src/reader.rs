//! A table being read.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use caudal_core::limits;

use crate::chunk::Chunk;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::layout::{Expected, Layout};
use crate::parse::{Parsed, Wanted, parse};
use crate::spec::{Column, Options, Table, Type};
use crate::stream::{Limits, Stream};

/// Reads a table. To be shared by as many threads as there are, each of which takes a chunk and parses it.
#[derive(Debug)]
pub struct Reader {
    table: String,
    /// The columns that are parsed.
    columns: Vec<Column>,
    /// Which of them are handed on, if not all.
    picked: Option<Vec<usize>>,
    schema: SchemaRef,
    dialect: Dialect,
    options: Options,
    total_bytes: u64,
    layouts: Vec<Layout>,
    limits: Limits,
    stream: Stream,
}

impl Reader {
    /// Opens a table for the columns that `projection` picks from those of `spec`, looking at the header
    /// of each file.
    ///
    /// # Panics
    ///
    /// If `projection` holds an index beyond `spec.columns`.
    pub fn open(spec: Table, projection: Vec<usize>, options: Options) -> Result<Reader, Error> {
        let projected: Vec<Column> = projection.iter().map(|i| spec.columns[*i].clone()).collect();
        let schema = schema(&projected, options.position.as_deref());
        let (columns, picked) = match options.judge_all_columns {
            true => (spec.columns, Some(projection)),
            false => (projected, None),
        };
        if spec.files.is_empty() {
            return Err(Error::NoFiles(spec.name));
        }
        if let Some(why) = spec.dialect.contradiction() {
            return Err(Error::BadDialect { table: spec.name, why });
        }
        for column in &columns {
            check_type(column, &spec.name)?;
        }
        let growth_max = spec.dialect.encoding.growth_max();
        let limits = Limits {
            chunk_bytes: options.chunk_bytes.clamp(1, limits::CSV_CHUNK_BYTES_MAX / growth_max),
            growth_max,
            record_bytes_max: options.record_bytes_max.clamp(1, limits::CSV_CHUNK_BYTES_MAX),
        };
        let expected = Expected {
            table: &spec.name,
            columns: &columns,
            fields: spec.fields,
            dialect: &spec.dialect,
            record_bytes_max: limits.record_bytes_max,
        };
        let layouts = spec.files.iter().map(|file| Layout::of_file(file, &expected));
        let layouts = layouts.collect::<Result<Vec<_>, _>>()?;
        Ok(Reader {
            table: spec.name,
            schema,
            total_bytes: layouts.iter().map(|layout| layout.file_bytes).sum(),
            stream: Stream::new(layouts.clone(), spec.dialect.syntax(), limits),
            layouts,
            limits,
            columns,
            picked,
            dialect: spec.dialect,
            options,
        })
    }

    /// A reader of the same table from its start, which gives the same chunks. Fails if a file is not what it was.
    pub fn again(&self) -> Result<Reader, Error> {
        self.check_unchanged()?;
        Ok(Reader {
            table: self.table.clone(),
            columns: self.columns.clone(),
            picked: self.picked.clone(),
            dialect: self.dialect.clone(),
            schema: Arc::clone(&self.schema),
            options: self.options.clone(),
            total_bytes: self.total_bytes,
            stream: Stream::new(self.layouts.clone(), self.dialect.syntax(), self.limits),
            layouts: self.layouts.clone(),
            limits: self.limits,
        })
    }

    /// Fails if a file is not what it was when the table was opened.
    pub fn check_unchanged(&self) -> Result<(), Error> {
        self.layouts.iter().try_for_each(Layout::check_unchanged)
    }

    /// The projected columns, then the position if there is one.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The size of all files.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The next piece of the files, or `None` at their end and after an error.
    pub fn next_chunk(&self) -> Result<Option<Chunk>, Error> {
        self.stream.next_chunk()
    }

    /// Parses a chunk of this reader, on the calling thread. Fails only if the reader is strict.
    pub fn parse(&self, chunk: Chunk) -> Result<Parsed, Error> {
        let (columns, picked) = (&self.columns[..], self.picked.as_deref());
        let wanted = Wanted { columns, picked, schema: &self.schema };
        let mut parsed = parse(chunk, &wanted, &self.dialect, &self.options);
        if self.options.strict && !parsed.rejects.is_empty() {
            return Err(Error::Strict(Box::new(parsed.rejects.swap_remove(0))));
        }
        Ok(parsed)
    }

    /// Once all is read: whether as much of it fits as was asked for.
    pub fn check_loss(&self, rows: u64, rejected: u64) -> Result<(), Error> {
        match self.options.rejected_percent_max {
            Some(percent_max) if is_too_much(rows, rejected, percent_max) => {
                let table = self.table.clone();
                Err(Error::TooMuchRejected { table, rows: rows + rejected, rejected, percent_max })
            }
            _ => Ok(()),
        }
    }
}

/// Whether more is lost than may be: always if nothing is left.
fn is_too_much(rows: u64, rejected: u64, percent_max: f64) -> bool {
    let share = rejected as f64 * 100.0;
    rejected > 0 && (rows == 0 || share > percent_max * (rows + rejected) as f64)
}

fn check_type(column: &Column, table: &str) -> Result<(), Error> {
    const PRECISION_MAX: u8 = 38;
    match column.ty {
        Type::Decimal { precision, scale }
            if !(1..=PRECISION_MAX).contains(&precision)
                || !(0..=precision as i8).contains(&scale) =>
        {
            Err(Error::InvalidDecimal {
                table: table.into(),
                column: column.name.clone(),
                ty: column.ty,
            })
        }
        _ => Ok(()),
    }
}

fn schema(columns: &[Column], position: Option<&str>) -> SchemaRef {
    let field = |column: &Column| Field::new(&column.name, column.ty.data_type(), true);
    let position = position.map(|name| Field::new(name, DataType::UInt64, false));
    Arc::new(Schema::new(columns.iter().map(field).chain(position).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::is_too_much;

    #[test]
    fn too_much_is_more_than_the_share_or_all() {
        assert!(!is_too_much(0, 0, 10.0));
        assert!(!is_too_much(90, 10, 10.0));
        assert!(is_too_much(89, 11, 10.0));
        assert!(is_too_much(0, 1, 100.0));
        assert!(!is_too_much(1, 99, 100.0));
        assert!(is_too_much(1_000_000, 1, 0.0));
        assert!(!is_too_much(1_000_000, 0, 0.0));
    }
}
