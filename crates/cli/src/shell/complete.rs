//! What may come next: names, keywords, functions, commands and paths that go on as what is typed.

use std::collections::BTreeSet;

use caudal::sql::{KEYWORDS, Word, WordKind, words};

use crate::shell::command::KNOWN;
use crate::shell::mode::MODES;
use crate::shell::paths;

/// What can be named.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    pub tables: Vec<Table>,
    pub functions: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<String>,
    /// Whether its name is that of files, which SQL has in single quotes.
    pub is_file: bool,
}

/// Candidates, each whole, for what begins at a place of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    pub start: usize,
    pub all: Vec<String>,
}

impl Vocabulary {
    /// How what stands before `at` may go on.
    pub fn candidates(&self, text: &str, at: usize) -> Candidates {
        let head = &text[..at];
        let mut found = match head.strip_prefix('.') {
            Some(_) if !head.contains('\n') => self.of_command(head),
            _ => self.of_sql(text, at),
        };
        // What could move the cursor is nobody's to choose.
        found.all.retain(|candidate| !candidate.contains(char::is_control));
        found
    }

    fn table_names(&self) -> impl Iterator<Item = &String> {
        self.tables.iter().filter(|table| !table.is_file).map(|table| &table.name)
    }

    fn of_command(&self, head: &str) -> Candidates {
        let Some((name, said)) = head.split_once(' ') else {
            let names = KNOWN.iter().filter(|known| known.name.starts_with(head));
            let spaced = |takes: &str| if takes.is_empty() { "" } else { " " };
            let all = names.map(|known| format!("{}{}", known.name, spaced(known.takes)));
            return Candidates { start: 0, all: all.collect() };
        };
        let start = head.len() - said.len();
        let among = |words: &[&str]| {
            let all = words.iter().filter(|word| word.starts_with(said));
            Candidates { start, all: all.map(|word| word.to_string()).collect() }
        };
        match name {
            ".mode" => among(&MODES),
            ".timer" => among(&["on", "off"]),
            ".read" => paths::candidates(said, start),
            ".schema" if said.starts_with('\'') => paths::candidates(&said[1..], start + 1),
            ".schema" | ".forget" => {
                let names: Vec<_> = self.table_names().map(String::as_str).collect();
                among(&names)
            }
            ".table" => match said.split_once('=') {
                Some((_, path)) => paths::candidates(path, head.len() - path.len()),
                None => Candidates::default(),
            },
            ".explain" => {
                let Candidates { start: within, all } = self.of_sql(said, said.len());
                Candidates { start: start + within, all }
            }
            _ => Candidates::default(),
        }
    }

    fn of_sql(&self, text: &str, at: usize) -> Candidates {
        let head = &text[..at];
        let before = words(head);
        if let Some(open) = before.unread {
            let begun = &head[open.at..];
            return match begun.chars().next() {
                Some('\'') => quoted_path(&begun[1..], open.at + 1),
                Some('"') => self.quoted_name(&begun[1..], open.at),
                _ => Candidates::default(),
            };
        }
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let start = head.trim_end_matches(is_of_name).len();
        let begun = &head[start..];
        let said: Vec<_> = before.all.iter().filter(|word| word.at.end <= start).collect();
        let all = match &said[..] {
            [.., owner, point] if is(text, point, ".") => self.columns_of(text, owner, begun),
            [.., word] if is_before_table(text, word) => named(self.table_names(), begun),
            _ => self.anything(text, begun),
        };
        Candidates { start, all }
    }

    /// Columns of the tables that the statement names, or of all; tables; functions and keywords, once one is begun.
    fn anything(&self, text: &str, begun: &str) -> Vec<String> {
        let named_tables: Vec<_> =
            self.mentioned(text).into_iter().map(|(_, table)| table).collect();
        let of: Vec<_> = match named_tables.is_empty() {
            true => self.tables.iter().collect(),
            false => named_tables,
        };
        let columns = of.iter().flat_map(|table| &table.columns);
        let mut all = named(columns.chain(self.table_names()), begun);
        if begun.is_empty() {
            return all;
        }
        let functions = self.functions.iter().filter(|name| goes_on(name, begun));
        all.extend(functions.map(|name| format!("{name}(")));
        let is_small = begun.chars().any(char::is_lowercase);
        let keywords = KEYWORDS.iter().filter(|word| goes_on(word, begun));
        all.extend(keywords.map(|word| match is_small {
            true => word.to_lowercase(),
            false => word.to_string(),
        }));
        all
    }

    fn columns_of(&self, text: &str, owner: &Word, begun: &str) -> Vec<String> {
        let owner = &text[owner.at.clone()];
        let mentioned = self.mentioned(text);
        let known = mentioned.iter().find(|(called, _)| is_same(called, owner));
        let table = match known {
            Some((_, table)) => Some(*table),
            None => self.tables.iter().find(|table| is_same(&table.name, owner)),
        };
        table.map_or_else(Vec::new, |table| named(table.columns.iter(), begun))
    }

    /// Tables that a statement names, and what it calls them.
    fn mentioned<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a Table)> {
        let all = words(text).all;
        let said: Vec<_> = all.iter().filter(|word| word.kind != WordKind::Comment).collect();
        let mut mentioned = vec![];
        for (place, word) in said.iter().enumerate() {
            let is_after_table = place.checked_sub(1).is_some_and(|before| {
                is_before_table(text, said[before]) || is(text, said[before], ",")
            });
            let written = &text[word.at.clone()];
            let known = |table: &&Table| match word.kind {
                WordKind::Name => is_same(&table.name, written),
                WordKind::Text => written.trim_matches('\'').replace("''", "'") == table.name,
                _ => false,
            };
            let Some(table) = self.tables.iter().find(known).filter(|_| is_after_table) else {
                continue;
            };
            let after: Vec<_> = said[place + 1..].iter().copied().take(2).collect();
            let alias = match &after[..] {
                [word, alias] if is(text, word, "as") => Some(alias),
                [alias, ..] => Some(alias),
                _ => None,
            };
            let alias = alias.filter(|alias| alias.kind == WordKind::Name);
            mentioned.push((alias.map_or(written, |alias| &text[alias.at.clone()]), table));
        }
        mentioned
    }

    /// Names in double quotes, which have begun at `start`.
    fn quoted_name(&self, begun: &str, start: usize) -> Candidates {
        let columns = self.tables.iter().flat_map(|table| &table.columns);
        let names: BTreeSet<_> = columns.chain(self.table_names()).collect();
        let all = names.into_iter().filter(|name| goes_on(name, begun)).map(|name| quoted(name));
        Candidates { start, all: all.collect() }
    }
}

/// Paths within a text of SQL, where a quote is written twice.
fn quoted_path(begun: &str, start: usize) -> Candidates {
    let mut found = paths::candidates(&begun.replace("''", "'"), start);
    for path in &mut found.all {
        *path = path.replace('\'', "''");
    }
    // All of the path is written anew.
    found
}

/// Names as they are written, each once, those that go on as what is begun.
fn named<'a>(names: impl Iterator<Item = &'a String>, begun: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for name in names.filter(|name| goes_on(name, begun)) {
        let written = if is_plain(name) { name.clone() } else { quoted(name) };
        if !all.contains(&written) {
            all.push(written);
        }
    }
    all
}

fn goes_on(name: &str, begun: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    begun.chars().flat_map(char::to_lowercase).all(|c| letters.next() == Some(c))
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Whether a name as it is written means one that is called so.
fn is_same(name: &str, written: &str) -> bool {
    match written.strip_prefix('"').and_then(|written| written.strip_suffix('"')) {
        Some(exact) => exact.replace("\"\"", "\"") == name,
        None => name.to_lowercase() == written.to_lowercase(),
    }
}

fn is(text: &str, word: &Word, written: &str) -> bool {
    text[word.at.clone()].eq_ignore_ascii_case(written)
}

fn is_before_table(text: &str, word: &Word) -> bool {
    word.kind == WordKind::Keyword && (is(text, word, "from") || is(text, word, "join"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let table = |name: &str, columns: &[&str]| Table {
            name: name.to_string(),
            columns: columns.iter().map(|column| column.to_string()).collect(),
            is_file: name.contains('/'),
        };
        Vocabulary {
            tables: vec![
                table("games", &["AppID", "name", "release date", "order"]),
                table("reviews", &["app_id", "score", "review_text"]),
                table("data/it's.csv", &["x1", "x2"]),
            ],
            functions: ["sum", "substr", "count"].map(str::to_string).to_vec(),
        }
    }

    /// What completes a text at its `|`.
    fn completed(text: &str) -> Vec<String> {
        let at = text.find('|').unwrap();
        let Candidates { start, all } = vocabulary().candidates(&text.replacen('|', "", 1), at);
        all.into_iter().map(|candidate| format!("{}{candidate}", &text[..start])).collect()
    }

    #[test]
    fn keywords_and_functions_have_the_case_of_what_is_begun() {
        assert_eq!(completed("SEL|"), ["SELECT"]);
        assert_eq!(completed("select * fr|"), ["select * from"]);
        assert_eq!(completed("SELECT su|"), ["SELECT sum(", "SELECT substr("]);
        assert_eq!(completed("SELECT cou|"), ["SELECT count("]);
        assert_eq!(completed("SELECT xyz|"), [""; 0]);
    }

    #[test]
    fn tables_come_after_from() {
        assert_eq!(completed("SELECT * FROM g|"), ["SELECT * FROM games"]);
        let all = completed("SELECT * FROM games JOIN |");
        assert_eq!(
            all,
            ["games", "reviews"].map(|name| format!("SELECT * FROM games JOIN {name}"))
        );
    }

    #[test]
    fn columns_are_those_of_the_tables_that_are_named() {
        assert_eq!(
            completed("SELECT s| FROM reviews"),
            ["SELECT score", "SELECT sum(", "SELECT substr(", "SELECT select", "SELECT similar"]
        );
        assert_eq!(completed("SELECT n| FROM games")[0], "SELECT name");
        assert_eq!(completed("SELECT app|"), ["SELECT AppID", "SELECT app_id"]);
        assert_eq!(completed("SELECT | FROM 'data/it''s.csv'")[..2], ["SELECT x1", "SELECT x2"]);
        assert_eq!(completed("SELECT rel| FROM games")[0], "SELECT \"release date\"");
        assert_eq!(completed("SELECT ord| FROM games")[0], "SELECT \"order\"");
        assert_eq!(completed("SELECT 1;\nSELECT n|\nFROM games")[0], "SELECT 1;\nSELECT name");
    }

    #[test]
    fn columns_of_one_table_come_after_its_name() {
        assert_eq!(completed("SELECT reviews.s|"), ["SELECT reviews.score"]);
        assert_eq!(completed("SELECT g.n| FROM games g"), ["SELECT g.name"]);
        assert_eq!(completed("SELECT g.a| FROM reviews, games AS g"), ["SELECT g.AppID"]);
        assert_eq!(completed("SELECT \"games\".n|"), ["SELECT \"games\".name"]);
        assert_eq!(completed("SELECT z.n| FROM games g"), [""; 0]);
        assert_eq!(completed("SELECT \"rele|"), ["SELECT \"release date\""]);
    }

    #[test]
    fn within_texts_and_comments_are_no_names() {
        assert_eq!(completed("SELECT /* nam|"), [""; 0]);
        assert_eq!(completed("SELECT $$nam|"), [""; 0]);
    }

    #[test]
    fn commands_and_what_they_take() {
        assert_eq!(completed(".ta|"), [".tables", ".table "]);
        assert_eq!(completed(".mode m|"), [".mode markdown"]);
        assert_eq!(completed(".timer o|"), [".timer on", ".timer off"]);
        assert_eq!(completed(".schema rev|"), [".schema reviews"]);
        assert_eq!(completed(".explain select * from g|"), [".explain select * from games"]);
        assert_eq!(completed(".open x|"), [""; 0]);
    }
}
