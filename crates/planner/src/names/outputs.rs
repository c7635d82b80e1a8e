//! The outputs of a SELECT: what each is called, by DataFusion and by users.
//!
//! ```text
//! SELECT a AS x, b AS x, count(*)              x, x_1 (shown as x), count(*)
//! (SELECT a AS x, b AS x, count(*) ...) AS t   t.x, t.x_1, t."count(*)"
//! ```

use std::collections::BTreeSet;

use datafusion::sql::sqlparser::ast::{
    ExcludeSelectItem, Expr, Ident, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    WildcardAdditionalOptions,
};

use super::scope::{Column, Meaning, Relation, Scope, pick};
use super::{Columns, Names, Naming, Use, exactly, idents_of, places, rename};
use crate::error::Error;
use crate::idents::same;
use crate::texts;

/// One column that a SELECT gives.
pub struct Output {
    /// As it would stand alone in the SELECT.
    pub item: SelectItem,
    pub column: Column,
}

impl Names<'_> {
    pub fn outputs(
        &mut self,
        items: &mut Vec<SelectItem>,
        scope: &Scope<'_>,
        used: Use,
        // Those for which outputs make way.
        inputs: &BTreeSet<String>,
    ) -> Result<Columns, Error> {
        let mut outputs = vec![];
        let mut all_known = true;
        for item in items.iter_mut() {
            match self.item(item, scope, used)? {
                Some(columns) => outputs
                    .extend(columns.into_iter().map(|(item, column)| Output { item, column })),
                None => all_known = false,
            }
        }
        if !all_known {
            return match items.iter().find_map(|item| name_of_input(item, inputs)) {
                Some(alias) => Err(self.two_meanings(alias)),
                None => Ok(None),
            };
        }
        let made_way = make_way(&mut outputs, scope, inputs);
        let placed = self.naming == Naming::ByPlace && places::name(&mut outputs, used);
        let repeated = tell_apart(&mut outputs, scope, used) || made_way || placed;
        let hides = scope.relations.iter().flat_map(Relation::known).any(|column| column.hidden);
        if repeated || hides || !scope.merged.is_empty() {
            *items = outputs.iter().map(|output| output.item.clone()).collect();
        }
        Ok(Some(outputs.into_iter().map(|output| output.column).collect()))
    }

    fn two_meanings(&self, alias: &Ident) -> Error {
        let message = format!(
            "{alias} in an expression of ORDER BY is a column of a table, and a name that the SELECT gives"
        );
        let hint = Some("call the output otherwise".to_string());
        Error::Refused { query: self.query.name.clone(), message, hint, at: self.place(alias) }
    }

    /// Rewrites an item of a SELECT. What it gives, one by one; `None` if only DataFusion can tell.
    fn item(
        &mut self,
        item: &mut SelectItem,
        scope: &Scope<'_>,
        used: Use,
    ) -> Result<Option<Vec<(SelectItem, Column)>>, Error> {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let text = expr.to_string();
                self.expressions(expr, scope)?;
                if gives_many(expr) {
                    return Ok(None);
                }
                let column = match bare_name(expr) {
                    Some(name) => Column::new(name),
                    None if used == Use::Table => {
                        let alias = Ident::with_quote('"', text.clone());
                        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                        Column::new(text)
                    }
                    None => Column { name: None, shown: text, hidden: false },
                };
                Ok(Some(vec![(item.clone(), column)]))
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                self.expressions(expr, scope)?;
                exactly(alias);
                let column = Column::new(alias.value.clone());
                Ok(Some(vec![(item.clone(), column)]))
            }
            SelectItem::ExprWithAliases { expr, .. } => {
                self.expressions(expr, scope)?;
                Ok(None)
            }
            SelectItem::Wildcard(options) => self.wildcard(options, &scope.relations, scope),
            SelectItem::QualifiedWildcard(kind, options) => {
                let SelectItemQualifiedWildcardKind::ObjectName(name) = kind else {
                    return Ok(None);
                };
                // `public.t.*` is `t.*`.
                let relation = idents_of(name).and_then(|idents| scope.relation(idents.last()?));
                let Some(relation) = relation.cloned() else { return Ok(None) };
                if let Some(qualifier) = &relation.qualifier {
                    *name = vec![Ident::with_quote('"', qualifier.clone())].into();
                }
                self.wildcard(options, std::slice::from_ref(&relation), scope)
            }
        }
    }

    /// Items that `*` stands for.
    fn wildcard(
        &mut self,
        options: &mut WildcardAdditionalOptions,
        relations: &[Relation],
        scope: &Scope<'_>,
    ) -> Result<Option<Vec<(SelectItem, Column)>>, Error> {
        let left_out = self.left_out(options, relations);
        let mut replaced = vec![];
        if let Some(replace) = &mut options.opt_replace {
            for element in &mut replace.items {
                self.expressions(&mut element.expr, scope)?;
                spell(&mut element.column_name, relations);
                replaced.push((element.column_name.value.clone(), element.expr.clone()));
            }
        }
        let unknown = relations.iter().any(|relation| relation.columns.is_none());
        // Which come first of many joins, whoever rewrites them knows best.
        let many_joins = relations.len() > 2 && !scope.merged.is_empty();
        if unknown || many_joins || options.opt_ilike.is_some() || options.opt_rename.is_some() {
            return Ok(None);
        }
        let mut outputs = vec![];
        let mut seen = BTreeSet::new();
        for (relation, column) in in_order(relations, scope) {
            let Some(name) = column.name.clone() else { return Ok(None) };
            let is_merged = scope.merged.contains(&name) && relations.len() > 1;
            if left_out.contains(&name) || is_merged && !seen.insert(name.clone()) {
                continue;
            }
            let item = match replaced.iter().find(|(column, _)| *column == name) {
                Some((_, expr)) => SelectItem::ExprWithAlias {
                    expr: expr.clone(),
                    alias: Ident::with_quote('"', name),
                },
                None => SelectItem::UnnamedExpr(column_of(relation, name, is_merged)),
            };
            outputs.push((item, column.clone()));
        }
        Ok(Some(outputs))
    }

    /// The columns that EXCEPT or EXCLUDE names.
    fn left_out(
        &self,
        options: &mut WildcardAdditionalOptions,
        relations: &[Relation],
    ) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        if let Some(except) = &mut options.opt_except {
            let idents = std::iter::once(&mut except.first_element);
            for ident in idents.chain(&mut except.additional_elements) {
                spell(ident, relations);
                names.insert(ident.value.clone());
            }
        }
        let excluded = match &mut options.opt_exclude {
            Some(ExcludeSelectItem::Single(name)) => std::slice::from_mut(name),
            Some(ExcludeSelectItem::Multiple(names)) => &mut names[..],
            None => &mut [],
        };
        for name in excluded {
            if let Some(mut idents) = idents_of(name)
                && let Some(ident) = idents.last_mut()
            {
                spell(ident, relations);
                names.insert(ident.value.clone());
                *name = idents.into();
            }
        }
        names
    }
}

/// The columns of `*`: first those that are joined by, as SQL says, then each table's.
fn in_order<'r>(relations: &'r [Relation], scope: &Scope<'_>) -> Vec<(&'r Relation, &'r Column)> {
    let columns = relations.iter().flat_map(|relation| {
        let shown = relation.known().iter().filter(|column| !column.hidden);
        shown.map(move |column| (relation, column))
    });
    let mut columns: Vec<_> = columns.collect();
    if relations.len() > 1 {
        let place = |column: &Column| {
            scope.merged.iter().position(|name| column.name.as_ref() == Some(name))
        };
        columns.sort_by_key(|(_, column)| place(column).unwrap_or(usize::MAX));
    }
    columns
}

/// Rewrites the name of a column of these.
fn spell(ident: &mut Ident, relations: &[Relation]) {
    let known = relations.iter().flat_map(Relation::known);
    if ident.quote_style.is_none()
        && let Meaning::Exactly(name) =
            pick(&ident.value, known.filter_map(|column| column.name.as_deref()))
    {
        rename(ident, &name);
    }
}

fn column_of(relation: &Relation, name: String, is_merged: bool) -> Expr {
    let quoted = |name: &str| Ident::with_quote('"', name);
    match &relation.qualifier {
        Some(qualifier) if !is_merged => {
            Expr::CompoundIdentifier(vec![quoted(qualifier), quoted(&name)])
        }
        _ => Expr::Identifier(quoted(&name)),
    }
}

/// Gives each output that is called as one of these columns, and is none, another name. Whether there was any.
fn make_way(outputs: &mut [Output], scope: &Scope<'_>, inputs: &BTreeSet<String>) -> bool {
    let known = scope.relations.iter().flat_map(Relation::known);
    let names = outputs.iter().map(|output| &output.column).chain(known);
    let mut taken: BTreeSet<_> = names.filter_map(|column| column.name.clone()).collect();
    let mut made_way = false;
    for output in outputs {
        if name_of_input(&output.item, inputs).is_some()
            && let SelectItem::ExprWithAlias { alias, .. } = &mut output.item
        {
            let name = free(&alias.value, &taken);
            taken.insert(name.clone());
            rename(alias, &name);
            output.column.name = Some(name);
            made_way = true;
        }
    }
    made_way
}

/// The name that an item gives, if one of these columns has it.
fn name_of_input<'i>(item: &'i SelectItem, inputs: &BTreeSet<String>) -> Option<&'i Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } if inputs.contains(&alias.value) => Some(alias),
        _ => None,
    }
}

/// A name like this one that is not taken.
pub fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let mut names = (1..).map(|n| format!("{name}_{n}"));
    names.find(|name| !taken.contains(name)).expect("numbers do not end")
}

/// Gives each output that would have another's name one of its own. Whether there was any.
fn tell_apart(outputs: &mut [Output], scope: &Scope<'_>, used: Use) -> bool {
    let mut taken = BTreeSet::new();
    let (mut columns, mut bare) = (BTreeSet::new(), BTreeSet::new());
    let mut repeated = false;
    for output in outputs {
        // `t.k` and a `k` of no table cannot be told apart by the second.
        let is_other = match (column_of_table(output, scope, used), &output.column.name) {
            (Some(name), _) => {
                let is_other = !bare.contains(&name);
                columns.insert(name);
                is_other
            }
            (None, Some(name)) => {
                bare.insert(name.clone());
                !columns.contains(name)
            }
            (None, None) => true,
        };
        if taken.insert(key(output, scope, used)) && is_other {
            continue;
        }
        repeated = true;
        let name = free(&output.column.shown, &taken);
        taken.insert(name.clone());
        let alias = Ident::with_quote('"', name.clone());
        let expr = match &output.item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr.clone(),
            _ => continue,
        };
        output.item = SelectItem::ExprWithAlias { expr, alias };
        if used == Use::Table {
            output.column.shown = name.clone();
        }
        output.column.name = Some(name);
    }
    repeated
}

/// The name of an output that keeps its table's.
fn column_of_table(output: &Output, scope: &Scope<'_>, used: Use) -> Option<String> {
    match &output.item {
        SelectItem::UnnamedExpr(expr) if used != Use::Table => {
            qualified(expr, scope).and(output.column.name.clone())
        }
        _ => None,
    }
}

/// Outputs with different keys have different names for DataFusion. It may tell apart some with the same.
fn key(output: &Output, scope: &Scope<'_>, used: Use) -> String {
    match (&output.item, &output.column.name) {
        // A plain column of a table keeps the table's name, unless somebody reads this as a table.
        (SelectItem::UnnamedExpr(expr), Some(name)) if used != Use::Table => {
            qualified(expr, scope).unwrap_or_else(|| name.clone())
        }
        (_, Some(name)) => name.clone(),
        (SelectItem::UnnamedExpr(expr), None) => {
            let named_by = named_by(expr);
            let column = qualified(&named_by, scope);
            column.unwrap_or_else(|| texts::key(&named_by.to_string()))
        }
        (_, None) => texts::key(&output.column.shown),
    }
}

/// The part that DataFusion names an expression by: a subquery is called as its column, and within an expression like any other.
fn named_by(expr: &Expr) -> Expr {
    let expr = texts::without_casts(expr);
    if let Expr::Nested(inner) = &expr {
        return named_by(inner);
    }
    let inside = || texts::without_casts_and_subqueries(&expr);
    let Expr::Subquery(query) = &expr else { return inside() };
    let SetExpr::Select(select) = query.body.as_ref() else { return inside() };
    match select.projection.first() {
        Some(SelectItem::UnnamedExpr(column)) => named_by(column),
        Some(SelectItem::ExprWithAlias { alias, .. }) => Expr::Identifier(alias.clone()),
        _ => inside(),
    }
}

/// A plain column with the name of its table.
fn qualified(expr: &Expr, scope: &Scope<'_>) -> Option<String> {
    match expr {
        Expr::Nested(inner) => qualified(inner, scope),
        Expr::CompoundIdentifier(idents) => {
            let names: Vec<_> = idents.iter().map(|ident| ident.value.as_str()).collect();
            Some(names.join("."))
        }
        Expr::Identifier(ident) if !scope.merged.contains(&ident.value) => {
            let has = |relation: &&Relation| {
                let mut names = relation.known().iter().filter_map(|column| column.name.as_ref());
                names.any(|name| *name == ident.value)
            };
            let relation = scope.relations.iter().find(has)?;
            Some(format!("{}.{}", relation.qualifier.as_ref()?, ident.value))
        }
        _ => None,
    }
}

/// The name that a plain column brings along.
pub fn bare_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(ident.value.clone()),
        Expr::CompoundIdentifier(idents) => idents.last().map(|ident| ident.value.clone()),
        Expr::Nested(inner) => bare_name(inner),
        _ => None,
    }
}

/// Whether it may become several columns.
fn gives_many(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if same(&call.name.to_string(), "unnest"))
}

impl Scope<'_> {
    /// Columns that `*` would give, and the hidden ones.
    pub fn all_columns(&self) -> Columns {
        let mut columns: Vec<Column> = vec![];
        for relation in &self.relations {
            for column in relation.columns.as_ref()? {
                let merged = column.name.as_ref().is_some_and(|name| self.merged.contains(name));
                if !merged || !columns.iter().any(|other| other.name == column.name) {
                    columns.push(column.clone());
                }
            }
        }
        Some(columns)
    }
}
