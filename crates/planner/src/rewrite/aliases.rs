//! Check: a word that other databases know as a kind of join is no alias.
//!
//! `FROM t POSITIONAL JOIN u` would be a table `t` called `positional`, joined with `u`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Statement, TableAlias, TableFactor, Visit, Visitor};

use super::Refusal;

/// The words that stand before JOIN somewhere, and are not keywords of the parser there.
const JOIN_WORDS: [&str; 14] = [
    "any",
    "anti",
    "array",
    "asof",
    "broadcast",
    "colocate",
    "hash",
    "lookup",
    "loop",
    "merge",
    "outer",
    "paste",
    "positional",
    "semi",
];

pub fn check(statement: &Statement) -> Result<(), Refusal> {
    match statement.visit(&mut Aliases) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Aliases;

impl Visitor for Aliases {
    type Break = Refusal;

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Refusal> {
        match alias_of(factor) {
            Some(alias) if is_join_word(alias) => {
                let word = alias.name.value.to_uppercase();
                ControlFlow::Break(
                    Refusal::new(format!("there is no {word} JOIN"), Some(&alias.name))
                        .hint(format!("to call a table so: AS \"{}\"", alias.name.value)),
                )
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Said without AS and without quotes: nobody who means a name writes it so.
fn is_join_word(alias: &TableAlias) -> bool {
    let word = alias.name.value.to_lowercase();
    alias.name.quote_style.is_none() && !alias.explicit && JOIN_WORDS.contains(&word.as_str())
}

fn alias_of(factor: &TableFactor) -> Option<&TableAlias> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    }
}
