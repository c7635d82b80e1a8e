//! `without_nulls(a)`: the elements of an array that are not NULL.
//!
//! It is what `array_remove(a, NULL)` is, in PostgreSQL; DataFusion's is NULL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, GenericListArray, OffsetSizeTrait};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{filter, is_not_null};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct WithoutNulls {
    signature: Signature,
}

impl WithoutNulls {
    pub fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for WithoutNulls {
    fn name(&self) -> &str {
        "without_nulls"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(args.arg_fields[0].as_ref().clone().with_name(self.name()).into())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        make_scalar_function(known, vec![])(&arguments.args)
    }
}

fn known(columns: &[ArrayRef]) -> Result<ArrayRef> {
    match columns[0].data_type() {
        DataType::List(_) => known_of(columns[0].as_list::<i32>()),
        DataType::LargeList(_) => known_of(columns[0].as_list::<i64>()),
        DataType::Null => Ok(Arc::clone(&columns[0])),
        other => internal_err!("without_nulls is of arrays, not of {other}"),
    }
}

fn known_of<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Result<ArrayRef> {
    let (DataType::List(item) | DataType::LargeList(item)) = lists.data_type() else {
        return internal_err!("a list is of items");
    };
    let is_known = is_not_null(lists.values())?;
    let lengths = lists.offsets().windows(2).map(|ends| {
        let (start, end) = (ends[0].as_usize(), ends[1].as_usize());
        is_known.slice(start, end - start).true_count()
    });
    let offsets = OffsetBuffer::from_lengths(lengths);
    // What is before the first list, or after the last, is in none of them.
    let (first, last) = match (lists.offsets().first(), lists.offsets().last()) {
        (Some(first), Some(last)) => (first.as_usize(), last.as_usize()),
        _ => (0, 0),
    };
    let (values, is_known) = (lists.values(), &is_known);
    let values = filter(&values.slice(first, last - first), &is_known.slice(first, last - first))?;
    let nulls = lists.nulls().cloned();
    Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(item), offsets, values, nulls)?))
}

#[cfg(test)]
mod tests {
    use arrow::array::ListArray;
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn nulls_go_and_lists_stay() {
        let lists = |rows: Vec<Option<Vec<Option<i64>>>>| {
            ListArray::from_iter_primitive::<Int64Type, _, _>(rows)
        };
        let given = lists(vec![
            Some(vec![None]),
            Some(vec![Some(1), None, Some(2)]),
            None,
            Some(vec![]),
            Some(vec![None, None]),
        ]);
        let expected = lists(vec![
            Some(vec![]),
            Some(vec![Some(1), Some(2)]),
            None,
            Some(vec![]),
            Some(vec![]),
        ]);
        assert_eq!(known_of(&given).unwrap().as_list::<i32>(), &expected);
        let sliced = given.slice(1, 2);
        let made = known_of(&sliced).unwrap();
        assert_eq!(made.as_list::<i32>(), &expected.slice(1, 2));
    }
}
