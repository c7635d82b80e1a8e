//! Parameters of a suite: what `$name` in its SQL stands for.

use std::collections::BTreeMap;
use std::fmt;

use caudal_core::ParamValue;
use caudal_core::error::nearest;

use crate::Error;

/// A parameter as the suite declares it. Without a default, it must be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Name, which stands as `$name` in SQL.
    pub name: String,
    /// Type of its values.
    pub ty: ParamType,
    /// Value where none is given.
    pub default: Option<ParamValue>,
    /// Description for people.
    pub description: String,
}

/// Type of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// Integers of 64 bits.
    Int,
    /// Numbers with a fraction.
    Float,
    /// Texts.
    Text,
    /// `true` and `false`.
    Bool,
}

/// The value of every declared parameter: what was given (`name=value` each, once), or its default.
pub(crate) fn assign(
    declared: &[Param],
    given: &[impl AsRef<str>],
) -> Result<BTreeMap<String, ParamValue>, Error> {
    let mut values = BTreeMap::new();
    for assignment in given {
        let assignment = assignment.as_ref();
        let (name, text) = assignment
            .split_once('=')
            .ok_or_else(|| Error::NotAnAssignment { text: assignment.to_string() })?;
        let param = declared.iter().find(|param| param.name == name).ok_or_else(|| {
            Error::UnknownParam {
                name: name.to_string(),
                nearest: nearest(name, declared.iter().map(|param| param.name.as_str()))
                    .map(str::to_string),
            }
        })?;
        let value = param.ty.parse(text).ok_or_else(|| Error::WrongParamType {
            name: name.to_string(),
            value: text.to_string(),
            ty: param.ty,
        })?;
        if values.insert(name.to_string(), value).is_some() {
            return Err(Error::ParamTwice { name: name.to_string() });
        }
    }
    for param in declared {
        if values.contains_key(&param.name) {
            continue;
        }
        let default = param.default.clone().ok_or_else(|| Error::MissingParam {
            name: param.name.clone(),
            ty: param.ty,
            description: param.description.clone(),
        })?;
        values.insert(param.name.clone(), default);
    }
    Ok(values)
}

impl ParamType {
    /// The type of a value.
    pub fn of(value: &ParamValue) -> Self {
        match value {
            ParamValue::Int(_) => Self::Int,
            ParamValue::Float(_) | ParamValue::Decimal(_) => Self::Float,
            ParamValue::Text(_) => Self::Text,
            ParamValue::Bool(_) => Self::Bool,
        }
    }

    fn parse(self, text: &str) -> Option<ParamValue> {
        match self {
            Self::Int => text.parse().ok().map(ParamValue::Int),
            Self::Float => text.parse().ok().map(ParamValue::Float),
            Self::Bool => text.parse().ok().map(ParamValue::Bool),
            Self::Text => Some(ParamValue::Text(text.to_string())),
        }
    }
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
            Self::Bool => "bool",
        })
    }
}

#[cfg(test)]
mod tests {
    use caudal_core::{Coded, codes};

    use super::*;

    fn param(name: &str, ty: ParamType, default: Option<ParamValue>) -> Param {
        Param { name: name.to_string(), ty, default, description: String::new() }
    }

    fn declared() -> Vec<Param> {
        vec![
            param("min_reviews", ParamType::Int, Some(ParamValue::Int(5000))),
            param("share", ParamType::Float, Some(ParamValue::Float(0.5))),
            param("country", ParamType::Text, None),
        ]
    }

    #[test]
    fn given_values_replace_defaults_and_keep_their_type() {
        let values = assign(&declared(), &["share=1", "country=a=b"]).unwrap();
        assert_eq!(values["min_reviews"], ParamValue::Int(5000));
        assert_eq!(values["share"], ParamValue::Float(1.0));
        assert_eq!(values["country"], ParamValue::Text("a=b".to_string()));
    }

    #[test]
    fn what_cannot_be_assigned_has_a_code() {
        let code = |given: &[&str]| assign(&declared(), given).unwrap_err().code();
        assert_eq!(code(&["min_review=1", "country=x"]), codes::NO_SUCH_PARAMETER);
        assert_eq!(code(&["min_reviews=many", "country=x"]), codes::WRONG_PARAMETER_TYPE);
        assert_eq!(code(&["min_reviews=1"]), codes::SUITE_PARAMETER_MISSING);
        assert_eq!(code(&["min_reviews"]), codes::NOT_AN_ASSIGNMENT);
        assert_eq!(code(&["country=x", "country=x"]), codes::NAME_GIVEN_TWICE);
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let error = assign(&declared(), &["min_review=1"]).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `min_reviews`?");
    }
}
