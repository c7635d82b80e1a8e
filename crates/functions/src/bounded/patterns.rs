//! Size of what `regexp_replace` and `regexp_match` make of a text, by looking where their pattern is found.

use std::collections::HashMap;

use regex::Regex;

/// Patterns as DataFusion understands them, each compiled once for a batch.
#[derive(Default)]
pub struct Compiled {
    patterns: HashMap<String, Option<Regex>>,
}

impl Compiled {
    /// `None` for what is no pattern: DataFusion says so itself.
    fn get(&mut self, pattern: &str, flags: &str) -> Option<&Regex> {
        let flags = flags.replace('g', "");
        let pattern = match flags.is_empty() {
            true => pattern.to_string(),
            false => format!("(?{flags}){pattern}"),
        };
        let compiled = self.patterns.entry(pattern);
        compiled.or_insert_with_key(|pattern| Regex::new(pattern).ok()).as_ref()
    }

    /// Bytes of a text whose matches (the first one; all of them with `g`) are replaced. Nothing is made of what is no pattern.
    pub fn replaced(&mut self, text: &str, pattern: &str, replacement: &str, flags: &str) -> u128 {
        let Some(regex) = self.get(pattern, flags) else { return 0 };
        let most = if flags.contains('g') { usize::MAX } else { 1 };
        let parts = parts(replacement);
        let mut bytes = text.len() as u128;
        for found in regex.captures_iter(text).take(most) {
            let length = |group: usize| found.get(group).map_or(0, |group| group.len() as u128);
            let with = parts.iter().map(|part| match part {
                Part::Literal(bytes) => *bytes as u128,
                Part::Group(group) => length(*group),
            });
            bytes = (bytes - length(0)).saturating_add(with.sum());
        }
        bytes
    }

    /// Bytes of all groups of the first match.
    pub fn groups(&mut self, text: &str, pattern: &str, flags: &str) -> u128 {
        let found = self.get(pattern, flags).and_then(|regex| regex.captures(text));
        found.map_or(0, |found| found.iter().flatten().map(|group| group.len() as u128 + 16).sum())
    }
}

/// A part of a replacement.
enum Part {
    Literal(usize),
    Group(usize),
}

/// A replacement as it is after `exact::replacement`: `${1}` is a group, `$$` a dollar. Whatever else begins with a dollar is
/// taken for a group with all of the match, which is the most that it can be.
fn parts(replacement: &str) -> Vec<Part> {
    let mut parts = vec![];
    let mut rest = replacement;
    while let Some(at) = rest.find(['$', '\\']) {
        parts.push(Part::Literal(at));
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('$') {
            parts.push(Part::Literal(1));
            rest = after;
        } else if let Some((name, after)) =
            after.strip_prefix('{').and_then(|after| after.split_once('}'))
        {
            match name.parse() {
                Ok(group) => parts.push(Part::Group(group)),
                Err(_) if name == "_" => {}
                Err(_) => parts.push(Part::Group(0)),
            }
            rest = after;
        } else {
            parts.push(Part::Literal(1));
            parts.push(Part::Group(0));
            rest = after;
        }
    }
    parts.push(Part::Literal(rest.len()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_is_as_long_as_it_will_be() {
        let cases = [
            ("hello", "l", "${0}${0}", "g"),
            ("hello", "l", "xx", ""),
            ("hello", "(h)(e)", "${2}${1}$$", ""),
            ("hello", "", "-", "g"),
            ("HELLO", "l+", "[${0}]", "gi"),
            ("hello", "z", "long", "g"),
        ];
        for (text, pattern, with, flags) in cases {
            let bytes = Compiled::default().replaced(text, pattern, with, flags);
            let case = if flags.contains('i') { format!("(?i){pattern}") } else { pattern.into() };
            let regex = Regex::new(&case).unwrap();
            let made = match flags.contains('g') {
                true => regex.replace_all(text, with),
                false => regex.replace(text, with),
            };
            assert_eq!(bytes, made.len() as u128, "{text} {pattern} {with}");
        }
        assert_eq!(Compiled::default().replaced("a", "(", "b", ""), 0);
    }

    #[test]
    fn every_group_is_a_copy() {
        let groups = Compiled::default().groups("abc", "((b)c)", "");
        assert_eq!(groups, 3 * 16 + 2 + 2 + 1);
        assert_eq!(Compiled::default().groups("abc", "x", ""), 0);
    }
}
