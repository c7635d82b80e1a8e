//! `caudal completions` and `caudal man`: made of the same declarations as the help texts.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::place::Place;

/// What a program makes of a text on its standard input; nothing, where it is not installed.
fn fed(program: &str, args: &[&str], text: &str) -> Option<(bool, String)> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn each_shell_understands_its_script() {
    for (shell, reads) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = Place::new().caudal(&["completions", shell]).answer();
        for word in ["query", "shell", "completions", "gateway", "strict-rows"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Nobody has to have all of them.
        if let Some((is_fine, said)) = fed(shell, &[reads], &script) {
            assert!(is_fine && said.is_empty(), "{shell}: {said}");
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let script = Place::new().caudal(&["completions", "bash"]).answer();
    let completed = |words: &str| {
        let all: Vec<_> = words.split(' ').collect();
        let [.., before, last] = all[..] else { panic!("{words}") };
        let count = all.len() - 1;
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={count}; _caudal caudal '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\""
        );
        fed("bash", &[], &ask).unwrap().1
    };
    assert_eq!(completed("caudal que"), "query\n");
    assert_eq!(completed("caudal query --rej"), "--rejects --rejected-max\n");
    assert_eq!(completed("caudal completions f"), "fish\n");
    assert_eq!(completed("caudal plan"), "\n", "what is hidden stays so");
}

#[test]
fn the_page_has_the_commands() {
    let page = Place::new().caudal(&["man"]).answer();
    assert!(page.contains(".TH caudal 1"), "{page}");
    for word in ["query", "shell", "SUBCOMMANDS", "DESCRIPTION"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("planner"), "what is hidden stays so");
}

#[test]
fn each_command_has_a_page() {
    let place = Place::new();
    assert_eq!(place.caudal(&["man", "--out", "man1"]).answer(), "");
    let pages = place.list("man1");
    for page in ["caudal.1", "caudal-query.1", "caudal-shell.1", "caudal-up.1"] {
        assert!(pages.iter().any(|name| name == page), "{page} is not among {pages:?}");
    }
    let query = place.read("man1/caudal-query.1");
    assert!(query.contains("NAME=VALUE") && query.contains("SYNOPSIS"), "{query}");
    // Where there is a man, it has nothing to complain of.
    let args = ["--warnings", "-l", "-"];
    if let Some((is_fine, said)) = fed("man", &args, &query).filter(|(_, said)| !said.is_empty()) {
        assert!(!is_fine || said.contains("rejected"), "{said}");
    }
}
