//! Results as Arrow IPC: a file, or a stream of the same batches for pipes.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow::ipc::writer::{FileWriter, StreamWriter};

use super::names::told_apart;
use super::plain::plain_batch;
use super::{Writer, into_io};

pub struct ArrowWriter<W: Write> {
    /// Each name once, or some readers take none of them.
    schema: SchemaRef,
    out: Out<W>,
}

enum Out<W: Write> {
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
}

impl<W: Write> ArrowWriter<W> {
    pub fn file(schema: &SchemaRef, out: W) -> io::Result<Self> {
        let schema = common_schema(schema);
        let out = FileWriter::try_new(out, &schema).map_err(into_io)?;
        Ok(Self { schema, out: Out::File(out) })
    }

    pub fn stream(schema: &SchemaRef, out: W) -> io::Result<Self> {
        let schema = common_schema(schema);
        let out = StreamWriter::try_new(out, &schema).map_err(into_io)?;
        Ok(Self { schema, out: Out::Stream(out) })
    }
}

impl<W: Write> Writer for ArrowWriter<W> {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let batch = plain_batch(batch, &self.schema).map_err(into_io)?;
        match &mut self.out {
            Out::File(out) => out.write(&batch).map_err(into_io),
            Out::Stream(out) => out.write(&batch).and_then(|()| out.flush()).map_err(into_io),
        }
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let mut out = match self.out {
            Out::File(out) => out.into_inner(),
            Out::Stream(out) => out.into_inner(),
        }
        .map_err(into_io)?;
        out.flush()
    }
}

/// The columns as what reads Arrow takes them: views are newer than many readers, and a file has each dictionary once.
fn common_schema(schema: &SchemaRef) -> SchemaRef {
    let schema = told_apart(schema);
    let field =
        |field: &FieldRef| Arc::new(Field::new(field.name(), common_type(field.data_type()), true));
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<FieldRef>>()))
}

fn common_type(ty: &DataType) -> DataType {
    use DataType::*;
    let field = |field: &FieldRef| {
        Arc::new(Field::clone(field).with_data_type(common_type(field.data_type())))
    };
    match ty {
        Utf8View => Utf8,
        BinaryView => Binary,
        Dictionary(_, values) => common_type(values),
        RunEndEncoded(_, values) => common_type(values.data_type()),
        List(item) | ListView(item) => List(field(item)),
        LargeList(item) | LargeListView(item) => LargeList(field(item)),
        FixedSizeList(item, size) => FixedSizeList(field(item), *size),
        Struct(fields) => Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}
