//! Tables of Parquet files: row groups side by side, of the needed columns only.

mod at;
mod row_group;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use caudal_core::limits;
use caudal_csv::{Note, Options};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use self::row_group::{Needed, RowGroup};
use crate::abreast::abreast;
use crate::at::FileAt;
use crate::columns::{self, Described, Laid};
use crate::error::Error;
use crate::fill::{Fill, filled};
use crate::format::{Content, Format};
use crate::guard::{guarded, keep};
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
            Ok::<_, parquet::errors::ParquetError>(with_views(metadata))
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
}

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
        let position = options.position.as_deref();
        let mut row_groups = vec![];
        let mut total_bytes = 0;
        for (at, file) in self.files.iter().enumerate() {
            file.origin.check_unchanged(&file.stamp)?;
            let Laid { columns, schema, fill } = Laid::of(&file.described(), &fields, position)?;
            let needs = Arc::new(Needed::new(&file.metadata, columns, &schema, options));
            // Those that a query's filters rule out by their statistics would be left out here.
            for group in 0..file.metadata.metadata().num_row_groups() {
                total_bytes += needs.bytes_of(group);
                let (needs, fill) = (Arc::clone(&needs), fill.clone());
                row_groups.push(Place { file: at, group, needs, fill });
            }
        }
        let numbers = Numbers::of(row_groups.len());
        let lanes = RowGroups { files: Arc::clone(&self.files), row_groups, numbers };
        let chunks = Box::new(SideBySide::new(lanes));
        let schema = with_position(fields, position);
        Ok(Content { schema, total_bytes: Some(total_bytes), chunks })
    }
}

/// The row groups of all files.
#[derive(Debug)]
struct RowGroups {
    files: Arc<[ParquetFile]>,
    row_groups: Vec<Place>,
    numbers: Numbers,
}

#[derive(Debug)]
struct Place {
    file: usize,
    group: usize,
    needs: Arc<Needed>,
    fill: Option<Arc<Fill>>,
}

impl Lanes for RowGroups {
    fn count(&self) -> usize {
        self.row_groups.len()
    }

    fn file(&self, lane: usize) -> usize {
        self.row_groups[lane].file
    }

    fn open(&self, lane: usize) -> Result<Arc<dyn Chunks>, Error> {
        let Place { file, group, needs, fill } = &self.row_groups[lane];
        let (file, group) = (&self.files[*file], *group);
        let path = Arc::clone(file.origin.path());
        let content = file.open()?;
        let reader = guarded(&path, NAME, || {
            keep(content.expect(|| needs.ranges(&file.metadata, group)))?;
            needs.reader(content, &file.metadata, group)
        })?;
        let numbers = (self.numbers, lane);
        let row_group = RowGroup::new(path, reader, Arc::clone(needs), group, numbers);
        Ok(filled(Arc::new(row_group), fill.as_ref()))
    }
}

/// Rows that are decoded at a time, so that they take about so many bytes.
fn rows_at_once(bytes: u64, rows: u64, wanted_bytes: usize) -> usize {
    let bytes_of_each = (bytes / rows.max(1)).max(1);
    let wanted = wanted_bytes as u64 / bytes_of_each;
    (wanted as usize).clamp(limits::DECODED_ROWS_MIN, limits::DECODED_ROWS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_rows_are_decoded_few_at_a_time() {
        assert_eq!(rows_at_once(8_000_000, 1_000_000, 4 << 20), limits::DECODED_ROWS_MAX);
        assert_eq!(rows_at_once(1_000_000_000, 1_000_000, 4 << 20), 4194);
        assert_eq!(rows_at_once(u64::MAX, 1, 1), limits::DECODED_ROWS_MIN);
        assert_eq!(rows_at_once(0, 0, 1 << 20), limits::DECODED_ROWS_MAX);
    }
}
