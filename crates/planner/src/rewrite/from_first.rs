//! Rewrite: `FROM t` is `SELECT * FROM t`, as in DuckDB.
//!
//! DataFusion answers it with rows that have no columns.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Select, SelectFlavor, SelectItem, Statement, VisitMut, VisitorMut, WildcardAdditionalOptions,
};

pub fn rewrite(statement: &mut Statement) {
    let _: ControlFlow<()> = statement.visit(&mut FromFirst);
}

struct FromFirst;

impl VisitorMut for FromFirst {
    type Break = ();

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if select.flavor == SelectFlavor::FromFirstNoSelect && select.projection.is_empty() {
            select.flavor = SelectFlavor::Standard;
            select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
        }
        ControlFlow::Continue(())
    }
}
