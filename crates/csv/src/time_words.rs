//! Formats of times in the letters of spreadsheets and of Java (`dd/mm/yyyy`), said in those of `strftime`.

/// The same in letters of `strftime`, if it is written in letters at all.
pub fn in_letters_of_strftime(text: &str) -> Option<String> {
    if text.contains('%') {
        return None;
    }
    let (mut said, mut is_after_hours) = (String::new(), false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = rest.chars().take_while(|c| c.eq_ignore_ascii_case(&first)).count();
        let (letters, after) = rest.split_at(run * first.len_utf8());
        rest = after;
        let item = match (first.to_ascii_lowercase(), run) {
            // Java quotes what is no letter of a format.
            ('\'', _) => "",
            ('y', 4) => "%Y",
            ('y', 2) => "%y",
            ('m', 1 | 2) if is_after_hours => "%M",
            ('m', 1 | 2) => "%m",
            ('m', 3) => "%b",
            ('m', 4) => "%B",
            ('d', 1 | 2) => "%d",
            ('h', 1 | 2) => "%H",
            ('s', 1 | 2) => "%S",
            ('s' | 'f', _) => "%f",
            ('z' | 'x', _) => "%z",
            _ => letters,
        };
        is_after_hours |= item == "%H";
        said.push_str(item);
    }
    Some(said)
}
