//! The columns that a join by the names of columns gives to the SELECT around it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ExceptSelectItem, Expr, Ident, ObjectName, Query, SelectItem, SelectItemQualifiedWildcardKind,
    VisitMut, VisitorMut, WildcardAdditionalOptions,
};

use super::Refusal;
use crate::idents::{exact, means};

/// Columns that a table or a join gives to the SELECT around it.
#[derive(Default)]
pub struct Columns {
    /// In the order of `*`.
    pub parts: Vec<Part>,
}

#[allow(clippy::large_enum_variant, reason = "a handful in a query")]
pub enum Part {
    /// A column that was joined by, and what it is.
    Joined { name: String, is: Expr },
    /// The other columns of a table, all of which can be named with its name.
    Table { table: Ident, columns: Vec<String>, hidden: Vec<String> },
}

impl Columns {
    /// Meaning of a name without a table.
    pub fn find(&self, name: &Ident) -> Result<Option<(String, Expr)>, Refusal> {
        let mut found = None;
        for part in &self.parts {
            let here = match part {
                Part::Joined { name: joined, is } if means(name, joined) => (joined, is.clone()),
                Part::Joined { .. } => continue,
                Part::Table { table, columns, hidden } => {
                    let Some(column) = column_of(columns, name) else { continue };
                    if hidden.contains(column) {
                        continue;
                    }
                    let path = vec![table.clone(), exact(column)];
                    (column, Expr::CompoundIdentifier(path))
                }
            };
            if found.is_some() {
                let message = format!("more than one table has a column {name} to join by");
                return Err(Refusal::new(message, Some(name)));
            }
            found = Some((here.0.clone(), here.1));
        }
        Ok(found)
    }

    pub fn hide(&mut self, name: &str) {
        self.parts.retain_mut(|part| match part {
            Part::Joined { name: joined, .. } => joined != name,
            Part::Table { columns, hidden, .. } => {
                if columns.iter().any(|column| column == name) && !hidden.iter().any(|n| n == name)
                {
                    hidden.push(name.to_string());
                }
                true
            }
        });
    }

    pub fn names(&self) -> Vec<String> {
        let names = self.parts.iter().flat_map(|part| match part {
            Part::Joined { name, .. } => vec![name.clone()],
            Part::Table { columns, hidden, .. } => {
                columns.iter().filter(|column| !hidden.contains(column)).cloned().collect()
            }
        });
        names.collect()
    }

    /// Replaces the columns that were joined by in an expression, but not in its subqueries.
    pub fn replace(&self, part: &mut impl VisitMut) -> bool {
        let mut replacing = Replacing { columns: self, depth: 0, replaced: false };
        let _: ControlFlow<()> = part.visit(&mut replacing);
        replacing.replaced
    }

    /// `*`, in full.
    pub fn all(&self, options: &WildcardAdditionalOptions) -> Result<Vec<SelectItem>, Refusal> {
        let left_out = left_out(options)?;
        let is_out = |name: &str| left_out.iter().any(|out| means(out, name));
        let mut items = vec![];
        for part in &self.parts {
            match part {
                Part::Joined { name, is } if !is_out(name) => {
                    items.push(named(is.clone(), exact(name)));
                }
                Part::Joined { .. } => {}
                Part::Table { table, columns, hidden } => {
                    let out = columns.iter().filter(|name| hidden.contains(name) || is_out(name));
                    let out: Vec<_> = out.map(exact).collect();
                    if out.len() < columns.len() {
                        items.push(all_but(table, out));
                    }
                }
            }
        }
        Ok(items)
    }
}

/// The column that a name means: the one that is written so, or else the one that differs in case.
fn column_of<'a>(columns: &'a [String], name: &Ident) -> Option<&'a String> {
    let exactly = columns.iter().find(|column| **column == name.value);
    exactly.or_else(|| columns.iter().find(|column| means(name, column)))
}

fn all_but(table: &Ident, out: Vec<Ident>) -> SelectItem {
    let mut out = out.into_iter();
    let except = out.next().map(|first_element| ExceptSelectItem {
        first_element,
        additional_elements: out.collect(),
    });
    SelectItem::QualifiedWildcard(
        SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(vec![table.clone()])),
        WildcardAdditionalOptions { opt_except: except, ..Default::default() },
    )
}

/// An expression with a name, which a column may have already.
pub fn named(expr: Expr, alias: Ident) -> SelectItem {
    match &expr {
        Expr::CompoundIdentifier(path)
            if path.last().is_some_and(|last| last.value == alias.value) =>
        {
            SelectItem::UnnamedExpr(expr)
        }
        _ => SelectItem::ExprWithAlias { expr, alias },
    }
}

fn left_out(options: &WildcardAdditionalOptions) -> Result<Vec<Ident>, Refusal> {
    use datafusion::sql::sqlparser::ast::ExcludeSelectItem::{Multiple, Single};
    if options.opt_ilike.is_some() || options.opt_replace.is_some() || options.opt_rename.is_some()
    {
        return Err(Refusal::new("* with REPLACE, RENAME or ILIKE over a JOIN with USING", None)
            .hint("name the columns, or join with ON"));
    }
    let mut names: Vec<Ident> = vec![];
    if let Some(except) = &options.opt_except {
        names.push(except.first_element.clone());
        names.extend(except.additional_elements.iter().cloned());
    }
    let excluded: &[ObjectName] = match &options.opt_exclude {
        Some(Single(name)) => std::slice::from_ref(name),
        Some(Multiple(names)) => names,
        None => &[],
    };
    for name in excluded {
        names.extend(name.0.last().and_then(|part| part.as_ident()).cloned());
    }
    Ok(names)
}

struct Replacing<'a> {
    columns: &'a Columns,
    depth: usize,
    replaced: bool,
}

impl VisitorMut for Replacing<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Identifier(name) = expression
        {
            let joined = self.columns.parts.iter().find_map(|part| match part {
                Part::Joined { name: joined, is } if means(name, joined) => Some(is.clone()),
                _ => None,
            });
            if let Some(joined) = joined {
                *expression = joined;
                self.replaced = true;
            }
        }
        ControlFlow::Continue(())
    }
}
