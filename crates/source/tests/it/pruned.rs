//! Rows that a filter rules out are left out where that saves reading them, and no others.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::*;
use caudal_core::RowFilter;
use caudal_core::row_filter::{Test, Value};
use caudal_source::{Options, Table};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::common::{Folder, Row, guessed, read_source};
use crate::write::parquet_with;

/// A column as the type stores it, and as rows of values.
#[derive(Clone, Debug)]
struct Column {
    array: ArrayRef,
    values: Vec<Option<Value>>,
}

fn column(kind: usize, numbers: &[Option<i16>]) -> Column {
    let ints = || numbers.iter().map(|n| n.map(i64::from));
    let texts = || numbers.iter().map(|n| n.map(|n| format!("{}{n:06}", "long ".repeat(20))));
    let array: ArrayRef = match kind {
        0 => Arc::new(Int64Array::from_iter(ints())),
        1 => Arc::new(UInt8Array::from_iter(ints().map(|n| n.map(|n| n as u8)))),
        2 => Arc::new(BooleanArray::from_iter(ints().map(|n| n.map(|n| n > 0)))),
        3 => Arc::new(Date32Array::from_iter(ints().map(|n| n.map(|n| n as i32)))),
        4 => {
            let times = TimestampMicrosecondArray::from_iter(ints());
            Arc::new(times.with_timezone("+00:00"))
        }
        5 => {
            let decimals = Decimal128Array::from_iter(ints().map(|n| n.map(i128::from)));
            Arc::new(
                decimals
                    .with_precision_and_scale(
                        if numbers.len().is_multiple_of(2) { 9 } else { 30 },
                        2,
                    )
                    .unwrap(),
            )
        }
        6 => Arc::new(StringArray::from_iter(texts())),
        _ => {
            let keys = Int32Array::from_iter((0..).zip(numbers).map(|(at, n)| n.map(|_| at)));
            let texts = StringArray::from_iter(texts());
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(texts)).unwrap())
        }
    };
    let value = |n: &Option<i16>, text: Option<String>| {
        let n = i128::from((*n)?);
        Some(match kind {
            1 => Value::Int((n as u8).into()),
            2 => Value::Int((n > 0).into()),
            0..=5 => Value::Int(n),
            _ => Value::Text(text?),
        })
    };
    let values = numbers.iter().zip(texts()).map(|(n, text)| value(n, text)).collect();
    Column { array, values }
}

/// Numbers as tables have them: in order, in clumps, the same throughout, none at all, anything.
fn numbers(rows: usize) -> impl Strategy<Value = Vec<Option<i16>>> {
    let null = prop_oneof![Just(0u8), Just(0), Just(20), Just(100)];
    let shape = 0..4usize;
    (shape, null, -50i16..50, prop::collection::vec((any::<i16>(), 0..100u8), rows)).prop_map(
        |(shape, null_percent, base, seeds)| {
            let number = |(at, (any, dice)): (usize, &(i16, u8))| {
                let number = match shape {
                    0 => base + (at / 4) as i16,
                    1 => base + (at / 60) as i16 * 7 + any % 4,
                    2 => base,
                    _ => any % 200,
                };
                (*dice >= null_percent).then_some(number)
            };
            seeds.iter().enumerate().map(number).collect()
        },
    )
}

#[derive(Clone, Debug)]
enum Asked {
    Column(usize, usize, Vec<usize>),
    Any(Vec<Asked>),
    All(Vec<Asked>),
}

fn asked() -> impl Strategy<Value = Asked> {
    let rows = prop::collection::vec(0..10_000usize, 1..4);
    let one =
        (0..4usize, 0..7usize, rows).prop_map(|(at, test, rows)| Asked::Column(at, test, rows));
    one.prop_recursive(3, 12, 3, |part| {
        let parts = prop::collection::vec(part, 0..3);
        prop_oneof![parts.clone().prop_map(Asked::Any), parts.prop_map(Asked::All)]
    })
}

/// The filter, with values that the columns have. There may be a column too many.
fn filter(asked: &Asked, columns: &[Column]) -> RowFilter {
    match asked {
        Asked::Any(parts) => RowFilter::any(parts.iter().map(|part| filter(part, columns))),
        Asked::All(parts) => RowFilter::all(parts.iter().map(|part| filter(part, columns))),
        Asked::Column(at, test, rows) => {
            let none = vec![];
            let values = columns.get(*at).map_or(&none, |column| &column.values);
            let value = |row: &usize| values.get(row % values.len().max(1)).cloned().flatten();
            let mut values: Vec<Value> = rows.iter().filter_map(value).collect();
            let Some(first) = values.first().cloned() else {
                return RowFilter::Column(*at, Test::IsNull);
            };
            if let Value::Text(text) = &mut values[0] {
                text.push('!');
            }
            let test = match test {
                0 => Test::IsNull,
                1 => Test::IsNotNull,
                2 => Test::OneOf(values),
                3 => Test::Less(first),
                4 => Test::AtMost(first),
                5 => Test::Greater(first),
                _ => Test::AtLeast(first),
            };
            RowFilter::Column(*at, test)
        }
    }
}

/// What SQL says of a row.
fn holds(filter: &RowFilter, columns: &[Column], row: usize) -> bool {
    let part = |part: &RowFilter| holds(part, columns, row);
    let (column, test) = match filter {
        RowFilter::Any(parts) => return parts.iter().any(part),
        RowFilter::All(parts) => return parts.iter().all(part),
        RowFilter::Column(column, test) => (columns.get(*column), test),
    };
    // Of a column that is not there nothing is known.
    let Some(column) = column else { return true };
    let Some(value) = &column.values[row] else { return *test == Test::IsNull };
    let is = |other: &Value| value.compare(other).unwrap();
    match test {
        Test::IsNull => false,
        Test::IsNotNull => true,
        Test::OneOf(values) => values.iter().any(|other| is(other).is_eq()),
        Test::Less(other) => is(other).is_lt(),
        Test::AtMost(other) => is(other).is_le(),
        Test::Greater(other) => is(other).is_gt(),
        Test::AtLeast(other) => is(other).is_ge(),
    }
}

fn batch(columns: &[Column]) -> RecordBatch {
    let named = columns
        .iter()
        .enumerate()
        .map(|(at, column)| (format!("c{at}"), Arc::clone(&column.array), true));
    RecordBatch::try_from_iter_with_nullable(named).unwrap()
}

/// The rows of it that are read, each with its position at its end.
fn read(table: &Table, rows: Option<RowFilter>, chunk_bytes: usize) -> (Vec<Row>, u64) {
    let all = (0..table.schema().fields().len()).collect();
    read_columns(table, all, rows, chunk_bytes)
}

fn read_columns(
    table: &Table,
    needed: Vec<usize>,
    rows: Option<RowFilter>,
    chunk_bytes: usize,
) -> (Vec<Row>, u64) {
    let (rows, position) = (rows.map(Arc::new), Some("_row".to_string()));
    let options = Options { rows, position, chunk_bytes, ..Options::default() };
    let source = table.open(needed, options).unwrap();
    let content = read_source(source.as_ref()).unwrap();
    let again = read_source(source.again().unwrap().as_ref()).unwrap();
    assert_eq!((&again.batch, &again.chunks), (&content.batch, &content.chunks));
    assert!(content.bytes as u64 <= source.total_bytes().unwrap());
    (content.rows(), source.total_bytes().unwrap())
}

fn properties(page_rows: usize, detail: usize, short_bounds: bool) -> WriterProperties {
    let statistics = [
        EnabledStatistics::Page,
        EnabledStatistics::Page,
        EnabledStatistics::Chunk,
        EnabledStatistics::None,
    ];
    let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][page_rows % 2];
    let bound_bytes = if short_bounds { Some(103) } else { None };
    WriterProperties::builder()
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_statistics_enabled(statistics[detail])
        .set_statistics_truncate_length(bound_bytes)
        .set_column_index_truncate_length(bound_bytes)
        .set_dictionary_enabled(detail == 0)
        .set_writer_version(version)
        .build()
}

proptest! {
    #![proptest_config(Config::with_cases(400))]
    #[test]
    fn rows_that_are_left_out_are_not_needed(
        (kinds, numbers) in (1..700usize).prop_flat_map(|rows| {
            (prop::collection::vec(0..8usize, 3), prop::collection::vec(numbers(rows), 3))
        }),
        filters in prop::collection::vec(asked(), 1..3),
        (group_rows, page_rows, detail) in (20..400usize, 5..60usize, 0..4usize),
        short_bounds in any::<bool>(),
    ) {
        let columns: Vec<Column> =
            kinds.iter().zip(&numbers).map(|(kind, numbers)| column(*kind, numbers)).collect();
        let folder = Folder::new();
        let properties = properties(page_rows, detail, short_bounds);
        let file = folder.file("t", parquet_with(&batch(&columns), group_rows, properties));
        let table = guessed(&[file]).unwrap();
        let filter = RowFilter::any(filters.iter().map(|asked| filter(asked, &columns)));
        let (all, _) = read(&table, None, 1 << 12);
        let (some, _) = read(&table, Some(filter.clone()), 1 << 12);
        let needed: Vec<&Row> = (0..all.len())
            .filter(|row| holds(&filter, &columns, *row))
            .map(|row| &all[row])
            .collect();
        let place = |row: &Row| row[3].as_ref().unwrap().parse::<u64>().unwrap();
        prop_assert!(some.iter().map(place).is_sorted_by(|one, other| one < other));
        let found: std::collections::BTreeMap<u64, &Row> =
            some.iter().map(|row| (place(row), row)).collect();
        for row in &needed {
            prop_assert_eq!(found.get(&place(row)), Some(row), "{:?}", filter);
        }
        let known: std::collections::BTreeSet<&Row> = all.iter().collect();
        prop_assert!(some.iter().all(|row| known.contains(row)), "rows that are none");
    }
}

proptest! {
    #![proptest_config(Config::with_cases(300))]
    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        value in 0..2000i16,
    ) {
        let columns = [column(0, &sorted(2000)), column(6, &sorted(2000))];
        let mut content = parquet_with(&batch(&columns), 1000, properties(100, 1, true));
        let end = content.len() - 6;
        // Statistics, page indexes and the footer.
        let begin = content.len() - content.len() / 5;
        for (at, byte) in changes {
            content[begin + at.index(end - begin)] = byte;
        }
        let folder = Folder::new();
        let read = || {
            let table = guessed(&[folder.file("t", &content)])?;
            let filter = RowFilter::Column(0, Test::AtLeast(Value::Int(value.into())));
            let options = Options { rows: Some(Arc::new(filter)), ..Options::default() };
            let columns = (0..table.schema().fields().len()).collect();
            read_source(table.open(columns, options)?.as_ref())
        };
        if let Err(error) = read() {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

fn sorted(rows: i16) -> Vec<Option<i16>> {
    (0..rows).map(Some).collect()
}

#[test]
fn row_groups_and_pages_without_needed_rows_are_not_read() {
    let columns = [column(0, &sorted(10_000)), column(6, &sorted(10_000))];
    let folder = Folder::new();
    let int = |n: i128| Value::Int(n);
    let between = |from, to| {
        let part = |test| RowFilter::Column(0, test);
        RowFilter::all([part(Test::AtLeast(int(from))), part(Test::Less(int(to)))])
    };
    let write = |detail| parquet_with(&batch(&columns), 1000, properties(100, detail, false));
    for (detail, rows_of_one, rows_of_two) in [(1, 100, 200), (2, 1000, 2000), (3, 10_000, 10_000)]
    {
        let table = guessed(&[folder.file("t", write(detail))]).unwrap();
        for (needed, is_probed) in [(vec![0], false), (vec![0, 1], true)] {
            let read = |filter| read_columns(&table, needed.clone(), filter, 1 << 12);
            let (all, all_bytes) = read(None);
            let count = |filter, fitting, by_statistics| {
                let needed: Vec<&Row> = (0..all.len())
                    .filter(|row| holds(&filter, &columns, *row))
                    .map(|row| &all[row])
                    .collect();
                let (rows, bytes) = read(Some(filter));
                assert!(rows.iter().all(|row| all.contains(row)));
                assert!(needed.into_iter().all(|row| rows.contains(row)));
                assert!(bytes <= all_bytes * by_statistics / 10_000 + 1, "{bytes} of {all_bytes}");
                // Where other columns are much more, rows are looked at one by one.
                let expected = if is_probed { fitting } else { by_statistics };
                assert_eq!(rows.len() as u64, expected);
            };
            count(between(4210, 4215), 5, rows_of_one);
            count(RowFilter::any([between(10, 15), between(9999, 10_500)]), 6, rows_of_two);
            count(between(20_000, 30_000), 0, if detail == 3 { 10_000 } else { 0 });
            let text = columns[1].values[4215].clone().unwrap();
            let by_text = RowFilter::Column(1, Test::OneOf(vec![text]));
            if !is_probed {
                count(RowFilter::all([by_text, between(0, 9000)]), 1, rows_of_one);
            }
        }
    }
}

/// A file's types may be narrower than its table's.
#[test]
fn bounds_are_compared_as_values_of_the_table() {
    let folder = Folder::new();
    let narrow: ArrayRef = Arc::new(Int8Array::from_iter_values(0..100));
    let wide: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100).map(|n| n << 40)));
    let file = |name, array| {
        let batch = RecordBatch::try_from_iter([("n", array)]).unwrap();
        folder.file(name, parquet_with(&batch, 50, WriterProperties::default()))
    };
    let table = guessed(&[file("1", narrow), file("2", wide)]).unwrap();
    let filter = |n| RowFilter::Column(0, Test::OneOf(vec![Value::Int(n)]));
    assert_eq!(read(&table, None, 1 << 20).0.len(), 200);
    assert_eq!(read(&table, Some(filter(60)), 1 << 20).0.len(), 100, "one of each");
    assert_eq!(read(&table, Some(filter(60 << 40)), 1 << 20).0.len(), 50);
    assert_eq!(read(&table, Some(filter(-1)), 1 << 20).0.len(), 0);
}

#[test]
fn a_large_row_group_is_read_by_several_threads() {
    let rows = 300_000i64;
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..rows).map(|n| format!("{}-{n}", "x".repeat(90))),
    ));
    let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
    let folder = Folder::new();
    let file = folder.file("t", parquet_with(&batch, 300_000, WriterProperties::default()));
    let table = guessed(&[file]).unwrap();
    let all = table.open(vec![0, 1], Options::default()).unwrap();
    let chunks = read_source(all.as_ref()).unwrap().chunks;
    // Numbers go on without a gap where one thread decodes it all.
    assert!(chunks.windows(2).any(|pair| pair[1] - pair[0] > 1), "{chunks:?}");
    let (rows, _) = read(&table, None, 1 << 20);
    assert_eq!(rows.len(), 300_000);
    for (at, row) in rows.iter().enumerate() {
        let at = at.to_string();
        assert!(row[0].as_ref() == Some(&at) && row[2].as_ref() == Some(&at), "{row:?}");
    }
}
