//! `caudal check`: whether results are what they should be.

use caudal::compare::{Order, compare_dirs};
use caudal::{Suite, codes};

use crate::args::CheckArgs;
use crate::error::{Failed, Told};
use crate::{Done, job, oracle, output};

pub fn run(args: CheckArgs) -> Done {
    let order = if args.ordered { Order::AsGiven } else { Order::Any };
    let computed;
    let expected = match (&args.against, &args.suite) {
        (Some(folder), _) => folder,
        (None, Some(name)) => {
            let suite = Suite::find(name).told()?;
            let job = job::of_suite(&suite, &args.choice, args.data.as_deref())?;
            computed = tempfile::tempdir()?;
            oracle::answer(&job, computed.path())?;
            &computed.path().to_path_buf()
        }
        (None, None) => unreachable!("clap asks for one of them"),
    };
    let report = compare_dirs(&args.results, expected, order).told()?;
    output::print(&report.to_string())?;
    match report.passed() {
        true => Ok(()),
        false => Err(Failed::new(codes::ANSWERS_DIFFER, "the results differ")),
    }
}
