//! `checked_add(a, b)` and its like: what stands in a plan for `a + b` of integers or decimals.

use std::any::Any;
use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Datum, Scalar, new_empty_array};
use arrow::compute::cast;
use arrow::compute::kernels::numeric;
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Decimal256Type,
    Field, FieldRef, Float64Type,
};
use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, ExprSchema, Result, exec_err, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;
use datafusion::scalar::ScalarValue;

use super::overflow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Of decimals, as a float: as a decimal it would have four digits more than what is divided, and lose the rest.
    Divide,
    Negate,
}

impl Operation {
    pub(super) const ALL: [Self; 5] =
        [Self::Add, Self::Subtract, Self::Multiply, Self::Divide, Self::Negate];

    /// The operation of an operator that may overflow.
    pub fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Add => "checked_add",
            Self::Subtract => "checked_subtract",
            Self::Multiply => "checked_multiply",
            Self::Divide => "checked_divide",
            Self::Negate => "checked_negate",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negate => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }

    fn compute(self, left: &dyn Datum, right: &dyn Datum) -> Result<ArrayRef, ArrowError> {
        let result = match self {
            Self::Add => numeric::add(left, right),
            Self::Subtract => numeric::sub(left, right),
            Self::Multiply => numeric::mul(left, right),
            Self::Divide => quotient(left, right),
            Self::Negate => return Err(overflow("a negation has one argument")),
        }?;
        has_its_digits(&result)?;
        Ok(result)
    }
}

/// A quotient as a float. That of a division by zero is an error, as it is of integers.
fn quotient(left: &dyn Datum, right: &dyn Datum) -> Result<ArrayRef, ArrowError> {
    let ((left, one_left), (right, one_right)) = (left.get(), right.get());
    let left = cast(left, &DataType::Float64)?;
    let right = cast(right, &DataType::Float64)?;
    let divided_by = right.as_primitive::<Float64Type>();
    let is_divided = |row: usize| match (one_left, one_right) {
        (true, _) => left.is_valid(0),
        (false, true) => left.null_count() < left.len(),
        (false, false) => left.is_valid(row),
    };
    let by_zero = |(row, value): (usize, Option<f64>)| value == Some(0.0) && is_divided(row);
    if !left.is_empty() && divided_by.iter().enumerate().any(by_zero) {
        return Err(ArrowError::DivideByZero);
    }
    match (one_left, one_right) {
        (true, true) => numeric::div(&Scalar::new(left), &Scalar::new(right)),
        (true, false) => numeric::div(&Scalar::new(left), &right),
        (false, true) => numeric::div(&left, &Scalar::new(right)),
        (false, false) => numeric::div(&left, &right),
    }
}

/// The kernels see to it that 128 bits do not overflow, but those hold some numbers of 39 digits.
/// Below the largest precision a result always has room for its digits.
fn has_its_digits(result: &ArrayRef) -> Result<(), ArrowError> {
    let checked = match result.data_type() {
        DataType::Decimal128(precision @ DECIMAL128_MAX_PRECISION, _) => {
            result.as_primitive::<Decimal128Type>().validate_decimal_precision(*precision)
        }
        DataType::Decimal256(precision @ DECIMAL256_MAX_PRECISION, _) => {
            result.as_primitive::<Decimal256Type>().validate_decimal_precision(*precision)
        }
        _ => Ok(()),
    };
    checked.map_err(|error| match error {
        ArrowError::InvalidArgumentError(message) => overflow(message),
        other => other,
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Checked {
    operation: Operation,
    signature: Signature,
}

impl Checked {
    pub fn new(operation: Operation) -> Self {
        let arguments = if operation == Operation::Negate { 1 } else { 2 };
        Self { operation, signature: Signature::any(arguments, Volatility::Immutable) }
    }

    /// The operation that an expression is, if it is one.
    fn of(expression: &Expr) -> Option<(&Self, &[Expr])> {
        let Expr::ScalarFunction(call) = expression else { return None };
        let checked = (call.func.inner().as_ref() as &dyn Any).downcast_ref()?;
        Some((checked, &call.args))
    }

    /// Writes into one text: of a long chain nobody wants to copy the text of each part.
    fn write_name(&self, arguments: &[Expr], name: &mut String) -> Result<()> {
        let write = |argument: &Expr, name: &mut String| match Self::of(argument) {
            Some((checked, arguments)) => checked.write_name(arguments, name),
            None => write!(name, "{}", argument.schema_name())
                .map_err(|error| DataFusionError::External(Box::new(error))),
        };
        let sign = self.operation.sign();
        match arguments {
            [left, right] => {
                write(left, name)?;
                name.extend([" ", sign, " "]);
                write(right, name)
            }
            [value] => {
                name.extend(["(", sign, " "]);
                write(value, name)?;
                name.push(')');
                Ok(())
            }
            _ => exec_err!("{} takes one or two arguments", self.name()),
        }
    }

    /// By computing it of nothing: the kernels know what comes of which types.
    fn result_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [value] => Ok(value.clone()),
            [left, right] if left == right && left.is_integer() => Ok(left.clone()),
            [left, right] => {
                let left = new_empty_array(left);
                let right = new_empty_array(right);
                let result = self.operation.compute(&left.as_ref(), &right.as_ref())?;
                Ok(result.data_type().clone())
            }
            _ => exec_err!("{} takes one or two arguments", self.name()),
        }
    }
}

/// The type of an expression. DataFusion puts the name of each part together on the way, which of a long chain of operations
/// takes longer than all else.
pub fn type_of(expression: &Expr, schema: &dyn ExprSchema) -> Result<DataType> {
    let Some((checked, arguments)) = Checked::of(expression) else {
        return expression.get_type(schema);
    };
    let arguments = arguments.iter().map(|argument| type_of(argument, schema));
    checked.result_type(&arguments.collect::<Result<Vec<_>>>()?)
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        self.operation.name()
    }

    /// As the operator's: the name of a column does not depend on who computes it.
    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let mut name = String::new();
        self.write_name(arguments, &mut name)?;
        Ok(name)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} is asked for its field, not its type", self.name())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        let kinds: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let data_type = self.result_type(&kinds)?;
        Ok(Arc::new(Field::new(self.name(), data_type, is_nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [left, right] => apply(left, right, |left, right| self.operation.compute(left, right)),
            [ColumnarValue::Array(values)] => Ok(ColumnarValue::Array(numeric::neg(values)?)),
            [ColumnarValue::Scalar(value)] => {
                let negated = numeric::neg(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&negated, 0)?))
            }
            _ => exec_err!("{} takes one or two arguments", self.name()),
        }
    }

    fn is_strict(&self) -> bool {
        true
    }
}
