//! Names of columns, for formats in which a name stands for one value.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;

/// The same columns, each with a name of its own: `x, x` becomes `x, x_1`.
pub fn told_apart(schema: &SchemaRef) -> SchemaRef {
    let mut names: Vec<String> = vec![];
    for field in schema.fields() {
        let name = field.name();
        let numbered = (1..).map(|n| format!("{name}_{n}"));
        let is_free = |name: &String| {
            !names.contains(name) && (schema.fields().iter().all(|field| field.name() != name))
        };
        let name = match names.contains(name) {
            true => numbered.into_iter().find(is_free).unwrap_or_default(),
            false => name.clone(),
        };
        names.push(name);
    }
    let fields = schema.fields().iter().zip(names);
    let fields: Vec<_> =
        fields.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
    Arc::new(Schema::new(fields))
}

/// A batch under other names.
pub fn renamed(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &rows)
}
