//! The rows of a table that a session needs, as far as whoever reads its files can know them: those for which the conditions
//! hold that stand right above some scan of it.
//!
//! ```text
//! FilterExec: a >= 3 AND f(b) = 7
//!   table t [a, b]                     ==>     a >= 3, or what another scan of t needs
//! ```
//!
//! A row is left out only if every scan's own filter would drop it, so nothing is taken from anywhere but a chain of filters and
//! columns in another order above a leaf: not from above a limit, a join, a window. What is not understood in a conjunction is
//! passed over; an expression there that would fail on a row which the rest leaves out may fail or not, as in any SQL.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use caudal_core::row_filter::{Test, Value};
use caudal_core::{RowFilter, TableId, limits};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::scalar::ScalarValue;

use crate::leaf::{Leaf, LeafExec};
use crate::stage::Stage;

/// The rows that some scan of a table with so many columns needs; none, if some scan needs all.
pub fn of_table(table: TableId, columns: usize, stages: &[Stage]) -> Option<RowFilter> {
    let mut scans = Scans { table, columns, found: vec![] };
    for stage in stages {
        scans.visit(&stage.plan, None);
    }
    let filters = scans.found.into_iter().collect::<Option<Vec<_>>>()?;
    let filter = RowFilter::any(filters);
    (1..=limits::ROW_FILTER_VALUES_MAX).contains(&filter.size()).then_some(filter)
}

struct Scans {
    table: TableId,
    columns: usize,
    /// What each needs; none, if it is all rows.
    found: Vec<Option<RowFilter>>,
}

impl Scans {
    /// Looks for scans in a plan of whose output only the rows are needed for which `above` holds.
    fn visit(&mut self, plan: &Arc<dyn ExecutionPlan>, above: Option<RowFilter>) {
        if let Some(Leaf::Table { table, columns, .. }) = LeafExec::of(plan) {
            if *table == self.table {
                // The hidden column of positions is in no file.
                let place = |at: usize| columns.get(at).copied().filter(|at| *at < self.columns);
                self.found.push(above.and_then(|filter| placed(filter, &place)));
            }
            return;
        }
        let node = plan.as_ref() as &dyn Any;
        // It counts rows, and has to see the same ones.
        let above = above.filter(|_| plan.fetch().is_none());
        if let Some(filter) = node.downcast_ref::<FilterExec>() {
            let place = |at| match filter.projection() {
                Some(columns) => columns.get(at).copied(),
                None => Some(at),
            };
            let above = above.and_then(|above| placed(above, &place));
            let own = condition(filter.predicate(), &filter.input().schema());
            self.visit(filter.input(), both(own, above));
        } else if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let place = |at: usize| {
                let column = projection.expr().get(at)?.expr.as_ref() as &dyn Any;
                column.downcast_ref::<Column>().map(Column::index)
            };
            let above = above.and_then(|above| placed(above, &place));
            self.visit(projection.input(), above);
        } else {
            let passes_rows = node.is::<CooperativeExec>();
            for child in plan.children() {
                self.visit(child, above.clone().filter(|_| passes_rows));
            }
        }
    }
}

/// A filter on the columns that these are elsewhere. Weaker, or none, where one is nowhere.
fn placed(filter: RowFilter, place: &impl Fn(usize) -> Option<usize>) -> Option<RowFilter> {
    match filter {
        RowFilter::Any(filters) => {
            let filters = filters.into_iter().map(|filter| placed(filter, place));
            filters.collect::<Option<Vec<_>>>().map(RowFilter::any)
        }
        RowFilter::All(filters) => {
            all(filters.into_iter().filter_map(|filter| placed(filter, place)).collect())
        }
        RowFilter::Column(column, test) => place(column).map(|at| RowFilter::Column(at, test)),
    }
}

fn all(filters: Vec<RowFilter>) -> Option<RowFilter> {
    (!filters.is_empty()).then(|| RowFilter::all(filters))
}

fn both(one: Option<RowFilter>, other: Option<RowFilter>) -> Option<RowFilter> {
    all(one.into_iter().chain(other).collect())
}

/// What has to hold where an expression is true, if anything of it is understood.
fn condition(expression: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<RowFilter> {
    let node = expression.as_ref() as &dyn Any;
    if let Some(binary) = node.downcast_ref::<BinaryExpr>() {
        let side = |side| condition(side, schema);
        return match binary.op() {
            Operator::And => both(side(binary.left()), side(binary.right())),
            Operator::Or => Some(RowFilter::any([side(binary.left())?, side(binary.right())?])),
            op => comparison(binary.left(), *op, binary.right(), schema)
                .or_else(|| comparison(binary.right(), op.swap()?, binary.left(), schema)),
        };
    }
    if let Some(list) = node.downcast_ref::<InListExpr>() {
        let column = column(list.expr())?;
        let values = list.list().iter().map(|item| literal(item).cloned());
        // It is true for none that is NULL.
        let values = values.filter(|value| value.as_ref().is_none_or(|value| !value.is_null()));
        let values = values.map(|item| value(&item?, column, schema)).collect::<Option<_>>()?;
        return (!list.negated()).then(|| test(column, Test::OneOf(values)));
    }
    if let Some(is_null) = node.downcast_ref::<IsNullExpr>() {
        return Some(test(column(is_null.arg())?, Test::IsNull));
    }
    if let Some(is_not_null) = node.downcast_ref::<IsNotNullExpr>() {
        return Some(test(column(is_not_null.arg())?, Test::IsNotNull));
    }
    if let Some(ScalarValue::Boolean(None | Some(false))) = literal(expression) {
        // It is true for no row.
        return Some(RowFilter::any([]));
    }
    let (of, is) = match node.downcast_ref::<NotExpr>() {
        Some(not) => (not.arg(), false),
        None => (expression, true),
    };
    let value = value(&ScalarValue::Boolean(Some(is)), column(of)?, schema)?;
    Some(test(column(of)?, Test::OneOf(vec![value])))
}

fn comparison(
    left: &Arc<dyn PhysicalExpr>,
    op: Operator,
    right: &Arc<dyn PhysicalExpr>,
    schema: &Schema,
) -> Option<RowFilter> {
    let column = column(left)?;
    let value = value(literal(right)?, column, schema)?;
    let is = match op {
        Operator::Eq => Test::OneOf(vec![value]),
        Operator::Lt => Test::Less(value),
        Operator::LtEq => Test::AtMost(value),
        Operator::Gt => Test::Greater(value),
        Operator::GtEq => Test::AtLeast(value),
        _ => return None,
    };
    Some(test(column, is))
}

fn test(column: &Column, test: Test) -> RowFilter {
    RowFilter::Column(column.index(), test)
}

fn column(expression: &Arc<dyn PhysicalExpr>) -> Option<&Column> {
    (expression.as_ref() as &dyn Any).downcast_ref()
}

fn literal(expression: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    (expression.as_ref() as &dyn Any).downcast_ref::<Literal>().map(Literal::value)
}

/// A constant of the very type of the column, if it is one whose values have one order everywhere.
fn value(constant: &ScalarValue, column: &Column, schema: &Schema) -> Option<Value> {
    let ty = schema.fields().get(column.index())?.data_type();
    if constant.data_type() != *ty {
        return None;
    }
    Some(match constant {
        ScalarValue::Boolean(Some(value)) => Value::Int((*value).into()),
        ScalarValue::Int8(Some(value)) => Value::Int((*value).into()),
        ScalarValue::Int16(Some(value)) => Value::Int((*value).into()),
        ScalarValue::Int32(Some(value)) | ScalarValue::Date32(Some(value)) => {
            Value::Int((*value).into())
        }
        ScalarValue::Int64(Some(value))
        | ScalarValue::TimestampSecond(Some(value), _)
        | ScalarValue::TimestampMillisecond(Some(value), _)
        | ScalarValue::TimestampMicrosecond(Some(value), _)
        | ScalarValue::TimestampNanosecond(Some(value), _) => Value::Int((*value).into()),
        ScalarValue::UInt8(Some(value)) => Value::Int((*value).into()),
        ScalarValue::UInt16(Some(value)) => Value::Int((*value).into()),
        ScalarValue::UInt32(Some(value)) => Value::Int((*value).into()),
        ScalarValue::UInt64(Some(value)) => Value::Int((*value).into()),
        ScalarValue::Decimal128(Some(value), ..) => Value::Int(*value),
        ScalarValue::Utf8View(Some(text)) if *ty == DataType::Utf8View => Value::Text(text.clone()),
        _ => return None,
    })
}
