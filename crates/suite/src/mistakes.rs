//! What is probably meant by options that are no TOML, in words of options.

/// Options that are true or false.
const SWITCHES: [&str; 3] = ["header", "union_by_name", "hive_partitioning"];

/// A word that should stand in quotes, or be true or false; and what to write. Nothing, if it is something else.
pub fn bare_word(text: &str) -> Option<String> {
    let tokens = tokens(text);
    let mut option = "";
    for (at, token) in tokens.iter().enumerate() {
        let is_name = tokens.get(at + 1) == Some(&"=");
        match *token {
            "=" | "[" | "]" | "{" | "}" | "," => {}
            name if is_name => option = name,
            word if is_value(word) || option.is_empty() => {}
            word if SWITCHES.contains(&option) => {
                return Some(format!("{option}={word}: it is true or false, without quotes"));
            }
            word => {
                return Some(format!(
                    "{option}={word}: texts stand in quotes: {option}=\"{word}\""
                ));
            }
        }
    }
    None
}

/// Why braces at the end of a name are no options, if they seem to be meant as such.
pub fn open_brace(source: &str) -> Option<(&str, String)> {
    let at = source.find('{')?;
    let (_, options) = source.split_at(at);
    let is_meant = options.contains('=') && !options.contains('}');
    is_meant.then(|| (options, "the brace is not closed".to_string()))
}

/// Whether TOML takes it as it is: a number, true or false.
fn is_value(word: &str) -> bool {
    matches!(word, "true" | "false") || word.parse::<f64>().is_ok() || word.starts_with(['"', '\''])
}

/// Marks, texts with their quotes, and whatever is between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '=' | '[' | ']' | '{' | '}' | ',' => 1,
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ => rest
                .find(|c: char| "=[]{},\"'".contains(c) || c.is_whitespace())
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_should_be_quoted_are_found() {
        for (text, expected) in [
            ("{null=NA}", "null=NA: texts stand in quotes: null=\"NA\""),
            ("{header=false, null=['x', NA]}", "null=NA: texts stand in quotes: null=\"NA\""),
            ("{header=no}", "header=no: it is true or false, without quotes"),
            ("{delimiter=;}", "delimiter=;: texts stand in quotes: delimiter=\";\""),
            ("{types={id=int}}", "id=int: texts stand in quotes: id=\"int\""),
        ] {
            assert_eq!(bare_word(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["{null=\"NA\"}", "{skip=1, header=false}", "{null='a", "{}", "{", "{='}"] {
            assert_eq!(bare_word(text), None, "{text}");
        }
    }

    #[test]
    fn a_brace_that_is_not_closed_is_found() {
        assert!(open_brace("a.csv{delimiter=';'").is_some());
        for name in ["a.csv", "a{1}.csv", "a{1.csv", "a.csv{delimiter=';'}"] {
            assert!(open_brace(name).is_none(), "{name}");
        }
    }
}
