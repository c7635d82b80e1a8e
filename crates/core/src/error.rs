//! What every error of Caudal can be asked, and the registry of their codes.
//!
//! A code is stable: scripts may match on it, and `docs/errors/` has a page for it. Whether trying
//! again can help is a method, never read from a message.

/// A stable error code, such as `CDL-2001`.
pub type Code = &'static str;

/// An error that a person, a script and a retry loop can each make sense of.
pub trait Coded: std::error::Error {
    fn code(&self) -> Code;

    /// What to do about it, when that is not plain from the message.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Whether the same call may succeed later.
    fn is_retryable(&self) -> bool {
        false
    }
}

/// The known name nearest to what was written, if it is near enough to be what was meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    known
        .into_iter()
        .map(|name| (edit_distance(&written, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= written.len().max(name.len()).div_ceil(3))
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let known = ["app_id", "review_text", "review_score"];
        assert_eq!(nearest("review_txt", known), Some("review_text"));
        assert_eq!(nearest("APPID", known), Some("app_id"));
        assert_eq!(nearest("birthdate", known), None);
    }
}
