//! Files that are not what they should be, and queries that make no sense:
//! `cargo run -p caudal --example rejects_and_errors`.

use std::error::Error;
use std::fs;

use caudal::{At, Coded, Column, Session, Table, Type};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sales.csv");
    fs::write(&file, "day,amount\n2024-01-01,10\nyesterday,20\n2024-01-03,30\n2024-01-04,1,2\n")?;
    let column =
        |name: &str, ty| Column { name: name.to_string(), at: At::Header(name.to_string()), ty };
    let sales = Table {
        name: "sales".to_string(),
        files: vec![file],
        columns: vec![column("day", Type::Date), column("amount", Type::Int64)],
        fields: None,
        dialect: caudal::Dialect::default(),
    };

    // Rows that do not fit are left out, counted and located; here up to half of them may be.
    let tables = Session::local().rejected_max(50.0).typed_table(sales.clone());
    let mut answer = tables.query("SELECT sum(amount) FROM sales WHERE day > '2024-01-01'").await?;
    answer.batches().await?;
    for rejects in answer.rejects() {
        println!("{} rows of {} do not fit:", rejects.count, rejects.table);
        for reject in &rejects.first {
            println!("  line {}: {}", reject.line, reject.reason);
        }
    }

    // Unless they are to be errors.
    let mut strict =
        Session::local().strict(true).typed_table(sales).query("SELECT day FROM sales").await?;
    if let Err(error) = strict.batches().await {
        println!("{}: not every row fits", error.code());
    }

    // An error has a code with a page in docs/errors, and knows what to do, where, and whether to try again.
    for sql in ["SELECT ammount FROM sales", "SELECT sum(amount) FROM sale", "DROP TABLE sales"] {
        let Err(error) = tables.query(sql).await else { continue };
        println!("{}: {error}", error.code());
        if let Some(excerpt) = error.excerpt() {
            println!("{excerpt}");
        }
        if let Some(hint) = error.hint() {
            println!("hint: {hint}");
        }
        assert!(!error.is_retryable());
    }
    Ok(())
}
