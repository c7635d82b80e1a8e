//! Plain DataFusion, with none of our engine: what the right answer is.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::csv::Writer;
use arrow::record_batch::RecordBatch;
use caudal_core::ParamValue;
use caudal_csv::{Options, Reader};
use caudal_suite::{Query, Suite, TablePattern};
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;

/// A suite's tables in memory, and the values of its parameters.
pub struct Oracle {
    context: SessionContext,
    params: ParamValues,
}

impl Oracle {
    pub fn new(suite: &Suite, data: &Path, params: &[String]) -> Self {
        let context = SessionContext::new();
        for function in caudal_functions::all() {
            context.register_udf(function);
        }
        for table in &suite.tables {
            let table_in_memory = Arc::new(read(table, data));
            context.register_table(table.name.as_str(), table_in_memory).unwrap();
        }
        let values = suite.assign(params).unwrap();
        let values: HashMap<_, _> =
            values.into_iter().map(|(name, value)| (name, scalar(value).into())).collect();
        Self { context, params: ParamValues::Map(values) }
    }

    pub async fn answer(&self, sql: &str) -> Vec<RecordBatch> {
        let query = self.context.sql(sql).await.unwrap();
        let query = query.with_param_values(self.params.clone()).unwrap();
        let schema = Arc::new(query.schema().as_arrow().clone());
        let mut batches = query.collect().await.unwrap();
        batches.push(RecordBatch::new_empty(schema));
        batches
    }

    pub async fn write_answer(&self, query: &Query, folder: &Path) {
        let file = File::create(folder.join(format!("{}.csv", query.name))).unwrap();
        let mut writer = Writer::new(file);
        for batch in self.answer(&query.sql).await {
            writer.write(&batch).unwrap();
        }
    }
}

fn read(table: &TablePattern, data: &Path) -> MemTable {
    let spec = table.in_folder(data).unwrap();
    // Small chunks, so that there are several partitions.
    let options =
        Options { chunk_bytes: 1 << 20, position: Some("_row".to_string()), ..Options::default() };
    let reader = Reader::open(spec, (0..table.columns.len()).collect(), options).unwrap();
    let mut partitions = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        partitions.push(vec![reader.parse(chunk).unwrap().batch]);
    }
    MemTable::try_new(reader.schema(), partitions).unwrap()
}

fn scalar(value: ParamValue) -> ScalarValue {
    match value {
        ParamValue::Int(value) => ScalarValue::from(value),
        ParamValue::Float(value) => ScalarValue::from(value),
        ParamValue::Text(value) => ScalarValue::from(value),
        ParamValue::Bool(value) => ScalarValue::from(value),
        ParamValue::Decimal(_) => unreachable!("no suite has a decimal"),
    }
}
