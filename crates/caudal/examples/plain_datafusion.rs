//! DataFusion alone: its own CSV reader, planner and executor, for `bench/run` to compare with.
//!
//! `plain_datafusion FOLDER OUT` runs `tables.sql` of the folder, then every other file in it, one after the
//! other, and writes each answer to a CSV file of the query's name. Of Caudal there are only the SQL
//! functions, without which the suites' questions cannot be asked. `BENCH_THREADS` says how many threads
//! and partitions to use.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::csv::Writer;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::DFParserBuilder;

/// The allocator that `caudal` has, so that only the engines differ.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, out] = arguments.as_slice() else {
        return Err("usage: plain_datafusion FOLDER OUT".into());
    };
    let threads = std::env::var("BENCH_THREADS")?.parse()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(answer_all(folder, out, threads))
}

async fn answer_all(folder: &Path, out: &Path, threads: usize) -> Outcome {
    let config = SessionConfig::new().with_target_partitions(threads);
    let context = SessionContext::new_with_config(config);
    for function in caudal_functions::all() {
        context.register_udf(function);
    }
    define_tables(&context, &fs::read_to_string(folder.join("tables.sql"))?).await?;
    for query in queries(folder)? {
        answer(&context, &query, out).await?;
    }
    Ok(())
}

async fn define_tables(context: &SessionContext, sql: &str) -> Outcome {
    for statement in DFParserBuilder::new(sql).build()?.parse_statements()? {
        let plan = context.state().statement_to_plan(statement).await?;
        context.execute_logical_plan(plan).await?;
    }
    Ok(())
}

fn queries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name != "tables.sql") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

async fn answer(context: &SessionContext, query: &Path, out: &Path) -> Outcome {
    let frame = context.sql(&fs::read_to_string(query)?).await?;
    let name = query.with_extension("csv");
    let name = name.file_name().ok_or("a query without a name")?;
    let mut writer = Writer::new(File::create(out.join(name))?);
    for batch in frame.collect().await? {
        writer.write(&batch)?;
    }
    Ok(())
}
