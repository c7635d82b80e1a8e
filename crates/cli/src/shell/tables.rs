//! Tables and parameters of a shell.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use caudal::{Job, TableOptions, codes};
use caudal_core::error::nearest;

use crate::error::{Failed, Told};
use crate::shell::command::bad;
use crate::shell::session::Session;
use crate::shell::waiting::interruptible;
use crate::{Done, job};

impl Session {
    /// Opens a table, given to an option or a command as `NAME=FILES`; one of that name is forgotten.
    pub(super) fn set_table(&mut self, option: &str, source: &str) -> Done {
        let (name, files) = assignment(option, "NAME=FILES", source)?;
        check_is_no_pipe(files)?;
        let opened = vec![source.to_string()];
        let job = interruptible(move || job::with_tables(Job::new(), &opened))?;
        self.drop_table(name);
        self.see(&job);
        self.tables.push(source.to_string());
        Ok(())
    }

    /// Gives a parameter a value, both as `NAME=VALUE`.
    pub(super) fn set_param(&mut self, option: &str, param: &str) -> Done {
        let (name, _) = assignment(option, "NAME=VALUE", param)?;
        self.drop_param(name);
        self.params.push(param.to_string());
        Ok(())
    }

    /// Forgets the table or the parameter of this name.
    pub(super) fn forget(&mut self, name: &str) -> Done {
        let name = name.strip_prefix('$').unwrap_or(name);
        if self.drop_table(name) | self.drop_param(name) {
            return Ok(());
        }
        let named = self.tables.iter().chain(&self.params);
        let known = named.map(|named| named.split_once('=').map_or("", |(name, _)| name));
        let near = nearest(name, known).map(|near| format!("did you mean {near:?}?"));
        Err(bad(".forget", format!("there is no table or parameter {name:?}")).hint(near))
    }

    fn drop_table(&mut self, name: &str) -> bool {
        let count = self.tables.len();
        self.tables.retain(|table| !is_called(table, name));
        self.seen.retain(|seen| !seen.name.eq_ignore_ascii_case(name));
        self.tables.len() < count
    }

    fn drop_param(&mut self, name: &str) -> bool {
        let count = self.params.len();
        self.params.retain(|param| param.split_once('=').is_none_or(|(known, _)| known != name));
        self.params.len() < count
    }
}

/// Whether a table, given as `NAME=FILES`, has this name.
pub fn is_called(table: &str, name: &str) -> bool {
    table.split_once('=').is_some_and(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// A name, and what is said of it.
pub fn assignment<'a>(
    option: &str,
    form: &str,
    text: &'a str,
) -> Result<(&'a str, &'a str), Failed> {
    text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        Failed::new(codes::NO_EQUALS_SIGN, format!("{option} {text}: expected {form}"))
    })
}

/// A shell asks again and again: what can be read only once is no table of one.
pub fn check_is_no_pipe(source: &str) -> Done {
    let (files, _) = TableOptions::split(source).told()?;
    let is_pipe = files == "-"
        || fs::metadata(Path::new(files)).is_ok_and(|metadata| {
            metadata.file_type().is_fifo() || metadata.file_type().is_char_device()
        });
    match is_pipe {
        false => Ok(()),
        true => Err(Failed::new(
            codes::READ_ONLY_ONCE,
            format!("{files} cannot be asked more than once: it is not a file"),
        )
        .hint("save it as a file; caudal query reads what comes once".to_string())),
    }
}
