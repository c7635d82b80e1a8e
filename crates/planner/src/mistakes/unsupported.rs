//! SQL that others have and nobody here can answer.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, JoinOperator,
    LimitClause, Query, Select, SetExpr, Spanned, TableFactor,
};
use datafusion::sql::sqlparser::tokenizer::Location;

use super::trial::shown;
use super::{Mistake, first, start_of};
use crate::walk::{Seen, walk};

pub fn find(query: &Query) -> Option<Mistake> {
    first(query, &mut |seen| match seen {
        Seen::Query(query) => in_query(query),
        Seen::Select(select) => in_select(select),
        Seen::Factor(factor) => in_factor(factor),
        Seen::Expr(expr) => in_expression(expr),
        _ => None,
    })
}

fn no(what: &str, at: Location) -> Option<Mistake> {
    Some(Mistake::unsupported(format!("{what} is not supported"), at))
}

fn no_but(what: &str, at: Location, instead: &str) -> Option<Mistake> {
    no(what, at).map(|mistake| mistake.hint(instead))
}

fn in_query(query: &Query) -> Option<Mistake> {
    let start = query.body.span().start;
    if let Some(LimitClause::LimitOffset { limit_by, .. }) = &query.limit_clause
        && let Some(by) = limit_by.first()
    {
        return no_but(
            "LIMIT ... BY",
            start_of(by),
            "number the rows with row_number() OVER (...)",
        );
    }
    if let Some(LimitClause::LimitOffset { limit: Some(limit @ Expr::Subquery(_)), .. }) =
        &query.limit_clause
    {
        return no_but("LIMIT of a subquery", start_of(limit), "a parameter: LIMIT $n");
    }
    if let Some(fetch) = &query.fetch {
        return match (fetch.with_ties, fetch.percent) {
            (true, _) => no_but(
                "FETCH ... WITH TIES",
                start,
                "QUALIFY rank() OVER (ORDER BY x) <= n keeps rows that are equal",
            ),
            (_, true) => no_but("FETCH ... PERCENT", start, "write LIMIT, a number of rows"),
            _ => no_but("FETCH beside LIMIT", start, "write one of them"),
        };
    }
    match query.body.as_ref() {
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            no("a statement that writes", start)
        }
        SetExpr::Table(_) => no_but("TABLE t", start, "write SELECT * FROM t"),
        _ if !query.pipe_operators.is_empty() => no_but("|>", start, "write it as subqueries"),
        _ => None,
    }
}

fn in_select(select: &Select) -> Option<Mistake> {
    let start = select.span().start;
    let place = |exprs: &[Expr]| exprs.first().map_or(start, start_of);
    if let Some(top) = &select.top {
        let count = top.quantity.as_ref().map_or("n".to_string(), |quantity| {
            use datafusion::sql::sqlparser::ast::TopQuantity::{Constant, Expr};
            match quantity {
                Constant(count) => count.to_string(),
                Expr(count) => count.to_string(),
            }
        });
        return no_but("TOP", start, &format!("put LIMIT {count} at the end of the query"));
    }
    if select.into.is_some() {
        return no_but("SELECT ... INTO", start, "--out FOLDER writes the answer to a file");
    }
    if !select.lateral_views.is_empty() {
        return no_but("LATERAL VIEW", start, "use unnest(...) in the SELECT");
    }
    if !select.connect_by.is_empty() {
        return no_but("CONNECT BY", start, "use WITH RECURSIVE");
    }
    if !select.cluster_by.is_empty() {
        return no("CLUSTER BY", place(&select.cluster_by));
    }
    if !select.distribute_by.is_empty() {
        return no("DISTRIBUTE BY", place(&select.distribute_by));
    }
    if let Some(by) = select.sort_by.first() {
        return no_but("SORT BY", start_of(&by.expr), "use ORDER BY");
    }
    select.from.iter().flat_map(|item| &item.joins).find_map(|join| {
        let at = join.relation.span().start;
        match join.join_operator {
            JoinOperator::AsOf { .. } => no("ASOF JOIN", at),
            JoinOperator::CrossApply | JoinOperator::OuterApply => {
                no_but("APPLY", at, "use CROSS JOIN LATERAL (...)")
            }
            _ => None,
        }
    })
}

fn in_factor(factor: &TableFactor) -> Option<Mistake> {
    let at = factor.span().start;
    match factor {
        TableFactor::Pivot { .. } => no_but(
            "PIVOT",
            at,
            "use one aggregate a column: sum(x) FILTER (WHERE y = 'a') AS a, ...",
        ),
        TableFactor::Unpivot { .. } => {
            no_but("UNPIVOT", at, "use UNION ALL, a SELECT for each column")
        }
        TableFactor::MatchRecognize { .. } => no("MATCH_RECOGNIZE", at),
        TableFactor::JsonTable { .. } => no("JSON_TABLE", at),
        TableFactor::OpenJsonTable { .. } => no("OPENJSON", at),
        TableFactor::XmlTable { .. } => no("XMLTABLE", at),
        TableFactor::TableFunction { .. } => no("TABLE(...)", at),
        TableFactor::UNNEST { with_offset: true, .. } => no("WITH OFFSET", at),
        TableFactor::UNNEST { with_ordinality: true, .. }
        | TableFactor::Table { with_ordinality: true, .. } => {
            no_but("WITH ORDINALITY", at, "number the rows with row_number() OVER ()")
        }
        _ => None,
    }
}

/// Windows whose number of rows is a constant: `ntile(n)`, `lag(x, n)`.
fn of_constants(call: &Function) -> Option<Mistake> {
    call.over.as_ref()?;
    let name = call.name.to_string().to_lowercase();
    let number = match name.as_str() {
        "ntile" => 0,
        "lag" | "lead" | "nth_value" => 1,
        _ => return None,
    };
    let FunctionArguments::List(list) = &call.args else { return None };
    let FunctionArg::Unnamed(FunctionArgExpr::Expr(number)) = list.args.get(number)? else {
        return None;
    };
    let mut columns = false;
    walk(number, &mut |seen| {
        columns |= matches!(seen, Seen::Expr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
        ControlFlow::Continue(())
    });
    let what = format!("{name} of a number that is a column, {},", shown(number));
    columns.then(|| no_but(&what, start_of(number), "it has to be a constant"))?
}

fn in_expression(expr: &Expr) -> Option<Mistake> {
    let at = start_of(expr);
    match expr {
        Expr::MatchAgainst { .. } => no_but("MATCH ... AGAINST", at, "use LIKE or regexp_like"),
        Expr::JsonAccess { .. } => no("access to JSON by :", at),
        Expr::Collate { .. } => no_but("COLLATE", at, "compare lower(...) of both"),
        Expr::OuterJoin(_) => no_but("(+)", at, "use LEFT JOIN"),
        Expr::Prior(_) => no_but("PRIOR", at, "use WITH RECURSIVE"),
        Expr::Convert { .. } => no_but("CONVERT", at, "use CAST(x AS TYPE)"),
        Expr::IsNormalized { .. } => no("IS NORMALIZED", at),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let Some(AccessExpr::Dot(field)) = access_chain.first() else { return None };
            let what = format!("{}.{}", shown(root), shown(field));
            no_but(&what, at, &format!("a field of a struct: x['{}']", shown(field)))
        }
        Expr::Function(call) => of_constants(call),
        _ => None,
    }
}
