//! The functions as DataFusion knows them: names, types, and the loops over columns.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, ListBuilder, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field};
use datafusion::common::utils::take_function_args;
use datafusion::common::{Result, internal_err};
use datafusion::functions::utils::make_scalar_function;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::version::Version;
use crate::{checked, language, python_literal, sentiment};

/// All functions of one value a row.
pub fn all() -> Vec<ScalarUDF> {
    use Function::{Language, PythonField, PythonList, Sentiment, SentimentLabel};
    let functions = [PythonList, PythonField, Language, Sentiment, SentimentLabel];
    functions
        .into_iter()
        .map(|function| ScalarUDF::new_from_impl(TextFunction::new(function)))
        .chain(checked::scalars())
        .chain([ScalarUDF::new_from_impl(Version::new())])
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Function {
    PythonList,
    PythonField,
    Language,
    Sentiment,
    SentimentLabel,
}

/// A function whose arguments are all texts.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TextFunction {
    function: Function,
    signature: Signature,
}

impl TextFunction {
    fn new(function: Function) -> Self {
        let arguments = match function {
            Function::PythonField => 2,
            _ => 1,
        };
        Self { function, signature: Signature::string(arguments, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for TextFunction {
    fn name(&self) -> &str {
        match self.function {
            Function::PythonList => "python_list",
            Function::PythonField => "python_field",
            Function::Language => "language",
            Function::Sentiment => "sentiment",
            Function::SentimentLabel => "sentiment_label",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(match self.function {
            Function::PythonList | Function::PythonField => {
                DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
            }
            Function::Language | Function::SentimentLabel => DataType::Utf8,
            Function::Sentiment => DataType::Float64,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let over_columns = match self.function {
            Function::PythonList => python_list,
            Function::PythonField => python_field,
            Function::Language => language_codes,
            Function::Sentiment => polarities,
            Function::SentimentLabel => sentiment_labels,
        };
        make_scalar_function(over_columns, vec![])(&args.args)
    }
}

fn python_list(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let [literals] = take_function_args("python_list", columns)?;
    Ok(lists(texts(literals)?, |literal, items| python_literal::list_items(literal?, items).ok()))
}

fn python_field(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let [literals, keys] = take_function_args("python_field", columns)?;
    let rows = texts(literals)?.zip(texts(keys)?);
    Ok(lists(rows, |(literal, key), values| {
        python_literal::field_values(literal?, key?, values).ok()
    }))
}

fn language_codes(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let [column] = take_function_args("language", columns)?;
    let codes: StringArray = texts(column)?.map(|text| language::detect(text?)).collect();
    Ok(Arc::new(codes))
}

fn polarities(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let [column] = take_function_args("sentiment", columns)?;
    let polarities: Float64Array =
        texts(column)?.map(|text| text.map(sentiment::polarity)).collect();
    Ok(Arc::new(polarities))
}

fn sentiment_labels(columns: &[ArrayRef]) -> Result<ArrayRef> {
    let [column] = take_function_args("sentiment_label", columns)?;
    let label = |text: &str| sentiment::label(sentiment::polarity(text));
    let labels: StringArray = texts(column)?.map(|text| text.map(label)).collect();
    Ok(Arc::new(labels))
}

/// The rows of a text column of any of the three encodings.
fn texts(column: &ArrayRef) -> Result<Box<dyn Iterator<Item = Option<&str>> + '_>> {
    match column.data_type() {
        DataType::Utf8 => Ok(Box::new(column.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Ok(Box::new(column.as_string::<i64>().iter())),
        DataType::Utf8View => Ok(Box::new(column.as_string_view().iter())),
        other => internal_err!(
            "a text function was given a column of {other}: its signature allows only text"
        ),
    }
}

/// A column of lists: for each row what `parse` appends, or NULL where it gives nothing.
fn lists<'a, Row>(
    rows: impl Iterator<Item = Row>,
    parse: impl Fn(Row, &mut Vec<Cow<'a, str>>) -> Option<()>,
) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    // Items are gathered first, because a row may turn out malformed after some of them.
    let mut items = Vec::new();
    for row in rows {
        items.clear();
        let is_valid = parse(row, &mut items).is_some();
        if is_valid {
            items.iter().for_each(|item| builder.values().append_value(item));
        }
        builder.append(is_valid);
    }
    Arc::new(builder.finish())
}
