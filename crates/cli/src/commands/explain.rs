//! `caudal explain`: the stages of a query or a suite.

use caudal_planner::describe;
use caudal_suite::Suite;

use crate::Done;
use crate::args::{ExplainArgs, ExplainFormat};
use crate::job::Job;
use crate::local;

pub fn run(args: ExplainArgs) -> Done {
    let job = match (args.sql, &args.suite) {
        (Some(sql), _) => Job::of_sql(sql, &args.tables, &args.choice.params)?,
        (None, Some(name)) => Job::of_suite(&Suite::find(name)?, &args.choice, None)?,
        (None, None) => unreachable!("clap asks for one of them"),
    };
    let runtime = local::runtime(1)?;
    let plan = runtime.block_on(local::plan(&job, args.shards as usize))?;
    let text = match args.format {
        ExplainFormat::Text => describe::text(&plan),
        ExplainFormat::Mermaid => describe::mermaid(&plan),
        ExplainFormat::Dot => describe::dot(&plan),
        ExplainFormat::Plan => describe::operators(&plan),
    };
    crate::output::print(&text)?;
    let refused = plan.queries.iter().filter_map(|query| query.answer.as_ref().err());
    let refusals: Vec<_> = refused.map(|error| error.refusal()).collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals.into()) }
}
