//! Arrow schemas as text: an encapsulated IPC message, in base64. That is what `pyarrow`'s
//! `schema.serialize()` gives, too.

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::convert::try_schema_from_ipc_buffer;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::ipc::{Error, encapsulated, encode_schema, guarded};

pub fn encode(schema: &Schema) -> String {
    BASE64_STANDARD.encode(encapsulated(encode_schema(schema)).concat())
}

pub fn decode(text: &str) -> Result<Schema, Error> {
    let bytes = BASE64_STANDARD
        .decode(text)
        .map_err(|error| ArrowError::ParseError(format!("it is not base64: {error}")))?;
    guarded(|| try_schema_from_ipc_buffer(&bytes))
}

/// A schema as a field of JSON: `#[serde(with = "schema::text")]`.
pub mod text {
    use std::sync::Arc;

    use arrow::datatypes::SchemaRef;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(schema: &SchemaRef, json: S) -> Result<S::Ok, S::Error> {
        json.serialize_str(&super::encode(schema))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(json: D) -> Result<SchemaRef, D::Error> {
        let text = String::deserialize(json)?;
        super::decode(&text).map(Arc::new).map_err(D::Error::custom)
    }
}

/// The difference of two schemas for a reader of the rows, if there is one: names and
/// types count, metadata does not, and what may be null may also not be.
pub fn difference(expected: &Schema, given: &Schema) -> Option<String> {
    let (columns, given_columns) = (expected.fields().len(), given.fields().len());
    if columns != given_columns {
        return Some(format!("{given_columns} columns instead of {columns}"));
    }
    let pairs = expected.fields().iter().zip(given.fields());
    pairs.enumerate().find_map(|(at, (expected, given))| {
        let name = expected.name();
        if name != given.name() {
            return Some(format!("column {at} is {:?} instead of {name:?}", given.name()));
        }
        if expected.data_type() != given.data_type() {
            let (is, should) = (given.data_type(), expected.data_type());
            return Some(format!("column {name:?} is {is} instead of {should}"));
        }
        let nulls = given.is_nullable() && !expected.is_nullable();
        nulls.then(|| format!("column {name:?} may not be null"))
    })
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;

    fn schema() -> Schema {
        Schema::new(vec![
            Field::new("price", DataType::Decimal128(10, 2), false),
            Field::new("name", DataType::Utf8, true),
        ])
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        assert_eq!(decode(&encode(&schema())).unwrap(), schema());
    }

    /// It is stored, and other versions read it.
    #[test]
    fn it_is_what_arrow_writes() {
        use arrow::ipc::writer::{
            DictionaryTracker, IpcDataGenerator, IpcWriteOptions, write_message,
        };
        let (options, mut tracker) = (IpcWriteOptions::default(), DictionaryTracker::new(false));
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            &schema(),
            &mut tracker,
            &options,
        );
        let mut bytes = vec![];
        write_message(&mut bytes, message, &options).unwrap();
        assert_eq!(encode(&schema()), BASE64_STANDARD.encode(bytes));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for garbage in ["", "?", "AAAA", "/////wAAAAA=", "/////xAAAAAAAAAAAAAAAAAAAAA="] {
            assert!(decode(garbage).is_err(), "{garbage}");
        }
        // Damage that the format's own verifier does not see: Arrow panics on some of it.
        let bytes = encapsulated(encode_schema(&schema())).concat();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = decode(&BASE64_STANDARD.encode(damaged));
            }
        }
    }

    #[test]
    fn a_difference_names_the_column() {
        let changed = |change: &dyn Fn(&mut Vec<Field>)| {
            let mut fields: Vec<_> = schema().fields().iter().map(|f| f.as_ref().clone()).collect();
            change(&mut fields);
            difference(&schema(), &Schema::new(fields))
        };
        assert_eq!(changed(&|_| {}), None);
        let fewer = changed(&|fields| drop(fields.pop()));
        assert_eq!(fewer.unwrap(), "1 columns instead of 2");
        let renamed = changed(&|fields| fields[1].set_name("title"));
        assert_eq!(renamed.unwrap(), "column 1 is \"title\" instead of \"name\"");
        let retyped = changed(&|fields| fields[1].set_data_type(DataType::Int64));
        assert_eq!(retyped.unwrap(), "column \"name\" is Int64 instead of Utf8");
        let nullable = changed(&|fields| fields[0].set_nullable(true));
        assert_eq!(nullable.unwrap(), "column \"price\" may not be null");
        assert_eq!(changed(&|fields| fields[1].set_nullable(false)), None);
    }
}
