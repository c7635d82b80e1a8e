//! Tables of Parquet files: row groups side by side, and of large ones their parts, of the needed columns and rows only.

mod at;
mod needed;
mod probe;
mod statistics;
mod stretch;

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use caudal_core::RowFilter;
use caudal_csv::{Note, Options};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, RowSelection};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use self::needed::Needed;
use self::statistics::Statistics;
use self::stretch::Stretch;
use crate::abreast::abreast;
use crate::at::FileAt;
use crate::columns::{self, Described, Laid};
use crate::error::Error;
use crate::fill::{Fill, filled};
use crate::format::{Content, Format};
use crate::guard::guarded;
use crate::lanes::{Chunks, Lanes, SideBySide};
use crate::origin::{Origin, Stamp};
use crate::position::{Numbers, with_position};

const NAME: &str = "Parquet file";

/// A table of Parquet files.
#[derive(Clone, Debug)]
pub struct Parquet {
    origins: Arc<[Origin]>,
    files: Arc<[ParquetFile]>,
    schema: SchemaRef,
}

/// A file with what its footer says.
#[derive(Clone, Debug)]
struct ParquetFile {
    origin: Origin,
    stamp: Option<Stamp>,
    metadata: ArrowReaderMetadata,
}

impl Parquet {
    /// With the columns that its files say, and what there is to say about them.
    pub fn of(origins: Arc<[Origin]>, union_by_name: bool) -> Result<(Parquet, Vec<Note>), Error> {
        let are_far = origins.iter().any(Origin::is_far);
        let files: Arc<[_]> = abreast(are_far, &origins, ParquetFile::of)?.into();
        let described: Vec<_> = files.iter().map(ParquetFile::described).collect();
        let (schema, notes) = columns::of_files(&described, union_by_name)?;
        Ok((Parquet { origins, files, schema }, notes))
    }
}

impl ParquetFile {
    fn of(origin: &Origin) -> Result<ParquetFile, Error> {
        if !origin.is_at_any_place() {
            let path = origin.path().to_path_buf();
            return Err(Error::NeedsFile { path, format: "Parquet" });
        }
        let stamp = origin.stamp()?;
        let file = origin.at()?;
        let metadata = guarded(origin.path(), NAME, || {
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
            match metadata.metadata().row_groups().iter().all(|group| group.num_rows() >= 0) {
                true => Ok(with_views(metadata)),
                false => Err(ParquetError::General("a row group has less than no rows".into())),
            }
        })?;
        Ok(ParquetFile { origin: origin.clone(), stamp, metadata })
    }

    fn described(&self) -> Described<'_> {
        Described { path: self.origin.path(), schema: self.metadata.schema() }
    }

    fn open(&self) -> Result<FileAt, Error> {
        self.origin.check_unchanged(&self.stamp)?;
        self.origin.at()
    }

    /// What it says of itself with its page index, where it has one and some of it is for these row groups.
    fn with_pages(&self, groups: &[usize]) -> Result<ArrowReaderMetadata, Error> {
        let metadata = self.metadata.metadata();
        let has_pages = |group: &usize| {
            let mut columns = metadata.row_group(*group).columns().iter();
            columns.any(|column| column.column_index_offset().is_some())
        };
        if !groups.iter().any(has_pages) {
            return Ok(self.metadata.clone());
        }
        let file = self.open()?;
        guarded(self.origin.path(), NAME, || {
            let known = ParquetMetaData::clone(metadata);
            let mut reader = ParquetMetaDataReader::new_with_metadata(known)
                .with_page_index_policy(PageIndexPolicy::Optional);
            reader.read_page_indexes(&file)?;
            let (known, options) = (Arc::new(reader.finish()?), ArrowReaderOptions::new());
            ArrowReaderMetadata::try_new(known, options).map(with_views)
        })
    }

    /// The row groups of which rows may be needed, and which of their rows.
    fn needed_rows(&self, table: &Schema, filter: Option<&RowFilter>) -> Result<NeededRows, Error> {
        let groups = 0..self.metadata.metadata().num_row_groups();
        let Some(filter) = filter else {
            let rows = groups.map(|group| (group, None)).collect();
            return Ok((self.metadata.clone(), rows));
        };
        let path = self.origin.path();
        let groups: Vec<usize> = guarded(path, NAME, || {
            let statistics = Statistics::new(&self.metadata, table);
            let groups = groups.filter(|group| statistics.may_hold(filter, *group));
            Ok::<_, ParquetError>(groups.collect())
        })?;
        let metadata = self.with_pages(&groups)?;
        let rows = guarded(path, NAME, || {
            let statistics = Statistics::new(&metadata, table);
            let rows =
                groups.into_iter().map(|group| (group, Some(statistics.rows(filter, group))));
            Ok::<_, ParquetError>(rows.collect())
        })?;
        Ok((metadata, rows))
    }
}

/// What is known of a file, and of each row group of which rows are needed which: all of them, if it is not said.
type NeededRows = (ArrowReaderMetadata, Vec<(usize, Option<RowSelection>)>);

/// Texts are read as views, which are made without copying them, and dictionaries as their values, where that can be had.
fn with_views(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let field = |field: &FieldRef| match read_as(field.data_type()) {
        Some(ty) => Arc::new(Field::clone(field).with_data_type(ty)),
        None => Arc::clone(field),
    };
    let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(field).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}

fn read_as(ty: &DataType) -> Option<DataType> {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 => Some(DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary => Some(DataType::BinaryView),
        DataType::Dictionary(_, values) => {
            Some(read_as(values).unwrap_or_else(|| DataType::clone(values)))
        }
        _ => None,
    }
}

impl Format for Parquet {
    fn origins(&self) -> Result<Arc<[Origin]>, Error> {
        Ok(Arc::clone(&self.origins))
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&self, needed: &[usize], options: &Options) -> Result<Content, Error> {
        let fields: Vec<_> = needed.iter().map(|at| self.schema.fields()[*at].clone()).collect();
        let (position, filter) = (options.position.as_deref(), options.rows.as_deref());
        let needed_rows = |file: &ParquetFile| {
            file.origin.check_unchanged(&file.stamp)?;
            file.needed_rows(&self.schema, filter)
        };
        let are_far = self.origins.iter().any(Origin::is_far);
        let known = abreast(are_far, &self.files, needed_rows)?;
        let (mut stretches, mut total_bytes, mut groups_before) = (vec![], 0, 0);
        for (at, (file, (metadata, rows))) in self.files.iter().zip(known).enumerate() {
            let groups = metadata.metadata().num_row_groups();
            let Laid { columns, schema, fill } = Laid::of(&file.described(), &fields, position)?;
            let needs = Arc::new(Needed::new(metadata, columns, &schema, &self.schema, options));
            for (group, rows) in rows {
                let sizes = needs.sizes(group);
                for stretch in needs.stretches(group, file.origin.is_far()) {
                    let rows = within(stretch, rows.as_ref(), sizes.rows);
                    if rows.selects_any() {
                        total_bytes += sizes.bytes_up_to(rows.row_count());
                        let (needs, fill) = (Arc::clone(&needs), fill.clone());
                        let number = groups_before + group;
                        stretches.push(Place { file: at, group, number, rows, needs, fill });
                    }
                }
            }
            groups_before += groups;
        }
        let lanes = Stretches {
            files: Arc::clone(&self.files),
            numbers: Numbers::of(stretches.len()),
            positions: Numbers::of(groups_before),
            stretches,
        };
        let chunks = Box::new(SideBySide::new(lanes));
        let schema = with_position(fields, position);
        Ok(Content { schema, total_bytes: Some(total_bytes), chunks })
    }
}

/// The rows of a stretch of a row group that are needed.
fn within(stretch: Range<usize>, needed: Option<&RowSelection>, all: usize) -> RowSelection {
    let stretch = RowSelection::from_consecutive_ranges(std::iter::once(stretch), all);
    match needed {
        Some(needed) => needed.intersection(&stretch),
        None => stretch,
    }
}

/// Parts of the row groups of all files.
#[derive(Debug)]
struct Stretches {
    files: Arc<[ParquetFile]>,
    stretches: Vec<Place>,
    numbers: Numbers,
    /// Of all row groups, also those of which nothing is needed.
    positions: Numbers,
}

#[derive(Debug)]
struct Place {
    file: usize,
    group: usize,
    /// Of the row group among those of all files.
    number: usize,
    rows: RowSelection,
    needs: Arc<Needed>,
    fill: Option<Arc<Fill>>,
}

impl Lanes for Stretches {
    fn count(&self) -> usize {
        self.stretches.len()
    }

    fn file(&self, lane: usize) -> usize {
        self.stretches[lane].file
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let Place { file, group, number, rows, needs, fill } = &self.stretches[lane];
        let file = self.files[*file].clone();
        let first = self.positions.first_position(*number, needs.sizes(*group).rows)?;
        let (rows, numbers) = ((*group, rows.clone()), (self.numbers, lane));
        let stretch = Stretch::new(file, Arc::clone(needs), rows, numbers, first);
        Ok(filled(Arc::new(stretch), fill.as_ref()))
    }
}
