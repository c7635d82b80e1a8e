//! Rewrite: rows are compared column by column.
//!
//! ```text
//! (a, b) = (c, d)               a = c AND b = d
//! (a, b) < (c, d)         ==>   a < c OR a = c AND b < d
//! (a, b) IN ((c, d), ...)       a = c AND b = d OR ...
//! (a, b) IS NULL                a IS NULL AND b IS NULL
//! (a, b) IS NOT NULL            a IS NOT NULL AND b IS NOT NULL
//! ```
//!
//! DataFusion compares them as structs, for which NULL is a value like any other, and `-0.0` is not `0.0`. No struct that is made is
//! NULL; a row is where all of its columns are, of which a row is none (as in PostgreSQL).

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator,
    Value,
};

use crate::idents::same as same_name;

pub fn rewrite(expression: &mut Expr) {
    let by_columns = match expression {
        Expr::BinaryOp { left, op, right } => compared(left, op, right),
        Expr::IsNull(row) => nulls(row, true),
        Expr::IsNotNull(row) => nulls(row, false),
        Expr::IsDistinctFrom(left, right) => same(left, right).map(|same| nested(negation(same))),
        Expr::IsNotDistinctFrom(left, right) => same(left, right),
        Expr::InList { expr, list, negated } => in_list(expr, list).map(|found| match negated {
            true => nested(negation(found)),
            false => found,
        }),
        Expr::Between { expr, negated, low, high } => {
            let from = compared(expr, &BinaryOperator::GtEq, low);
            let to = compared(expr, &BinaryOperator::LtEq, high);
            from.zip(to).map(|(from, to)| {
                let both = nested(binary(from, BinaryOperator::And, to));
                if *negated { nested(negation(both)) } else { both }
            })
        }
        _ => None,
    };
    if let Some(by_columns) = by_columns {
        *expression = by_columns;
    }
}

/// Two rows of as many columns.
fn pairs<'a>(left: &'a Expr, right: &'a Expr) -> Option<Vec<(&'a Expr, &'a Expr)>> {
    let (left, right) = (columns(left)?, columns(right)?);
    (left.len() == right.len()).then(|| left.into_iter().zip(right).collect())
}

/// The columns of `(a, b)` or `ROW(a, b)`.
fn columns(row: &Expr) -> Option<Vec<&Expr>> {
    match row {
        Expr::Tuple(columns) if !columns.is_empty() => Some(columns.iter().collect()),
        Expr::Nested(inner) => columns(inner),
        Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
            if same_name(&name.to_string(), "row") && !list.args.is_empty() =>
        {
            let columns = list.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(column)) => Some(column),
                _ => None,
            });
            columns.collect()
        }
        _ => None,
    }
}

fn compared(left: &Expr, op: &BinaryOperator, right: &Expr) -> Option<Expr> {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    let pairs = pairs(left, right)?;
    let each = |(left, right): (&Expr, &Expr), op: &BinaryOperator| {
        let columns = || binary(left.clone(), op.clone(), right.clone());
        compared(left, op, right).unwrap_or_else(columns)
    };
    match op {
        Eq => joined(And, pairs.into_iter().map(|pair| each(pair, &Eq))),
        NotEq => joined(Or, pairs.into_iter().map(|pair| each(pair, &NotEq))),
        Lt | LtEq | Gt | GtEq => {
            let strictly = if matches!(op, Lt | LtEq) { Lt } else { Gt };
            let mut pairs = pairs.into_iter().rev();
            let last = each(pairs.next()?, op);
            Some(pairs.fold(last, |rest, pair| {
                let rest = nested(binary(each(pair, &Eq), And, rest));
                nested(binary(each(pair, &strictly), Or, rest))
            }))
        }
        _ => None,
    }
}

fn same(left: &Expr, right: &Expr) -> Option<Expr> {
    let columns = pairs(left, right)?.into_iter().map(|(left, right)| {
        let columns = || Expr::IsNotDistinctFrom(Box::new(left.clone()), Box::new(right.clone()));
        same(left, right).unwrap_or_else(columns)
    });
    joined(BinaryOperator::And, columns)
}

/// Whether all columns of a row are NULL, or none is.
fn nulls(row: &Expr, are_null: bool) -> Option<Expr> {
    let each = columns(row)?.into_iter().map(|column| {
        let column = Box::new(column.clone());
        match (columns(&column), are_null) {
            (Some(_), _) => Expr::Value(Value::Boolean(!are_null).into()),
            (None, true) => Expr::IsNull(column),
            (None, false) => Expr::IsNotNull(column),
        }
    });
    joined(BinaryOperator::And, each)
}

fn in_list(row: &Expr, list: &[Expr]) -> Option<Expr> {
    let found = list.iter().map(|other| compared(row, &BinaryOperator::Eq, other));
    joined(BinaryOperator::Or, found.collect::<Option<Vec<_>>>()?.into_iter())
}

fn joined(op: BinaryOperator, conditions: impl Iterator<Item = Expr>) -> Option<Expr> {
    conditions.reduce(|left, right| binary(left, op.clone(), right)).map(nested)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn negation(condition: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(condition) }
}

fn nested(expression: Expr) -> Expr {
    Expr::Nested(Box::new(expression))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn by_columns(sql: &str) -> String {
        let parser = Parser::new(&GenericDialect {});
        let mut expression = parser.try_with_sql(sql).unwrap().parse_expr().unwrap();
        rewrite(&mut expression);
        expression.to_string()
    }

    #[test]
    fn rows_are_compared_column_by_column() {
        for (rows, columns) in [
            ("(a, b) = (c, d)", "(a = c AND b = d)"),
            ("(a, b) <> (c, d)", "(a <> c OR b <> d)"),
            ("(a, b) <= (c, d)", "(a < c OR (a = c AND b <= d))"),
            ("(a, b) IN ((1, 2), (3, 4))", "((a = 1 AND b = 2) OR (a = 3 AND b = 4))"),
            ("(a, b) NOT IN ((1, 2))", "(NOT ((a = 1 AND b = 2)))"),
            ("(a, NULL) IS NULL", "(a IS NULL AND NULL IS NULL)"),
            ("ROW(a, b) = ROW(c, d)", "(a = c AND b = d)"),
            ("ROW(a, b) IS NOT NULL", "(a IS NOT NULL AND b IS NOT NULL)"),
            ("(a, b) IS NOT NULL", "(a IS NOT NULL AND b IS NOT NULL)"),
            ("(a, (b, c)) IS NULL", "(a IS NULL AND false)"),
            ("(a, (b, c)) = (1, (2, 3))", "(a = 1 AND (b = 2 AND c = 3))"),
            (
                "(a, b) IS NOT DISTINCT FROM (c, d)",
                "(a IS NOT DISTINCT FROM c AND b IS NOT DISTINCT FROM d)",
            ),
        ] {
            assert_eq!(by_columns(rows), columns);
        }
    }

    #[test]
    fn all_else_stays() {
        for sql in ["a = b", "(a, b) = c", "a IN (1, 2)", "(a, b) = (1, 2, 3)"] {
            assert_eq!(by_columns(sql), sql);
        }
    }
}
