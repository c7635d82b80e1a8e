//! The answers of DataFusion alone, as files.

use std::path::Path;

use caudal::{Job, oracle};

use crate::error::Failed;
use crate::interrupt;
use crate::output::{Format, ResultFile};
use crate::session::runtime;

/// Writes each query's answer into the folder, as CSV.
pub fn answer(job: &Job, folder: &Path) -> Result<(), Failed> {
    let runtime = runtime(2)?;
    let ran = runtime.block_on(async {
        tokio::select! {
            ended = answer_all(job, folder) => ended,
            _ = interrupt::pressed() => Err(Failed::interrupted()),
        }
    });
    runtime.shutdown_background();
    ran
}

async fn answer_all(job: &Job, folder: &Path) -> Result<(), Failed> {
    for query in &job.queries {
        let (schema, batches) = oracle::answer(job, query).await?;
        let mut file = ResultFile::create_in(folder, &query.name, Format::Csv, schema)?;
        for batch in &batches {
            file.write(batch)?;
        }
        file.finish()?;
    }
    Ok(())
}
