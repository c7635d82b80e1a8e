//! Your own files and a query: `cargo run -p caudal --example own_files`.

use std::error::Error;
use std::{env, fs};

use arrow::util::pretty::pretty_format_batches;
use caudal::Session;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    env::set_current_dir(&folder)?;
    fs::write("games.csv", "id,name,price\n1,Chess,9.5\n2,Go,12.0\n3,Hex,\n")?;
    fs::write("reviews_1.csv", "game,stars\n1,5\n2,3\n2,4\n")?;
    fs::write("reviews_2.csv", "game,stars\n2,5\n1,2\n")?;

    let session = Session::local(); // or Session::connect(["host:7070", "host2:7070"])
    let tables = session.table("games", "games.csv").table("reviews", "reviews_*.csv");
    let mut answer = tables
        .clone()
        .param("least", 2)
        .query(
            "SELECT name, count(*) AS n, avg(stars) AS stars
             FROM games JOIN reviews ON game = id
             GROUP BY name HAVING count(*) >= $least ORDER BY n DESC",
        )
        .await?;
    println!("{}", pretty_format_batches(&answer.batches().await?)?);

    // The same tables can be asked again. Rows can be taken as they come, too: an answer is a stream.
    let mut answer = tables.query("SELECT max(price) FROM games").await?;
    println!("{}", pretty_format_batches(&answer.batches().await?)?);
    Ok(())
}
