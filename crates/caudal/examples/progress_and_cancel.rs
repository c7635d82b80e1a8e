//! Progress, and an answer that is given up: `cargo run -p caudal --example progress_and_cancel`. With
//! `CAUDAL_GATEWAY=host:7070` (and `CAUDAL_TOKEN`) on a cluster.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::time::Duration;

use caudal::{Cluster, Session};
use futures::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("numbers.csv");
    let mut numbers = "n,square\n".to_string();
    for n in 0_u64..500_000 {
        writeln!(numbers, "{n},{}", n * n)?;
    }
    fs::write(&file, numbers)?;

    let session = match env::var("CAUDAL_GATEWAY") {
        Ok(gateways) => {
            let cluster = Cluster::at(gateways.split(','));
            Session::connect(match env::var("CAUDAL_TOKEN") {
                Ok(token) => cluster.token(token),
                Err(_) => cluster,
            })
        }
        Err(_) => Session::local(),
    };
    let tables = session.table("numbers", file.display().to_string());

    let mut answer = tables.query("SELECT sum(square) FROM numbers").await?;
    let progress = answer.progress();
    let watching = tokio::spawn(async move {
        loop {
            for table in progress.tables() {
                println!("{}: {} of {:?} bytes", table.name, table.bytes, table.total_bytes);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let rows: usize = answer.batches().await?.iter().map(|batch| batch.num_rows()).sum();
    watching.abort();
    println!("answered with {rows} row");

    // Enough is enough: the session ends here and, if it is on one, on the cluster.
    let mut answer = tables.query("SELECT n FROM numbers WHERE square % 2 = 0").await?;
    if let Some(batch) = answer.next().await {
        println!("some {} rows will do", batch?.num_rows());
    }
    answer.cancel().await;
    Ok(())
}
