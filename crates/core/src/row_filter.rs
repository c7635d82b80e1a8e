//! Conditions on rows that are known before any is read: who reads a file may leave out what cannot meet them.
//!
//! A filter is a hint. Queries look at each row themselves, so who reads more than it asks for is right as well, and
//! whoever cannot tell reads.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A condition on a row of a table. NULL is what it is in a WHERE: a comparison with it does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowFilter {
    Any(Vec<RowFilter>),
    All(Vec<RowFilter>),
    /// Of a column, by its position in the table.
    Column(usize, Test),
}

/// A condition on a value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    IsNull,
    IsNotNull,
    OneOf(Vec<Value>),
    Less(Value),
    AtMost(Value),
    Greater(Value),
    AtLeast(Value),
}

/// A value of the column's type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A number as the type stores it: an integer, a decimal without its point, days or units since 1970; false is 0.
    Int(#[serde(with = "digits")] i128),
    /// In the order of its bytes.
    Text(String),
}

/// Values of a column in some rows, as far as it is known. What is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub rows: u64,
    pub nulls: Option<u64>,
    /// No value is below it; it need not be one.
    pub min: Option<Value>,
    /// No value is above it.
    pub max: Option<Value>,
}

impl RowFilter {
    /// The filter that holds where one of these does.
    pub fn any(filters: impl IntoIterator<Item = RowFilter>) -> RowFilter {
        let mut parts: Vec<RowFilter> = vec![];
        for filter in filters {
            let nested = match filter {
                RowFilter::Any(nested) => nested,
                other => vec![other],
            };
            let is_new = |part: &RowFilter| !parts.contains(part);
            let new: Vec<_> = nested.into_iter().filter(is_new).collect();
            parts.extend(new);
        }
        if parts.len() == 1 { parts.swap_remove(0) } else { RowFilter::Any(parts) }
    }

    /// The filter that holds where all of these do.
    pub fn all(filters: impl IntoIterator<Item = RowFilter>) -> RowFilter {
        let mut parts = vec![];
        for filter in filters {
            match filter {
                RowFilter::All(nested) => parts.extend(nested),
                other => parts.push(other),
            }
        }
        if parts.len() == 1 { parts.swap_remove(0) } else { RowFilter::All(parts) }
    }

    /// Whether it may hold for any of these rows.
    pub fn may_hold(&self, known: &impl Fn(usize) -> Known) -> bool {
        match self {
            RowFilter::Any(filters) => filters.iter().any(|filter| filter.may_hold(known)),
            RowFilter::All(filters) => filters.iter().all(|filter| filter.may_hold(known)),
            RowFilter::Column(column, test) => test.may_hold(&known(*column)),
        }
    }

    /// The columns that it looks at.
    pub fn columns(&self) -> BTreeSet<usize> {
        match self {
            RowFilter::Any(filters) | RowFilter::All(filters) => {
                filters.iter().flat_map(RowFilter::columns).collect()
            }
            RowFilter::Column(column, _) => BTreeSet::from([*column]),
        }
    }

    /// How many values it compares with, and columns it looks at for NULL.
    pub fn size(&self) -> usize {
        match self {
            RowFilter::Any(filters) | RowFilter::All(filters) => {
                filters.iter().map(RowFilter::size).sum()
            }
            RowFilter::Column(_, Test::OneOf(values)) => values.len(),
            RowFilter::Column(..) => 1,
        }
    }
}

impl Test {
    /// Whether it may hold for any of the values.
    pub fn may_hold(&self, known: &Known) -> bool {
        let has_nulls_only = known.nulls == Some(known.rows);
        match self {
            Test::IsNull => known.nulls != Some(0),
            _ if has_nulls_only => false,
            Test::IsNotNull => true,
            // Whoever wrote such bounds may have meant anything.
            _ if known.order() == Some(Ordering::Greater) => true,
            Test::OneOf(values) => values.iter().any(|value| {
                known.to_least(value) != Some(Ordering::Less)
                    && known.to_most(value) != Some(Ordering::Greater)
            }),
            Test::Less(value) => {
                !matches!(known.to_least(value), Some(Ordering::Less | Ordering::Equal))
            }
            Test::AtMost(value) => known.to_least(value) != Some(Ordering::Less),
            Test::Greater(value) => {
                !matches!(known.to_most(value), Some(Ordering::Greater | Ordering::Equal))
            }
            Test::AtLeast(value) => known.to_most(value) != Some(Ordering::Greater),
        }
    }
}

impl Known {
    /// How a value compares with the least.
    fn to_least(&self, value: &Value) -> Option<Ordering> {
        value.compare(self.min.as_ref()?)
    }

    fn to_most(&self, value: &Value) -> Option<Ordering> {
        value.compare(self.max.as_ref()?)
    }

    fn order(&self) -> Option<Ordering> {
        self.to_most(self.min.as_ref()?)
    }
}

impl Value {
    /// Values of different types have no order.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
            (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

/// Integers of 128 bits as text: many readers of JSON take numbers for floats.
mod digits {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i128) -> Value {
        Value::Int(value)
    }

    fn between(min: i128, max: i128) -> Known {
        Known { rows: 10, nulls: Some(2), min: Some(int(min)), max: Some(int(max)) }
    }

    /// By trying out all values that the bounds allow.
    #[test]
    fn a_range_is_left_out_exactly_if_no_value_of_it_will_do() {
        for (min, max) in [(3, 3), (3, 5), (-2, 4)] {
            for value in -4..=7 {
                type Holds = fn(i128, i128) -> bool;
                let tests: [(Test, Holds); 5] = [
                    (Test::OneOf(vec![int(value)]), |x, value| x == value),
                    (Test::Less(int(value)), |x, value| x < value),
                    (Test::AtMost(int(value)), |x, value| x <= value),
                    (Test::Greater(int(value)), |x, value| x > value),
                    (Test::AtLeast(int(value)), |x, value| x >= value),
                ];
                for (test, holds) in tests {
                    let may = (min..=max).any(|x| holds(x, value));
                    assert_eq!(test.may_hold(&between(min, max)), may, "{test:?} {min}..={max}");
                }
            }
        }
    }

    #[test]
    fn nulls_are_what_they_are_in_a_where() {
        let known = |nulls| Known { nulls, ..between(1, 5) };
        assert!(Test::IsNull.may_hold(&known(Some(1))) && Test::IsNull.may_hold(&known(None)));
        assert!(!Test::IsNull.may_hold(&known(Some(0))));
        let three = Test::OneOf(vec![int(3)]);
        for (nulls, may) in [(None, true), (Some(9), true), (Some(10), false)] {
            assert_eq!(Test::IsNotNull.may_hold(&known(nulls)), may);
            assert_eq!(three.may_hold(&known(nulls)), may);
        }
    }

    #[test]
    fn what_is_not_known_may_hold() {
        let tests = [Test::OneOf(vec![int(9)]), Test::Less(int(-9)), Test::AtLeast(int(9))];
        for test in tests {
            assert!(!test.may_hold(&between(1, 5)));
            assert!(test.may_hold(&between(5, 1)), "bounds that contradict each other");
            assert!(test.may_hold(&Known { rows: 10, ..Known::default() }));
            let text = |text: &str| Some(Value::Text(text.to_string()));
            let texts = Known { min: text("a"), max: text("b"), ..between(1, 5) };
            assert!(test.may_hold(&texts), "of another type");
        }
    }

    #[test]
    fn parts_are_put_together() {
        let part = |column| RowFilter::Column(column, Test::OneOf(vec![int(7)]));
        let known = |column| if column < 2 { between(1, 5) } else { between(1, 9) };
        let may_hold = |filter: RowFilter| filter.may_hold(&known);
        assert!(may_hold(RowFilter::any([part(0), part(2)])));
        assert!(!may_hold(RowFilter::any([part(0), part(1)])));
        assert!(!may_hold(RowFilter::all([part(0), part(2)])));
        assert!(may_hold(RowFilter::all([part(2), part(3)])));
        assert!(!may_hold(RowFilter::any([])) && may_hold(RowFilter::all([])));
        assert_eq!(RowFilter::any([part(1), part(1)]), part(1));
        let nested = RowFilter::any([part(0), RowFilter::any([part(1), part(0)])]);
        assert_eq!(nested, RowFilter::Any(vec![part(0), part(1)]));
        assert_eq!(nested.size(), 2);
        assert_eq!(nested.columns().into_iter().collect::<Vec<_>>(), [0, 1]);
    }

    /// It is on the wire: `docs/protocol.md`.
    #[test]
    fn its_text_is_what_the_protocol_says() {
        let filter = RowFilter::Any(vec![
            RowFilter::All(vec![
                RowFilter::Column(0, Test::AtLeast(int(i128::MAX))),
                RowFilter::Column(2, Test::IsNotNull),
            ]),
            RowFilter::Column(1, Test::OneOf(vec![Value::Text("x".into())])),
        ]);
        let text = serde_json::to_string(&filter).unwrap();
        let expected = r#"{"any":[{"all":[{"column":[0,{"at_least":{"int":"170141183460469231731687303715884105727"}}]},{"column":[2,"is_not_null"]}]},{"column":[1,{"one_of":[{"text":"x"}]}]}]}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<RowFilter>(&text).unwrap(), filter);
    }
}
