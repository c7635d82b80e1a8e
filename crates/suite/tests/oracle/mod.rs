//! Plain DataFusion, with none of our engine: what the right answer is.

use std::fs::File;
use std::path::Path;

use arrow::csv::Writer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use caudal_core::ParamValue;
use caudal_csv::{Options, Reader};
use caudal_oracle::Plain;
use caudal_suite::{Query, Suite, TablePattern};

/// Partitions that DataFusion works on at the same time.
const PARTITIONS: usize = 2;

/// A suite's tables in memory, and the values of its parameters.
pub struct Oracle {
    plain: Plain,
    params: Vec<(String, ParamValue)>,
}

impl Oracle {
    pub fn new(suite: &Suite, data: &Path, params: &[String]) -> Self {
        let plain = Plain::new(PARTITIONS);
        for table in &suite.tables {
            let (schema, partitions) = read(table, data);
            plain.add(&table.name, schema, partitions).unwrap();
        }
        Self { plain, params: suite.assign(params).unwrap().into_iter().collect() }
    }

    pub async fn answer(&self, sql: &str) -> Vec<RecordBatch> {
        self.plain.answer(sql, &self.params).await.unwrap()
    }

    pub async fn write_answer(&self, query: &Query, folder: &Path) {
        let file = File::create(folder.join(format!("{}.csv", query.name))).unwrap();
        let mut writer = Writer::new(file);
        for batch in self.answer(&query.sql).await {
            writer.write(&batch).unwrap();
        }
    }
}

/// Small chunks, so that there are several partitions.
fn read(table: &TablePattern, data: &Path) -> (SchemaRef, Vec<Vec<RecordBatch>>) {
    let spec = table.in_folder(data).unwrap();
    let options =
        Options { chunk_bytes: 1 << 20, position: Some("_row".to_string()), ..Options::default() };
    let reader = Reader::open(spec, (0..table.columns.len()).collect(), options).unwrap();
    let mut partitions = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        partitions.push(vec![reader.parse(chunk).unwrap().batch]);
    }
    (reader.schema(), partitions)
}
