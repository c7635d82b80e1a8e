//! The names in expressions: columns, columns of tables, fields of structs. A subquery in an expression is
//! a scope of its own.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, SetExpr,
    VisitMut,
};

use super::scope::{First, Meaning, Scope, pick};
use super::{Names, Use, exactly, idents_of, rename};
use crate::error::Error;
use crate::idents::means;
use crate::walk::{SeenMut, walk_mut};

impl Names<'_> {
    /// Rewrites all expressions of a part of a query, of which each sees its inputs first.
    pub fn expressions(
        &mut self,
        part: &mut impl VisitMut,
        scope: &Scope<'_>,
    ) -> Result<(), Error> {
        self.expressions_seeing(part, scope, First::Inputs)
    }

    pub fn expressions_seeing(
        &mut self,
        part: &mut impl VisitMut,
        scope: &Scope<'_>,
        first: First,
    ) -> Result<(), Error> {
        let mut rewriter =
            Rewriter { names: self, scope, first, put_aside: vec![], parameters: vec![] };
        let mut done = Ok(());
        walk_mut(part, &mut |seen| match rewriter.see(seen) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                done = Err(error);
                ControlFlow::Break(())
            }
        });
        done
    }

    /// Rewrites a column's name, and everything after it as fields.
    fn column(&self, ident: &mut Ident, scope: &Scope<'_>, first: First) -> Result<(), Error> {
        // What starts with @ is a variable.
        if ident.quote_style.is_some() || ident.value.starts_with('@') {
            return Ok(());
        }
        match scope.column(&ident.value, first) {
            Meaning::Exactly(name) => rename(ident, &name),
            Meaning::Unknown => {}
            Meaning::Ambiguous { candidates, by_case } => {
                return Err(self.ambiguous("column", ident, candidates, by_case));
            }
        }
        Ok(())
    }

    /// `table.column`, `public.table.column`, `column.field`, and fields after either.
    fn compound(
        &self,
        idents: &mut Vec<Ident>,
        scope: &Scope<'_>,
        first: First,
    ) -> Result<(), Error> {
        if idents[0].value.starts_with('@') {
            return Ok(());
        }
        drop_schema(idents, scope);
        let Some(relation) = scope.relation(&idents[0]) else {
            self.column(&mut idents[0], scope, first)?;
            self.fields(&mut idents[1..]);
            return Ok(());
        };
        let qualifier = relation.qualifier.clone().unwrap_or_default();
        rename(&mut idents[0], &qualifier);
        if let [_, column, fields @ ..] = &mut idents[..] {
            if column.quote_style.is_none() {
                let known = relation.known().iter().filter_map(|column| column.name.as_deref());
                match pick(&column.value, known) {
                    Meaning::Exactly(name) => rename(column, &name),
                    Meaning::Unknown => {}
                    Meaning::Ambiguous { candidates, .. } => {
                        let of = |name| format!("{qualifier}.{name}");
                        let candidates = candidates.into_iter().map(of).collect();
                        return Err(self.ambiguous("column", column, candidates, true));
                    }
                }
            }
            self.fields(fields);
        }
        Ok(())
    }

    /// A struct's fields are called by some text of the query.
    fn fields(&self, fields: &mut [Ident]) {
        for field in fields.iter_mut().filter(|field| field.quote_style.is_none()) {
            if let Meaning::Exactly(name) =
                pick(&field.value, self.texts.iter().map(String::as_str))
            {
                rename(field, &name);
            }
        }
    }

    pub fn ambiguous(
        &self,
        what: &'static str,
        ident: &Ident,
        candidates: Vec<String>,
        by_case: bool,
    ) -> Error {
        Error::Ambiguous {
            query: self.query.name.clone(),
            what,
            name: ident.value.clone(),
            candidates,
            by_case,
            at: self.place(ident),
        }
    }
}

/// `public.t` is `t`: there is one schema.
pub fn drop_schema(idents: &mut Vec<Ident>, scope: &Scope<'_>) {
    if idents.len() > 3 && means(&idents[0], "datafusion") && means(&idents[1], "public") {
        idents.remove(0);
    }
    if idents.len() > 2 && means(&idents[0], "public") && scope.relation(&idents[0]).is_none() {
        idents.remove(0);
    }
}

struct Rewriter<'n, 'a, 's> {
    names: &'n mut Names<'a>,
    scope: &'s Scope<'s>,
    first: First,
    /// Subqueries that are done, while an empty one is walked through in their place.
    put_aside: Vec<Query>,
    /// Of the lambdas around.
    parameters: Vec<String>,
}

impl Rewriter<'_, '_, '_> {
    fn see(&mut self, seen: SeenMut<'_>) -> Result<(), Error> {
        match seen {
            SeenMut::Query(query) => {
                let mut inner = std::mem::replace(query, nothing());
                let done = self.names.query(&mut inner, Some(self.scope), Use::Nameless);
                self.put_aside.push(inner);
                done?;
            }
            SeenMut::AfterQuery(query) => {
                *query = self.put_aside.pop().expect("put aside before it was walked through");
            }
            SeenMut::Expr(expr) => self.rewrite(expr)?,
            SeenMut::AfterExpr(Expr::Lambda(lambda)) => {
                let around = self.parameters.len() - lambda.params.len();
                self.parameters.truncate(around);
            }
            SeenMut::AfterExpr(_) => {}
        }
        Ok(())
    }

    fn rewrite(&mut self, expr: &mut Expr) -> Result<(), Error> {
        match expr {
            Expr::Identifier(ident) if self.is_parameter(ident) => Ok(()),
            Expr::Identifier(ident) => self.names.column(ident, self.scope, self.first),
            Expr::CompoundIdentifier(idents) => self.names.compound(idents, self.scope, self.first),
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    if let AccessExpr::Dot(Expr::Identifier(field)) = access {
                        self.names.fields(std::slice::from_mut(field));
                        if field.quote_style.is_none() {
                            field.value = field.value.to_lowercase();
                        }
                        // Not to be taken for a column.
                        exactly(field);
                    }
                }
                Ok(())
            }
            Expr::Function(call) => {
                if let FunctionArguments::List(list) = &mut call.args {
                    list.args.iter_mut().for_each(|arg| self.wildcard(arg));
                }
                Ok(())
            }
            Expr::Lambda(lambda) => {
                self.parameters.extend(lambda.params.iter().map(|param| param.name.value.clone()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_parameter(&self, ident: &Ident) -> bool {
        self.parameters.iter().any(|parameter| parameter.eq_ignore_ascii_case(&ident.value))
    }

    /// `count(t.*)`
    fn wildcard(&self, arg: &mut FunctionArg) {
        if let FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) = arg
            && let Some(idents) = idents_of(name)
            && let Some(last) = idents.last()
            && let Some(relation) = self.scope.relation(last)
            && let Some(qualifier) = &relation.qualifier
        {
            *name = vec![Ident::with_quote('"', qualifier.clone())].into();
        }
    }
}

/// A query in which there is nothing to be seen.
pub fn nothing() -> Query {
    let values = datafusion::sql::sqlparser::ast::Values {
        explicit_row: false,
        value_keyword: false,
        rows: vec![],
    };
    Query {
        with: None,
        body: Box::new(SetExpr::Values(values)),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: vec![],
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: vec![],
    }
}
