//! The shell on a terminal.

use std::io::{self, IsTerminal};

use caudal::codes;
use caudal::sql::{Script, functions};
use caudal_core::limits;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::config::{Behavior, ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use crate::error::{Failed, no_color};
use crate::plain_text::plain_line;
use crate::shell::args::ShellArgs;
use crate::shell::complete::{Table, Vocabulary};
use crate::shell::edit::Editing;
use crate::shell::history::Kept;
use crate::shell::session::{Next, Session};
use crate::{Done, interrupt};

pub fn run(args: ShellArgs) -> Done {
    let _before = watch();
    let mut session = Session::open(args)?;
    let mut kept = Kept::of_user();
    let mut editor = editor(&mut kept)?;
    if !session.is_quiet() {
        greet(&session);
    }
    loop {
        if let Some(editing) = editor.helper_mut() {
            editing.vocabulary.tables = tables(&session);
        }
        let text = match editor.readline(&prompt(&session)) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => {
                let message = format!("cannot read from the terminal: {error}");
                return Err(Failed::new(codes::QUERY_TEXT_UNREADABLE, message));
            }
        };
        kept.add(editor.history_mut(), &text);
        // One that was pressed at the prompt, or too late for what was asked before.
        interrupt::forget();
        match do_all(&mut session, &text) {
            Next::Line => {}
            Next::Drop => Failed::interrupted().tell(),
            Next::End => return Ok(()),
        }
    }
}

/// The terminal as it was: it is so again when this is dropped.
#[derive(Clone)]
struct Before(Option<Termios>);

impl Drop for Before {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // It may be gone.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Ctrl-C ends what runs, and is not shown: a `^C` in the middle of bars would leave some of them on the screen. Whatever ends
/// the shell leaves the terminal as it was.
fn watch() -> Before {
    let before = Before(tcgetattr(io::stdin()).ok());
    if let Some(mut silent) = before.0.clone() {
        silent.local_modes -= LocalModes::ECHOCTL;
        // Then it is shown.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &silent);
    }
    let again = before.clone();
    interrupt::watch_runs(move || drop(again));
    before
}

fn editor(kept: &mut Kept) -> Result<Editor<Editing, FileHistory>, Failed> {
    let has_colors = !no_color();
    let cannot = |error| {
        let message = format!("cannot use the terminal: {error}");
        Failed::new(codes::QUERY_TEXT_UNREADABLE, message)
    };
    let config = Config::builder()
        .max_history_size(limits::HISTORY_ENTRIES_MAX)
        .and_then(|config| config.history_ignore_dups(true))
        .map_err(cannot)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(if has_colors { ColorMode::Enabled } else { ColorMode::Disabled })
        // Answers may go elsewhere.
        .behavior(match io::stdout().is_terminal() {
            true => Behavior::Stdio,
            false => Behavior::PreferTerm,
        })
        .build();
    let history = kept.read(&config);
    let mut editor = Editor::with_history(config, history).map_err(cannot)?;
    let vocabulary = Vocabulary { tables: vec![], functions: functions() };
    editor.set_helper(Some(Editing { vocabulary, has_colors }));
    Ok(editor)
}

fn greet(session: &Session) {
    eprintln!(
        "caudal {}: SQL ends with a semicolon, .help lists commands, Ctrl-D ends",
        env!("CARGO_PKG_VERSION")
    );
    for table in tables(session) {
        eprintln!("{}: {} columns", plain_line(&table.name), table.columns.len());
    }
}

fn tables(session: &Session) -> Vec<Table> {
    let table = |table: &caudal::FileTable| {
        let columns = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let (name, is_file) = (table.name.clone(), !session.is_named(&table.name));
        Table { name, columns, is_file }
    };
    session.seen().iter().map(table).collect()
}

fn prompt(session: &Session) -> String {
    match session.gateways() {
        None => "caudal> ".to_string(),
        Some(gateways) => format!("caudal {gateways}> "),
    }
}

/// All lines of what was entered: one statement as a rule, several if they were pasted.
fn do_all(session: &mut Session, text: &str) -> Next {
    let mut script = Script::new();
    for line in text.lines() {
        let next = session.line(&mut script, line, None);
        if next != Next::Line {
            return next;
        }
    }
    match script.finish() {
        Some(last) => session.statement(last, None),
        None => Next::Line,
    }
}
