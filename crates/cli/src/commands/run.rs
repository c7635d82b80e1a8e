//! `caudal run`: the questions of a suite.

use caudal::{Suite, codes};

use crate::args::RunArgs;
use crate::error::{Failed, Told};
use crate::{Done, answering, job};

pub fn run(args: RunArgs) -> Done {
    if !args.data.is_dir() {
        let message = format!("there is no folder {}", args.data.display());
        return Err(Failed::new(codes::NO_DATA_FOLDER, message)
            .hint("--data names the folder with the suite's files".to_string()));
    }
    let suite = Suite::find(&args.suite).told()?;
    let job = job::of_suite(&suite, &args.choice, Some(&args.data))?;
    if !args.output.quiet {
        job::tell(&job.notes);
    }
    answering::answer(&job, args.engine, args.times, &args.cluster, &args.output, &args.input)
}
