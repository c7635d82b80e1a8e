//! `caudal limits`: every bound of the system, and what is seen when it is met.

use std::fmt::Write;

use caudal_core::limits::{ALL, Limit};

use crate::Done;

pub fn run() -> Done {
    let limits = || ALL.iter().flat_map(|group| group.limits);
    let width = |cell: fn(&Limit) -> usize| limits().map(cell).max().unwrap_or_default();
    let name_width = width(|limit| limit.name.len());
    let value_width = width(|limit| limit.shown().len());
    let mut text = String::new();
    for group in ALL {
        let separator = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{separator}{}", group.title);
        for limit in group.limits {
            let (name, value, met) = (limit.name, limit.shown(), &limit.met);
            let _ = writeln!(text, "  {name:name_width$}  {value:>value_width$}  {met}");
        }
    }
    Ok(crate::output::print(&text)?)
}
