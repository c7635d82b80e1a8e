//! An error in the form that crosses processes.

use serde::{Deserialize, Serialize};

use super::{Code, Coded};

/// Reason why a query or a session has no answer: refused before it ran, or failed while it did.
///
/// What an older version wrote has no hint and no excerpt; an older version does not look at them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// Its stable code.
    pub code: Code,
    /// Text that is understood without the rest.
    pub message: String,
    /// Advice on what to do about it.
    #[serde(default)]
    pub hint: Option<String>,
    /// The place in a query's text, drawn.
    #[serde(default)]
    pub excerpt: Option<String>,
}

impl Failure {
    /// A failure without hint or excerpt.
    pub fn new(code: Code, message: impl ToString) -> Self {
        Self { code, message: message.to_string(), hint: None, excerpt: None }
    }

    /// The failure that an error is.
    pub fn of(error: &(impl Coded + ?Sized)) -> Self {
        Self { hint: error.hint(), excerpt: error.excerpt(), ..Self::new(error.code(), error) }
    }
}

impl Coded for Failure {
    fn code(&self) -> Code {
        self.code
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }

    fn excerpt(&self) -> Option<String> {
        self.excerpt.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes;
    use super::*;

    #[test]
    fn a_hint_crosses_processes() {
        let hint = Some("give it more".to_string());
        let failure = Failure { hint, ..Failure::new(codes::OUT_OF_MEMORY, "too little") };
        let sent = serde_json::to_string(&failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&sent).unwrap(), failure);
        assert_eq!(Failure::of(&failure), failure);
    }

    #[test]
    fn what_older_versions_send_is_understood() {
        let failed: Failure =
            serde_json::from_str(r#"{"code":"CDL-3002","message":"no"}"#).unwrap();
        assert_eq!(failed, Failure::new(codes::DATA, "no"));
        let refused = r#"{"code":"CDL-2001","message":"q: no","hint":null,"excerpt":"^"}"#;
        let refused: Failure = serde_json::from_str(refused).unwrap();
        assert_eq!((refused.hint, refused.excerpt.as_deref()), (None, Some("^")));
    }
}
