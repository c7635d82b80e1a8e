//! Meaning of names at a place of a query.

use datafusion::sql::sqlparser::ast::Ident;

use crate::idents::same;

/// A column of a table, of a subquery, or of an answer.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name by which DataFusion knows it; `None` where it made that up itself.
    pub name: Option<String>,
    /// Name by which a user knows it.
    pub shown: String,
    /// Not in `*`.
    pub hidden: bool,
}

impl Column {
    pub fn new(name: String) -> Self {
        Self { shown: name.clone(), name: Some(name), hidden: false }
    }

    pub fn hidden(name: &str) -> Self {
        Self { hidden: true, ..Self::new(name.to_string()) }
    }
}

/// Something in a FROM.
#[derive(Clone, Debug)]
pub struct Relation {
    pub qualifier: Option<String>,
    /// Name by which DataFusion knows it, if that is another one.
    pub known_as: Option<String>,
    /// `None` where only DataFusion can tell.
    pub columns: Option<Vec<Column>>,
}

impl Relation {
    pub fn new(qualifier: Option<String>, columns: Option<Vec<Column>>) -> Self {
        Self { qualifier, known_as: None, columns }
    }

    pub fn known(&self) -> &[Column] {
        self.columns.as_deref().unwrap_or_default()
    }

    fn is_called(&self, written: &str) -> bool {
        self.qualifier.as_deref() == Some(written)
    }
}

/// The names that can be seen somewhere, and what is around it.
#[derive(Default)]
pub struct Scope<'a> {
    pub relations: Vec<Relation>,
    /// Columns that USING or NATURAL made one of two.
    pub merged: Vec<String>,
    /// Outputs of the SELECT itself that have a name, for the clauses that see them.
    pub outputs: Vec<Column>,
    pub outer: Option<&'a Scope<'a>>,
}

/// Meaning of a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The thing that is exactly called so.
    Exactly(String),
    /// One of these, as they would have to be written.
    Ambiguous { candidates: Vec<String>, by_case: bool },
    /// Nothing that is known here.
    Unknown,
}

/// Names that are looked at first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum First {
    Inputs,
    Outputs,
}

impl<'a> Scope<'a> {
    pub fn within(outer: Option<&'a Scope<'a>>) -> Self {
        Self { outer, ..Self::default() }
    }

    pub fn of_outputs(columns: Option<&[Column]>, outer: Option<&'a Scope<'a>>) -> Self {
        let mut scope = Self::within(outer);
        scope.outputs = with_names(columns.unwrap_or_default());
        scope
    }

    /// Meaning of a column's name, here or further out.
    pub fn column(&self, written: &str, first: First) -> Meaning {
        let inputs = || self.input(written);
        let outputs = || self.output(written);
        let here = match first {
            First::Inputs => inputs().or_else(outputs),
            First::Outputs => outputs().or_else(inputs),
        };
        match (here, self.outer) {
            (Meaning::Unknown, _) if self.has_unknown() => Meaning::Unknown,
            (Meaning::Unknown, Some(outer)) => outer.column(written, First::Inputs),
            (here, _) => here,
        }
    }

    /// The relation that a qualifier means, here or further out.
    pub fn relation(&self, written: &Ident) -> Option<&Relation> {
        let spelled = |relation: &&Relation| relation.is_called(&written.value);
        let folded = |relation: &&Relation| {
            let qualifier = relation.qualifier.as_deref();
            written.quote_style.is_none()
                && qualifier.is_some_and(|qualifier| same(qualifier, &written.value))
        };
        let here = self.relations.iter().find(spelled);
        here.or_else(|| self.relations.iter().find(folded))
            .or_else(|| self.outer.and_then(|outer| outer.relation(written)))
    }

    fn has_unknown(&self) -> bool {
        self.relations.iter().any(|relation| relation.columns.is_none())
    }

    /// Meaning of a name among the relations of the FROM.
    pub fn input(&self, written: &str) -> Meaning {
        let mut found = vec![];
        for relation in &self.relations {
            for name in relation.known().iter().filter_map(|column| column.name.as_deref()) {
                if same(name, written) {
                    found.push((relation.qualifier.as_deref(), name));
                }
            }
        }
        if found.iter().any(|(_, name)| *name == written) {
            found.retain(|(_, name)| *name == written);
        }
        let Some((_, first)) = found.first().copied() else { return Meaning::Unknown };
        let by_case = found.iter().any(|(_, name)| *name != first);
        let is_one = found.len() == 1 || self.merged.iter().any(|merged| merged == first);
        if !by_case && is_one {
            return Meaning::Exactly(first.to_string());
        }
        let mut candidates: Vec<_> = found
            .into_iter()
            .map(|(qualifier, name)| {
                let name = if by_case { format!("{name:?}") } else { name.to_string() };
                qualifier.map_or(name.clone(), |qualifier| format!("{qualifier}.{name}"))
            })
            .collect();
        candidates.dedup();
        Meaning::Ambiguous { candidates, by_case }
    }

    /// Meaning of a name among the outputs, as a user calls them. Of repeated outputs the first is meant.
    fn output(&self, written: &str) -> Meaning {
        match pick(written, self.outputs.iter().map(|column| column.shown.as_str())) {
            Meaning::Exactly(shown) => match self.shown(&shown) {
                Some(name) => Meaning::Exactly(name.to_string()),
                None => Meaning::Unknown,
            },
            other => other,
        }
    }

    /// DataFusion's name of the output that a user calls exactly so.
    pub fn shown(&self, shown: &str) -> Option<&str> {
        self.outputs.iter().find(|column| column.shown == shown)?.name.as_deref()
    }
}

impl Meaning {
    fn or_else(self, other: impl FnOnce() -> Meaning) -> Meaning {
        if self == Meaning::Unknown { other() } else { self }
    }
}

/// The one that is spelled so, else the one that is spelled so but for case.
pub fn pick<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Meaning {
    let mut found: Vec<_> = known.filter(|name| same(name, written)).collect();
    if found.contains(&written) {
        found = vec![written];
    }
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [] => Meaning::Unknown,
        [one] => Meaning::Exactly(one.to_string()),
        _ => {
            let candidates = found.iter().map(|name| format!("{name:?}")).collect();
            Meaning::Ambiguous { candidates, by_case: true }
        }
    }
}

pub fn with_names(columns: &[Column]) -> Vec<Column> {
    columns.iter().filter(|column| column.name.is_some()).cloned().collect()
}
