//! How a shell writes its answers.

use clap::ValueEnum;

use crate::error::Failed;
use crate::output::Format;
use crate::shell::command::bad;

/// Formats that people and pipes can read, one answer after the other.
pub const MODES: [&str; 5] = ["table", "csv", "json", "ndjson", "markdown"];

/// The format of this name, as `option` takes it.
pub fn mode(option: &str, name: &str) -> Result<Format, Failed> {
    let known = MODES.contains(&name).then(|| Format::from_str(name, false).ok()).flatten();
    known.ok_or_else(|| {
        bad(option, format!("there is no mode {name:?}"))
            .hint(format!("it is one of {}", MODES.join(", ")))
    })
}

/// What a format is called.
pub fn name_of(format: Format) -> String {
    format.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}
