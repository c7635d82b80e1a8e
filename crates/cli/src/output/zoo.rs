//! One column of every type that a result may have, through every format.

use std::io::Cursor;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::*;
use arrow::ipc::reader::{FileReader, StreamReader};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::cells::Cells;
use super::plain::{plain_batch, plain_schema};
use super::{Format, Style, writer};

/// Three rows, the second of them NULL.
fn zoo() -> Vec<ArrayRef> {
    use DataType::*;
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(86_399)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a|b"), None, Some("")]));
    let mut zoo = vec![Arc::new(NullArray::new(3)) as ArrayRef];
    let zone = || Some("UTC".into());
    let small = cast(&Int64Array::from(vec![Some(1), None, Some(8)]), &Int8).unwrap();
    for to in [Boolean, Int8, Int16, Int32, UInt8, UInt16, UInt32, UInt64, Float16, Float32] {
        zoo.push(cast(&small, &to).unwrap());
    }
    let units =
        [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    for to in [Int64, Float64, Date64, Time64(TimeUnit::Microsecond), Time64(TimeUnit::Nanosecond)]
    {
        zoo.push(cast(&numbers, &to).unwrap());
    }
    for to in [Date32, Time32(TimeUnit::Second), Time32(TimeUnit::Millisecond)] {
        zoo.push(cast(&cast(&numbers, &Int32).unwrap(), &to).unwrap());
    }
    for unit in units {
        for to in [Timestamp(unit, None), Timestamp(unit, zone()), Duration(unit)] {
            zoo.push(cast(&numbers, &to).unwrap());
        }
    }
    for to in [Decimal32(9, 2), Decimal64(18, 2), Decimal128(38, 2), Decimal256(76, 2)] {
        zoo.push(cast(&numbers, &to).unwrap());
    }
    for to in [Utf8, LargeUtf8, Utf8View, Binary, LargeBinary, BinaryView] {
        zoo.push(cast(&texts, &to).unwrap());
    }
    let bytes = vec![Some([1u8, 255].as_slice()), None, Some([0, 0].as_slice())];
    zoo.push(Arc::new(
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.into_iter(), 2).unwrap(),
    ));
    let nano = |months, days, nanos| IntervalMonthDayNano::new(months, days, nanos);
    let intervals: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![
        Some(nano(14, 3, 5)),
        None,
        Some(nano(0, -1, 0)),
    ]));
    zoo.push(Arc::new(IntervalYearMonthArray::from(vec![Some(14), None, Some(-1)])));
    let day_time = IntervalDayTime::new;
    zoo.push(Arc::new(IntervalDayTimeArray::from(vec![
        Some(day_time(1, 5)),
        None,
        Some(day_time(-1, 0)),
    ])));
    zoo.push(Arc::clone(&intervals));
    let seconds = cast(&numbers, &Timestamp(TimeUnit::Second, None)).unwrap();
    let keys = Int32Array::from(vec![Some(0), None, Some(2)]);
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    for values in [&numbers, &texts, &seconds, &intervals, &flags] {
        zoo.push(Arc::new(DictionaryArray::new(keys.clone(), Arc::clone(values))));
    }
    for to in [
        Dictionary(Box::new(Int8), Box::new(Utf8)),
        Dictionary(Box::new(UInt64), Box::new(Utf8View)),
    ] {
        zoo.push(cast(&texts, &to).unwrap());
    }
    for values in zoo.clone().into_iter().filter(|values| !matches!(values.data_type(), Null)) {
        zoo.push(list_of(&values));
    }
    for values in [&numbers, &texts, &seconds, &intervals] {
        let ends = Int32Array::from(vec![1, 2, 3]);
        zoo.push(Arc::new(RunArray::try_new(&ends, values).unwrap()));
        let fields = Fields::from(vec![Field::new("x", values.data_type().clone(), true)]);
        let nulls = values.nulls().cloned();
        zoo.push(Arc::new(StructArray::new(fields, vec![Arc::clone(values)], nulls)));
        zoo.push(map_to(values));
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let (offsets, sizes) =
            (ScalarBuffer::from(vec![0, 1, 1]), ScalarBuffer::from(vec![1, 0, 2]));
        zoo.push(Arc::new(ListViewArray::new(
            Arc::clone(&item),
            offsets,
            sizes,
            Arc::clone(values),
            None,
        )));
        zoo.push(Arc::new(FixedSizeListArray::new(item, 1, Arc::clone(values), None)));
    }
    zoo.push(Arc::new(StructArray::new_empty_fields(3, None)));
    let union = union_of(&numbers, &texts);
    zoo.push(list_of(&union));
    zoo.push(union);
    zoo
}

/// `[[first], NULL, [second, third]]`
fn list_of(values: &ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let offsets = OffsetBuffer::new(vec![0, 1, 1, 3].into());
    let nulls = Some(vec![true, false, true].into());
    Arc::new(ListArray::new(item, offsets, Arc::clone(values), nulls))
}

fn map_to(values: &ArrayRef) -> ArrayRef {
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["k", "l", "m"]));
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ]);
    let entries = StructArray::new(fields.clone(), vec![keys, Arc::clone(values)], None);
    let entry = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    Arc::new(MapArray::new(entry, OffsetBuffer::new(vec![0, 1, 1, 3].into()), entries, None, false))
}

fn union_of(numbers: &ArrayRef, texts: &ArrayRef) -> ArrayRef {
    let fields = [
        (0, Arc::new(Field::new("n", DataType::Int64, true))),
        (1, Arc::new(Field::new("t", DataType::Utf8, true))),
    ];
    let children = vec![Arc::clone(numbers), Arc::clone(texts)];
    Arc::new(
        UnionArray::try_new(fields.into_iter().collect(), vec![0, 0, 1].into(), None, children)
            .unwrap(),
    )
}

fn batch_of(column: &ArrayRef) -> RecordBatch {
    let field = Field::new("x", column.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::clone(column)]).unwrap()
}

fn written(batch: &RecordBatch, style: impl Into<Style>) -> Vec<u8> {
    let (style, mut bytes) = (style.into(), vec![]);
    let mut out = writer(style, batch.schema(), &mut bytes).unwrap();
    let wrote = out.write(batch).and_then(|()| out.finish());
    let of = batch.schema();
    wrote.unwrap_or_else(|error| panic!("{style:?} of {}: {error}", of.field(0).data_type()));
    bytes
}

fn texts_of(batch: &RecordBatch) -> Vec<String> {
    let cells = Cells::of(batch).unwrap();
    (0..batch.num_rows()).flat_map(|row| cells.row(row).unwrap()).collect()
}

#[test]
fn parquet_holds_what_was_there_for_whoever_does_not_know_arrow() {
    for column in zoo() {
        let batch = batch_of(&column);
        let bytes = Bytes::from(written(&batch, Format::Parquet));
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options).unwrap();
        let read: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        let plain = plain_batch(&batch, &plain_schema(&batch.schema())).unwrap();
        assert_eq!(texts_of(&read[0]), texts_of(&plain), "{}", column.data_type());
        let is_time = matches!(
            column.data_type(),
            DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) | DataType::Date32
        );
        assert!(!is_time || texts_of(&plain) == texts_of(&batch), "{}", column.data_type());
    }
}

#[test]
fn arrow_holds_what_was_there() {
    for column in zoo() {
        let batch = batch_of(&column);
        for is_stream in [false, true] {
            let style = Style { is_stream, ..Style::from(Format::Arrow) };
            let bytes = Cursor::new(written(&batch, style));
            let read: Vec<_> = match is_stream {
                true => StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect(),
                false => FileReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect(),
            };
            let expected = plain_batch(&batch, &read[0].schema()).unwrap();
            assert_eq!(texts_of(&read[0]), texts_of(&expected), "{}", column.data_type());
        }
    }
}

#[test]
fn every_text_format_shows_every_value() {
    for column in zoo() {
        let batch = batch_of(&column);
        for format in [Format::Table, Format::Csv, Format::Markdown, Format::Json, Format::Ndjson] {
            let text = String::from_utf8(written(&batch, format)).unwrap();
            assert!(!text.contains("ERROR"), "{format:?} of {}: {text}", column.data_type());
        }
        let csv = written(&batch, Format::Csv);
        let rows = csv::ReaderBuilder::new().from_reader(csv.as_slice()).into_records().count();
        assert_eq!(rows, 3, "{}", column.data_type());
        let json: serde_json::Value =
            serde_json::from_slice(&written(&batch, Format::Json)).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 3, "{}", column.data_type());
        let first = &json[0]["x"];
        assert!(
            first.is_null() == column.logical_nulls().is_some_and(|nulls| nulls.is_null(0)),
            "{}: {json}",
            column.data_type()
        );
    }
}

#[test]
fn what_cannot_be_shown_is_an_error() {
    let beyond: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
    let batch = batch_of(&beyond);
    for format in [Format::Table, Format::Csv, Format::Markdown, Format::Json, Format::Parquet] {
        let mut out = writer(format, batch.schema(), vec![]).unwrap();
        assert!(out.write(&batch).and_then(|()| out.finish()).is_err(), "{format:?}");
    }
}
