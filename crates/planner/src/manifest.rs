//! A session's specification, from what is written down of it.

use std::sync::Arc;

use caudal_protocol::manifest::{Manifest, TableEntry};
use caudal_protocol::schema;
use chrono::DateTime;

use crate::error::Error;
use crate::spec::{SessionSpec, TableSpec};

impl TryFrom<&Manifest> for SessionSpec {
    type Error = Error;

    fn try_from(manifest: &Manifest) -> Result<Self, Error> {
        let started = DateTime::from_timestamp_millis(manifest.started_ms);
        Ok(Self {
            tables: manifest.tables.iter().map(TableSpec::try_from).collect::<Result<_, _>>()?,
            queries: manifest.queries.clone(),
            shards: manifest.shards,
            started: started.ok_or(Error::BadStart { ms: manifest.started_ms })?,
        })
    }
}

impl TryFrom<&TableEntry> for TableSpec {
    type Error = Error;

    fn try_from(entry: &TableEntry) -> Result<Self, Error> {
        let name = entry.name.clone();
        match schema::decode(&entry.schema) {
            Ok(schema) => Ok(Self { name, schema: Arc::new(schema) }),
            Err(source) => Err(Error::BadSchema { table: name, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Schema};
    use caudal_core::{ParamValue, SessionId};
    use caudal_protocol::manifest::QuerySpec;

    use super::*;

    fn manifest() -> Manifest {
        let columns = Schema::new(vec![Field::new("n", DataType::Int64, true)]);
        Manifest {
            session: SessionId("s".into()),
            tables: vec![TableEntry { name: "numbers".into(), schema: schema::encode(&columns) }],
            queries: vec![QuerySpec {
                name: "q".into(),
                sql: "SELECT n FROM numbers WHERE n > $least".into(),
                params: vec![("least".into(), ParamValue::Int(3))],
            }],
            shards: 2,
            started_ms: 1_700_000_000_123,
            version: String::new(),
            fingerprint: String::new(),
            owner: String::new(),
        }
    }

    #[test]
    fn a_manifest_is_a_specification() {
        let spec = SessionSpec::try_from(&manifest()).unwrap();
        assert_eq!(spec.started.timestamp_millis(), 1_700_000_000_123);
        assert_eq!(spec.tables[0].schema.field(0).name(), "n");
        assert_eq!(spec.queries[0].params, [("least".to_string(), ParamValue::Int(3))]);
    }

    #[test]
    fn a_schema_that_is_none_is_told_with_its_table() {
        let mut manifest = manifest();
        manifest.tables[0].schema = "bm9uZQ==".into();
        let error = SessionSpec::try_from(&manifest).unwrap_err().to_string();
        assert!(error.starts_with("table numbers: "), "{error}");
    }
}
