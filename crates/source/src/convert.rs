//! Arrays of a file's types as arrays of a table's.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, FieldRef};
use arrow::error::ArrowError;
use arrow::util::display::FormatOptions;

/// The same values, exactly; a value that the type does not hold is an error.
pub fn converted(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == ty {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), ty) {
        (DataType::Dictionary(_, values), ty) => {
            let values = DataType::clone(values);
            converted(&cast(array, &values)?, ty)
        }
        (DataType::RunEndEncoded(_, values), ty) => {
            let values = values.data_type().clone();
            converted(&cast(array, &values)?, ty)
        }
        (DataType::Map(..), DataType::List(item)) => of_map(array.as_map(), item),
        (DataType::Struct(_), DataType::Struct(_)) => of_struct(array.as_struct(), ty),
        (DataType::List(_), DataType::List(item)) => of_list(array.as_list(), item),
        (
            DataType::LargeList(inner)
            | DataType::FixedSizeList(inner, _)
            | DataType::ListView(inner)
            | DataType::LargeListView(inner),
            DataType::List(_),
        ) => {
            let list = cast(array, &DataType::List(Arc::clone(inner)))?;
            converted(&list, ty)
        }
        _ => cast(array, ty),
    }
}

fn cast(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, format_options: FormatOptions::default() };
    cast_with_options(array, ty, &options)
}

fn of_list(list: &ListArray, item: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let values = converted(list.values(), item.data_type())?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, nulls)?))
}

fn of_map(map: &MapArray, item: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let entries: ArrayRef = Arc::new(map.entries().clone());
    let values = converted(&entries, item.data_type())?;
    let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, nulls)?))
}

fn of_struct(array: &StructArray, ty: &DataType) -> Result<ArrayRef, ArrowError> {
    let DataType::Struct(fields) = ty else {
        return cast(&(Arc::new(array.clone()) as ArrayRef), ty);
    };
    let columns = array.columns().iter().zip(fields);
    let columns = columns.map(|(column, field)| converted(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let nulls = array.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        DictionaryArray, FixedSizeListArray, Int32Array, Int32Builder, MapBuilder, StringArray,
        StringBuilder,
    };
    use arrow::datatypes::{Field, Int8Type, Int32Type};
    use arrow::util::display::array_value_to_string;

    use super::*;
    use crate::types::plain;

    fn converted_rows(array: ArrayRef) -> Vec<String> {
        let ty = plain(array.data_type()).unwrap();
        let array = converted(&array, &ty).unwrap();
        assert_eq!(array.data_type(), &ty);
        (0..array.len()).map(|row| array_value_to_string(&array, row).unwrap()).collect()
    }

    #[test]
    fn values_stay_what_they_are() {
        let dictionary: DictionaryArray<Int8Type> =
            [Some("a"), None, Some("b"), Some("a")].into_iter().collect();
        assert_eq!(converted_rows(Arc::new(dictionary.clone())), ["a", "", "b", "a"]);
        let field = Arc::new(Field::new("x", dictionary.data_type().clone(), true));
        let lists = FixedSizeListArray::new(field, 2, Arc::new(dictionary), None);
        assert_eq!(converted_rows(Arc::new(lists.slice(1, 1))), ["[b, a]"]);
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        maps.keys().append_value("k");
        maps.values().append_value(7);
        maps.append(true).unwrap();
        maps.append(false).unwrap();
        assert_eq!(converted_rows(Arc::new(maps.finish())), ["[{keys: k, values: 7}]", ""]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let array: ArrayRef = Arc::new(StringArray::from(vec!["1", "x"]));
        assert!(converted(&array, &DataType::Int64).is_err());
        let array: ArrayRef = Arc::new(Int32Array::from(vec![300]));
        assert!(converted(&array, &DataType::Int8).is_err());
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
        assert!(converted(&(Arc::new(list) as ArrayRef), &DataType::Int64).is_err());
    }
}
