//! Check: a JOIN says what it is made by.
//!
//! `FROM t JOIN u` would be a cross join; elsewhere it is an error.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, Spanned, Statement, TableFactor,
};

use super::Refusal;
use crate::join_syntax::constraint;
use crate::walk::{Seen, walk};

pub fn check(statement: &Statement) -> Result<(), Refusal> {
    let mut found = None;
    walk(statement, &mut |seen| {
        let bare = match seen {
            Seen::Select(select) => {
                select.from.iter().flat_map(|tables| &tables.joins).find(|join| is_bare(join))
            }
            Seen::Factor(TableFactor::NestedJoin { table_with_joins, .. }) => {
                table_with_joins.joins.iter().find(|join| is_bare(join))
            }
            _ => None,
        };
        found = bare.map(refused);
        if found.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.map_or(Ok(()), Err)
}

fn is_bare(join: &Join) -> bool {
    let says_so = matches!(join.join_operator, JoinOperator::CrossJoin(_));
    !says_so && matches!(constraint(&join.join_operator), Some(JoinConstraint::None))
}

fn refused(join: &Join) -> Refusal {
    let at = Some(join.relation.span().start).filter(|start| start.line > 0);
    let refusal = Refusal::new(format!("a JOIN with {} without ON or USING", join.relation), None);
    Refusal { at, ..refusal }.hint("JOIN ... ON a = b, or CROSS JOIN for all pairs")
}
