//! `caudal explain`: the stages of a query or a suite.

use caudal::{Job, Suite};

use crate::args::{ExplainArgs, ExplainFormat};
use crate::error::{Failed, Told};
use crate::session::runtime;
use crate::{Done, job};

pub fn run(args: ExplainArgs) -> Done {
    let job = match (args.sql, &args.suite) {
        (Some(sql), _) => job::of_sql(sql, &args.tables, &args.choice.params, false)?,
        (None, Some(name)) => {
            job::of_suite(&Suite::find(name).told()?, &args.choice, args.data.as_deref())?
        }
        (None, None) => unreachable!("clap asks for one of them"),
    };
    show(&job, args.shards as usize, args.format)
}

pub fn show(job: &Job, shards: usize, format: ExplainFormat) -> Done {
    let plan = runtime(1)?.block_on(job.plan(shards))?;
    let text = match format {
        ExplainFormat::Text => plan.to_string(),
        ExplainFormat::Mermaid => plan.mermaid(),
        ExplainFormat::Dot => plan.dot(),
        ExplainFormat::Plan => plan.operators(),
    };
    crate::output::print(&text)?;
    let refusals = plan.refusals();
    if refusals.is_empty() { Ok(()) } else { Err(Failed::all(refusals)) }
}
