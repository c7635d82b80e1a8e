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

/// How many letters are wrong, missing, too many, or exchanged with their neighbour.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
        assert_eq!(nearest("cuont", ["cot", "count"]), Some("count"), "letters change places");
    }
}
