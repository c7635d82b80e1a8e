//! `caudal run`: the questions of a suite.

use caudal_suite::Suite;

use crate::Done;
use crate::args::RunArgs;
use crate::error::Failed;
use crate::job::Job;

pub fn run(args: RunArgs) -> Done {
    if !args.data.is_dir() {
        let message = format!("there is no folder {}", args.data.display());
        return Err(Failed::usage("CDL-6007", message)
            .hint("--data names the folder with the suite's files".to_string()));
    }
    let suite = Suite::find(&args.suite)?;
    let job = Job::of_suite(&suite, &args.choice, Some(&args.data))?;
    super::answer(&job, args.engine, &args.cluster, &args.output, &args.input)
}
