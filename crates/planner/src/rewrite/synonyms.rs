//! Rewrite: what DuckDB, PostgreSQL and SQLite call otherwise.
//!
//! | | is |
//! |---|---|
//! | `a // b` | `a / b` |
//! | `if(c, a, b)`, `iif(c, a, b)` | `CASE WHEN c THEN a ELSE b END` |
//! | `list(x)` | `array_agg(x)` |
//! | `group_concat(x)`, `listagg(x)`, `string_agg(x)` | `string_agg(x, ',')` |
//! | `listagg(x, s) WITHIN GROUP (ORDER BY y)` | `string_agg(x, s ORDER BY y)` |
//! | `count_if(c)`, `countif(c)` | `sum(CASE WHEN c THEN 1 WHEN NOT c THEN 0 END)`: NULL if no `c` is known |
//! | `quantile_cont(x, q)` | `percentile_cont(q) WITHIN GROUP (ORDER BY x)` |
//! | `arg_max(x, y)`, `max_by(x, y)` | `first_value(x ORDER BY y DESC) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL)` |
//! | `arg_min(x, y)`, `min_by(x, y)` | the same, ascending |
//!
//! Done once columns of the answer have got their names: these are what was written. What does not fit is left as it is, to be no
//! function that is known.

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, OrderByOptions,
    UnaryOperator, Value,
};

pub fn rewrite(expression: &mut Expr) {
    match expression {
        Expr::BinaryOp { op: op @ BinaryOperator::DuckIntegerDivide, .. } => {
            *op = BinaryOperator::Divide;
        }
        Expr::Function(call) => {
            if let Some(other) = said(call) {
                *expression = other;
            }
        }
        _ => {}
    }
}

fn said(call: &Function) -> Option<Expr> {
    let [name] = call.name.0.as_slice() else { return None };
    let name = name.as_ident()?.value.to_lowercase();
    let arguments = arguments(call)?;
    let is_plain = call.over.is_none() && call.within_group.is_empty();
    match (name.as_str(), arguments.as_slice()) {
        ("if" | "iif", [condition, yes, no]) if is_scalar(call) => {
            Some(case(vec![(condition.clone(), yes.clone())], Some(no.clone())))
        }
        ("list", [_]) => Some(called(call.clone(), "array_agg")),
        ("group_concat" | "listagg" | "string_agg", [_]) => Some(joined(with_comma(call.clone()))),
        ("group_concat" | "listagg", [_, _]) => Some(joined(call.clone())),
        ("count_if" | "countif", [condition]) => {
            let call = with_arguments(call.clone(), vec![one_or_none(condition)]);
            Some(called(call, "sum"))
        }
        ("quantile_cont", [value, part]) if is_plain && !is_array(part) => {
            let mut call = with_arguments(call.clone(), vec![part.clone()]);
            call.within_group = vec![by(value.clone(), true)];
            Some(called(call, "percentile_cont"))
        }
        ("arg_max" | "max_by" | "arg_min" | "min_by", [value, order]) if is_plain => {
            let is_ascending = name.contains("min");
            let known = |value: &Expr| Expr::IsNotNull(Box::new(nested(value.clone())));
            let call = filtered(filtered(call.clone(), known(value)), known(order));
            let mut call = with_arguments(call, vec![value.clone()]);
            let FunctionArguments::List(list) = &mut call.args else { return None };
            if !list.clauses.is_empty() {
                return None;
            }
            let order = by(order.clone(), is_ascending);
            list.clauses.push(FunctionArgumentClause::OrderBy(vec![order]));
            Some(called(call, "first_value"))
        }
        _ => None,
    }
}

/// The arguments, if they are plain expressions.
fn arguments(call: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &call.args else { return None };
    let expressions = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression.clone()),
        _ => None,
    });
    expressions.collect()
}

fn is_scalar(call: &Function) -> bool {
    let is_bare = matches!(&call.args, FunctionArguments::List(list)
        if list.clauses.is_empty() && list.duplicate_treatment.is_none());
    is_bare && call.over.is_none() && call.filter.is_none() && call.within_group.is_empty()
}

fn is_array(value: &Expr) -> bool {
    matches!(value, Expr::Array(_))
}

fn called(mut call: Function, name: &str) -> Expr {
    call.name = ObjectName::from(vec![Ident::new(name)]);
    Expr::Function(call)
}

fn with_arguments(mut call: Function, arguments: Vec<Expr>) -> Function {
    if let FunctionArguments::List(FunctionArgumentList { args, .. }) = &mut call.args {
        let argument = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
        *args = arguments.into_iter().map(argument).collect();
    }
    call
}

fn with_comma(call: Function) -> Function {
    let mut arguments = arguments(&call).unwrap_or_default();
    arguments.push(Expr::Value(Value::SingleQuotedString(",".into()).into()));
    with_arguments(call, arguments)
}

/// `string_agg`, whose order is among its arguments.
fn joined(mut call: Function) -> Expr {
    let order = std::mem::take(&mut call.within_group);
    if let FunctionArguments::List(list) = &mut call.args
        && !order.is_empty()
    {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    called(call, "string_agg")
}

fn filtered(mut call: Function, condition: Expr) -> Function {
    let condition = nested(condition);
    call.filter = Some(Box::new(match call.filter.take() {
        None => condition,
        Some(before) => Expr::BinaryOp {
            left: Box::new(nested(*before)),
            op: BinaryOperator::And,
            right: Box::new(condition),
        },
    }));
    call
}

fn nested(expression: Expr) -> Expr {
    match expression {
        simple @ (Expr::Nested(_) | Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => simple,
        other => Expr::Nested(Box::new(other)),
    }
}

fn by(expr: Expr, is_ascending: bool) -> OrderByExpr {
    let options = OrderByOptions { asc: Some(is_ascending), nulls_first: None };
    OrderByExpr { expr, options, with_fill: None }
}

fn one_or_none(condition: &Expr) -> Expr {
    let number = |number: &str| Expr::Value(Value::Number(number.into(), false).into());
    let not = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(condition.clone())) };
    case(vec![(condition.clone(), number("1")), (not, number("0"))], None)
}

fn case(whens: Vec<(Expr, Expr)>, no: Option<Expr>) -> Expr {
    let whens = whens.into_iter().map(|(condition, result)| CaseWhen { condition, result });
    let case = Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: whens.collect(),
        else_result: no.map(Box::new),
    };
    Expr::Nested(Box::new(case))
}
