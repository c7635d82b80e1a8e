//! Check: calls and operators that DataFusion answers wrongly.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArgumentClause, FunctionArguments, Ident,
    NullTreatment, Statement, visit_expressions,
};

use super::Refusal;

pub fn check(statement: &Statement) -> Result<(), Refusal> {
    let found = visit_expressions(statement, |expression| match expression {
        Expr::Function(call) => match wrong(call) {
            Some(refusal) => ControlFlow::Break(refusal),
            None => ControlFlow::Continue(()),
        },
        // A power elsewhere, and it would bind less than `*`.
        Expr::BinaryOp { op: BinaryOperator::BitwiseXor, .. } => ControlFlow::Break(
            Refusal::new("^ is a power in some databases, and XOR in others", None)
                .hint("power(x, y) is a power"),
        ),
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn wrong(call: &Function) -> Option<Refusal> {
    let name = call.name.0.last()?.as_ident()?;
    match name.value.to_lowercase().as_str() {
        // Over rows that have been limited it forgets its ORDER BY. No other database has it.
        "nth_value" if call.over.is_none() => Some(
            Refusal::new("nth_value is a window function: it needs OVER", Some(name))
                .hint("the nth of all: array_element(array_agg(x ORDER BY y), n)"),
        ),
        "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile" | "lag"
        | "lead"
            if call.over.is_none() =>
        {
            let message = format!("{name} is a window function: it needs OVER");
            Some(
                Refusal::new(message, Some(name))
                    .hint("OVER (ORDER BY x), or OVER () for all rows as they come"),
            )
        }
        // It sees no further than the batch that it has.
        "lead" if ignores_nulls(call) => Some(looks_ahead(name, "lag")),
        "lag" if ignores_nulls(call) && arguments(call).is_none_or(|count| count != 1) => {
            Some(Refusal::new("lag with IGNORE NULLS takes no offset", Some(name)))
        }
        _ => None,
    }
}

fn looks_ahead(name: &Ident, instead: &str) -> Refusal {
    let message = format!("{name} cannot leave out NULLs");
    Refusal::new(message, Some(name))
        .hint(format!("{instead}(x) IGNORE NULLS OVER (... ORDER BY ... DESC) is the same"))
}

fn ignores_nulls(call: &Function) -> bool {
    let inside = match &call.args {
        FunctionArguments::List(list) => list.clauses.iter().any(|clause| {
            matches!(
                clause,
                FunctionArgumentClause::IgnoreOrRespectNulls(NullTreatment::IgnoreNulls)
            )
        }),
        _ => false,
    };
    inside || call.null_treatment == Some(NullTreatment::IgnoreNulls)
}

fn arguments(call: &Function) -> Option<usize> {
    match &call.args {
        FunctionArguments::List(list) => Some(list.args.len()),
        _ => None,
    }
}
