//! Guesses at the name that somebody meant.

/// The known name nearest to what was written, if it is near enough to be what was meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    known
        .into_iter()
        .map(|name| (edit_distance(&written, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| is_near(*distance, &written, name))
        .map(|(_, name)| name)
}

/// Of short names only what differs in nothing but case is near: `t` is not what is meant by `u`.
fn is_near(distance: usize, written: &str, known: &str) -> bool {
    let (shorter, longer) = (written.len().min(known.len()), written.len().max(known.len()));
    distance == 0 || (distance <= longer.div_ceil(3) && distance * 2 <= shorter)
}

/// Number of letters that are wrong, missing, too many, or exchanged with their neighbour.
pub fn edit_distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
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
        let suites = ["steam", "movies", "books"];
        assert_eq!(nearest("stema", suites), Some("steam"));
        assert_eq!(nearest("weather", suites), None);
        assert_eq!(nearest("cuont", ["cot", "count"]), Some("count"), "letters change places");
        assert_eq!(nearest("u", ["t", "v"]), None, "any other letter is as near");
        assert_eq!(nearest("idd", ["id"]), Some("id"));
        assert_eq!(nearest("ID", ["id"]), Some("id"));
    }

    #[test]
    fn edits_of_single_letters_are_counted() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
