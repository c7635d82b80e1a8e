//! Scripts: statements one after the other, each with a semicolon at its end.
//!
//! Where one ends the parser's own tokenizer decides, so that a semicolon in a text, a name or a comment is none.

use crate::words::{Word, WordKind, Words, words};

/// Statements of a text that comes line by line.
///
/// ```
/// let mut script = caudal_planner::Script::new();
/// assert_eq!(script.line("SELECT 'a;"), []);
/// let ended = script.line("b'; SELECT 2");
/// assert_eq!((ended[0].sql.as_str(), ended[0].line), ("SELECT 'a;\nb'", 1));
/// assert_eq!(script.finish().unwrap().sql, "SELECT 2");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The lines of the statement that is begun.
    begun: String,
    /// Number of the line in which it begins.
    begun_line: usize,
    /// Number of lines so far.
    lines: usize,
}

/// A statement of a script, without its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// The line of the script in which it begins, from 1.
    pub line: usize,
}

impl Script {
    /// Of no lines yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next line; gives the statements that end in it.
    pub fn line(&mut self, line: &str) -> Vec<Statement> {
        self.lines += 1;
        match self.is_begun() {
            true => self.begun.push('\n'),
            false => self.begun_line = self.lines,
        }
        let is_first = self.begun.is_empty();
        self.begun.push_str(line);
        // All of it is read again, so only where that may tell something.
        match is_first || line.contains(';') {
            true => self.take_whole(),
            false => vec![],
        }
    }

    /// Passes over a line that is no SQL.
    pub fn skip_line(&mut self) {
        self.lines += 1;
    }

    /// Whether a statement is begun and not ended.
    pub fn is_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Number of bytes of what is begun.
    pub fn begun_bytes(&self) -> usize {
        self.begun.len()
    }

    /// Number of lines so far.
    pub fn line_count(&self) -> usize {
        self.lines
    }

    /// The last statement, if it has no semicolon.
    pub fn finish(mut self) -> Option<Statement> {
        let words = words(&self.begun);
        let is_any = words.unread.is_some() || words.all.iter().any(is_said);
        let rest = std::mem::take(&mut self.begun);
        is_any.then(|| statement(&rest, self.begun_line))
    }

    fn take_whole(&mut self) -> Vec<Statement> {
        let Words { all, unread } = words(&self.begun);
        let mut whole = vec![];
        let mut start = 0;
        let mut is_any = false;
        for word in &all {
            if word.kind == WordKind::End {
                if is_any {
                    whole.push(self.statement_in(start, word.at.start));
                }
                (start, is_any) = (word.at.end, false);
            } else {
                is_any |= is_said(word);
            }
        }
        // What the parser cannot read ends where it looks as if.
        if unread.is_some_and(|unread| !unread.is_open)
            && let Some(sql) = self.begun.trim_end().strip_suffix(';')
        {
            whole.push(self.statement_in(start, sql.len()));
            (start, is_any) = (self.begun.len(), false);
        }
        match is_any || unread.is_some_and(|unread| unread.at >= start) {
            true => {
                let rest = self.begun[start..].trim_start();
                let passed = &self.begun[..self.begun.len() - rest.len()];
                self.begun_line += passed.matches('\n').count();
                self.begun = rest.to_string();
            }
            false => self.begun.clear(),
        }
        whole
    }

    fn statement_in(&self, start: usize, end: usize) -> Statement {
        let before = self.begun[..start].matches('\n').count();
        statement(&self.begun[start..end], self.begun_line + before)
    }
}

fn is_said(word: &Word) -> bool {
    word.kind != WordKind::Comment
}

fn statement(text: &str, line: usize) -> Statement {
    let sql = text.trim_start();
    let line = line + text[..text.len() - sql.len()].matches('\n').count();
    Statement { sql: sql.trim_end().to_string(), line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, String)> {
        let mut script = Script::new();
        let mut all: Vec<_> = text.lines().flat_map(|line| script.line(line)).collect();
        all.extend(script.finish());
        all.into_iter().map(|statement| (statement.line, statement.sql)).collect()
    }

    #[test]
    fn statements_end_at_semicolons_that_are_some() {
        for (text, expected) in [
            ("SELECT 1;", vec![(1, "SELECT 1")]),
            ("SELECT 1; SELECT 2;", vec![(1, "SELECT 1"), (1, "SELECT 2")]),
            ("SELECT 1\n\n  , 2\n;SELECT\n3", vec![(1, "SELECT 1\n\n  , 2"), (4, "SELECT\n3")]),
            ("SELECT ';', \"a;b\"; ;;", vec![(1, "SELECT ';', \"a;b\"")]),
            ("SELECT 'it''s;\n'; x", vec![(1, "SELECT 'it''s;\n'"), (2, "x")]),
            ("SELECT $$;\n;$$;", vec![(1, "SELECT $$;\n;$$")]),
            ("SELECT 1 -- one; two\n; x", vec![(1, "SELECT 1 -- one; two"), (2, "x")]),
            ("/* a;\n /* b; */ ; */ SELECT 1;", vec![(1, "/* a;\n /* b; */ ; */ SELECT 1")]),
            ("-- a;\n\n  \n/* b; */\nSELECT 1;", vec![(5, "SELECT 1")]),
            ("SELECT 'a", vec![(1, "SELECT 'a")]),
            ("SELECT 1; 'a\nb;\nc", vec![(1, "SELECT 1"), (1, "'a\nb;\nc")]),
            ("", vec![]),
            ("  ;\n-- nothing\n", vec![]),
            ("SELECT 1;\r\nSELECT 2;\r\n", vec![(1, "SELECT 1"), (2, "SELECT 2")]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(line, sql)| (line, sql.to_string())).collect();
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    /// However a text is cut into lines: what is left is begun, and nothing is lost.
    #[test]
    fn what_is_begun_is_known() {
        let mut script = Script::new();
        assert!(!script.is_begun());
        script.line("-- a comment");
        assert!(!script.is_begun());
        script.line("SELECT 1");
        assert!(script.is_begun());
        assert_eq!(script.line("; SELECT 2;  ").len(), 2);
        assert!(!script.is_begun());
        script.skip_line();
        assert_eq!(script.line("SELECT 3;"), [Statement { sql: "SELECT 3".into(), line: 5 }]);
        assert_eq!((script.finish(), read("SELECT 1;;").len()), (None, 1));
    }
}
