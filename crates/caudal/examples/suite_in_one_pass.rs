//! Questions of a suite in one pass over its files, with rows as soon as they are certain:
//! `cargo run -p caudal --example suite_in_one_pass`.

use std::error::Error;

use caudal::{Event, Job, Progress, Session, Suite};
use futures::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    caudal_generate::generate("steam", 0.002, 1, folder.path(), &|_| ())?;

    let suite = Suite::find("steam")?; // or the folder of your own
    let job = Job::of_suite(&suite)
        .queries(["q1", "q3", "q4"])
        .params(["min_reviews=4"])
        .over(folder.path())?;
    println!("{}", job.plan(2).await?);

    let mut run = Session::local().run(&job).await?;
    let progress = run.progress();
    let mut rows = vec![0; job.queries.len()];
    while let Some(event) = run.next().await {
        match event? {
            Event::Rows(query, batch) => {
                let name = &job.queries[query.index()].name;
                if rows[query.index()] == 0 {
                    println!("{name}: its first rows, with {}", read(&progress));
                }
                rows[query.index()] += batch.num_rows();
            }
            Event::Done(query, Ok(())) => {
                let query = query.index();
                println!(
                    "{}: {} rows: {}",
                    job.queries[query].name, rows[query], job.queries[query].title
                );
            }
            // One query that fails is no obstacle to the others.
            Event::Done(query, Err(failure)) => println!("{query}: {}", failure.message),
            Event::Rejected(table, rejects) => {
                let name = &job.tables[table.index()].name;
                println!("{name}: {} rows left out", rejects.len());
            }
            Event::Noted(_, notes) => notes.iter().for_each(|note| println!("{note}")),
            // Only a cluster waits: for workers, say.
            Event::Waiting(reasons) => println!("waiting: {}", reasons.join(", ")),
        }
    }
    Ok(())
}

fn read(progress: &Progress) -> String {
    let table = |table: caudal::TableProgress| {
        let total_bytes = table.total_bytes.unwrap_or(table.bytes);
        format!("{:.0} % of {}", 100.0 * table.bytes as f64 / total_bytes as f64, table.name)
    };
    progress.tables().into_iter().map(table).collect::<Vec<_>>().join(", ")
}
