//! `caudal man`: manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::Done;
use crate::args::Caudal;
use crate::output::{prepare_folder, print};

/// Print the manual page, or write a page for each command
#[derive(Args)]
#[command(after_help = "Examples:
  caudal man | man -l -
  caudal man --out ~/.local/share/man/man1 && man caudal-query")]
pub struct ManArgs {
    /// Write all pages to files in this folder
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub fn run(args: ManArgs) -> Done {
    let program = Caudal::command();
    let Some(folder) = args.out else {
        let mut page = vec![];
        Man::new(program).render(&mut page)?;
        return Ok(print(&String::from_utf8_lossy(&page))?);
    };
    prepare_folder(&folder)?;
    Ok(clap_mangen::generate_to(program, folder)?)
}
