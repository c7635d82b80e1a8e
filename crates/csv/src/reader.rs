//! A table being read.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use caudal_core::limits;

use crate::chunk::Chunk;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::input::Input;
use crate::layout::{Expected, Layout};
use crate::parse::{Parsed, Wanted, parse};
use crate::spec::{Column, Options, Table, Type};
use crate::stream::{Limits, Stream};

/// Reads a table. To be shared by as many threads as there are, each of which takes a chunk and parses it.
#[derive(Debug)]
pub struct Reader {
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
        Reader::over(spec, projection, options, |spec, expected, limits| {
            let layouts = spec.files.iter().map(|file| Layout::of_file(file, expected));
            let layouts = layouts.collect::<Result<Vec<_>, _>>()?;
            let syntax = expected.dialect.syntax();
            Ok((Stream::of_files(layouts.clone(), syntax, limits), layouts))
        })
    }

    /// The same for a table of one file whose bytes come in their order, from its first. Their number is not known.
    ///
    /// # Panics
    ///
    /// If `projection` holds an index beyond `spec.columns`.
    pub fn of_input(
        spec: Table,
        projection: Vec<usize>,
        options: Options,
        input: Input,
    ) -> Result<Reader, Error> {
        Reader::over(spec, projection, options, |spec, expected, limits| {
            let (layout, body) = Layout::of_input(&spec.files[0], input, expected)?;
            let syntax = expected.dialect.syntax();
            Ok((Stream::of_input(layout.clone(), body, syntax, limits), vec![layout]))
        })
    }

    fn over(
        spec: Table,
        projection: Vec<usize>,
        options: Options,
        open: impl FnOnce(&Table, &Expected<'_>, Limits) -> Result<(Stream, Vec<Layout>), Error>,
    ) -> Result<Reader, Error> {
        let projected: Vec<Column> = projection.iter().map(|i| spec.columns[*i].clone()).collect();
        let schema = schema(&projected, options.position.as_deref());
        let (columns, picked) = match options.judge_all_columns {
            true => (spec.columns.clone(), Some(projection)),
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
        let (stream, layouts) = open(&spec, &expected, limits)?;
        Ok(Reader {
            schema,
            total_bytes: layouts.iter().map(|layout| layout.file_bytes).sum(),
            stream,
            layouts,
            limits,
            columns,
            picked,
            dialect: spec.dialect,
            options,
        })
    }

    /// A reader of the same table from its start, which gives the same chunks. Fails if a file is not what it was, and if its
    /// bytes come in their order.
    pub fn again(&self) -> Result<Reader, Error> {
        self.check_unchanged()?;
        Ok(Reader {
            columns: self.columns.clone(),
            picked: self.picked.clone(),
            dialect: self.dialect.clone(),
            schema: Arc::clone(&self.schema),
            options: self.options.clone(),
            total_bytes: self.total_bytes,
            stream: Stream::of_files(self.layouts.clone(), self.dialect.syntax(), self.limits),
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

    /// The size of all files, where they are files.
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
