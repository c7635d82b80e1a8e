//! The front door: sessions, jobs, answers, errors, as a user of the library meets them.

use std::fs;
use std::num::NonZero;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use caudal::{Coded, Error, Event, Job, Session, Suite, Tables};
use caudal_core::codes;
use caudal_testing::until;
use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Handle;

/// Two tables in a folder, one of them in two files.
fn shop() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("items.csv", "id,name\n1,pen\n2,ink\n");
    write("sales_1.csv", "item,amount\n1,10\n2,20\n1,oops\n");
    write("sales_2.csv", "item,amount\n1,5\n");
    folder
}

fn tables(session: &Session, folder: &TempDir) -> Tables {
    let path = |name: &str| folder.path().join(name).display().to_string();
    session.table("items", path("items.csv")).table("sales", path("sales_*.csv"))
}

/// Numbers from 0, as CSV.
fn numbers(rows: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..rows).map(|n| format!("{n}\n")).collect();
    fs::write(folder.path().join("numbers.csv"), format!("n\n{lines}")).unwrap();
    folder
}

fn ints(batches: &[RecordBatch], column: usize) -> Vec<i64> {
    let columns = batches.iter().map(|batch| batch.column(column).as_primitive::<Int64Type>());
    columns.flat_map(|column| column.values().to_vec()).collect()
}

const SQL: &str = "SELECT name, count(*) AS n FROM items JOIN sales ON item = id \
                   GROUP BY name HAVING count(*) >= $least ORDER BY n";

#[tokio::test]
async fn one_thread_of_the_caller_is_enough() {
    let folder = shop();
    let tables = tables(&Session::local(), &folder);
    let mut answer = tables.param("least", 1).query(SQL).await.unwrap();
    assert_eq!(answer.schema().field(1).name(), "n");
    assert_eq!(ints(&answer.batches().await.unwrap(), 1), [1, 3]);
    assert!(answer.next().await.is_none(), "an answer that has ended stays so");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn several_threads_are_used() {
    let folder = shop();
    let session =
        Session::local().threads(NonZero::new(3).unwrap()).shards(NonZero::new(5).unwrap());
    let mut answer = tables(&session, &folder).param("least", 3).query(SQL).await.unwrap();
    assert_eq!(ints(&answer.batches().await.unwrap(), 1), [3]);
}

#[tokio::test]
async fn what_is_known_of_files_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.txt");
    std::fs::write(&file, "1;-;x\n2;20;y\n").unwrap();
    let options = caudal::TableOptions::new()
        .delimiter(b';')
        .header(false)
        .null("-")
        .column("c3", caudal::Type::Text);
    let tables = Session::local().table_with("t", file.display().to_string(), options);
    let mut answer = tables.query("SELECT c1, coalesce(c2, 10) FROM t ORDER BY c1").await.unwrap();
    let batches = answer.batches().await.unwrap();
    assert_eq!((ints(&batches, 0), ints(&batches, 1)), (vec![1, 2], vec![10, 20]));

    // What is not said is guessed, and told.
    let job = Job::new().table("t", file.display().to_string()).unwrap();
    let [delimiter, header] = &job.notes[..] else { panic!("{:?}", job.notes) };
    assert_eq!(delimiter.kind, caudal::NoteKind::Delimiter(b';'));
    assert!(matches!(header.kind, caudal::NoteKind::PerhapsNoHeader(_)));
}

#[tokio::test]
async fn what_does_not_fit_is_told() {
    let folder = shop();
    let file = folder.path().join("sales_1.csv");
    let guessed = Job::new().table("sales", file.display().to_string()).unwrap().tables.remove(0);
    let mut sales = guessed.as_csv().unwrap().clone();
    sales.columns[1].ty = caudal::Type::Int64;
    let session = Session::local().keep_rejects(true).rejected_max(50.0);
    let mut answer =
        session.typed_table(sales.clone()).query("SELECT amount FROM sales").await.unwrap();
    assert_eq!(ints(&answer.batches().await.unwrap(), 0), [10, 20]);
    let rejects: Vec<_> = answer.rejects().collect();
    assert_eq!((rejects.len(), rejects[0].table.as_str(), rejects[0].count), (1, "sales", 1));
    assert_eq!(rejects[0].first[0].raw.as_deref(), Some("1,oops".as_bytes()));
    let [progress] = &answer.progress().tables()[..] else { panic!("one table") };
    assert_eq!((progress.rows, progress.rejected), (2, 1));
    assert_eq!(Some(progress.bytes), progress.total_bytes);

    let exact = Session::local().typed_table(sales.clone());
    let error = exact.query("SELECT amount FROM sales").await.unwrap().batches().await.unwrap_err();
    assert_eq!(error.code(), codes::TOO_MUCH_REJECTED);

    let strict = Session::local().strict(true).typed_table(sales);
    let error =
        strict.query("SELECT amount FROM sales").await.unwrap().batches().await.unwrap_err();
    assert_eq!(error.code(), "CDL-1008");
    assert!(error.is_of_query());
}

#[tokio::test]
async fn every_error_has_its_code() {
    let folder = shop();
    let tables = tables(&Session::local(), &folder);
    let refused = async |tables: &Tables, sql: &str| tables.query(sql).await.err().unwrap();
    let error = refused(&tables, "SELECT nmae FROM items").await;
    assert_eq!((error.code(), error.is_of_query()), (codes::UNKNOWN_COLUMN, true));
    assert_eq!(error.hint().unwrap(), "did you mean \"name\"?");
    assert!(error.excerpt().unwrap().contains("SELECT nmae FROM items"));

    let missing =
        tables.clone().table("more", folder.path().join("more_*.csv").display().to_string());
    let error = refused(&missing, "SELECT 1").await;
    assert_eq!((error.code(), error.is_of_query()), (codes::NO_FILE_FOR_TABLE, false));
    let missing = tables.clone().table("more", "more.csv");
    assert_eq!(refused(&missing, "SELECT 1").await.code(), "CDL-1001");
    assert_eq!(
        refused(
            &tables.clone().table("items", folder.path().join("items.csv").display().to_string()),
            "SELECT 1"
        )
        .await
        .code(),
        "CDL-2011"
    );

    let twice = tables.clone().param("least", 1).param("least", 2);
    let error = refused(&twice, SQL).await;
    assert_eq!((error.code(), error.is_of_query()), (codes::NAME_GIVEN_TWICE, false));

    let mut answer = tables.query("SELECT 9223372036854775807 + id FROM items").await.unwrap();
    let error = answer.batches().await.unwrap_err();
    assert!(matches!(error, Error::Failed { .. }));
    assert_eq!(error.code(), "CDL-3004");

    let cluster = Session::connect(["127.0.0.1:1"]).memory_bytes(1 << 20);
    assert_eq!(
        refused(&cluster.typed_table(tables.job().unwrap().tables.remove(0)), "SELECT 1")
            .await
            .code(),
        "CDL-9009"
    );
}

#[tokio::test]
async fn several_queries_in_one_pass_and_one_of_them_refused() {
    let folder = shop();
    let job = tables(&Session::local(), &folder).job().unwrap();
    let job = job
        .query("all", "SELECT count(*) FROM sales")
        .query("bad", "SELECT x FROM sales")
        .query("some", "SELECT id FROM items");
    assert_eq!(job.plan(2).await.unwrap().refusals().len(), 1);
    let mut run = Session::local().run(&job).await.unwrap();
    assert_eq!(run.schemas().iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    let (mut rows, mut done) = ([0; 3], vec![]);
    while let Some(event) = run.next().await {
        match event.unwrap() {
            Event::Rows(query, batch) => rows[query.index()] += batch.num_rows(),
            Event::Done(query, outcome) => done.push((query.index(), outcome.is_ok())),
            Event::Rejected(..) | Event::Noted(..) | Event::Waiting(_) => {}
        }
    }
    done.sort_unstable();
    assert_eq!(done, [(0, true), (1, false), (2, true)]);
    assert_eq!(rows, [1, 0, 2]);
}

#[tokio::test]
async fn the_queries_of_a_suite_as_datafusion_alone_answers_them() {
    let folder = tempfile::tempdir().unwrap();
    caudal_generate::generate("coffee", 0.0002, 1, folder.path(), &|_| ()).unwrap();
    let suite = Suite::find("coffee").unwrap();
    let job = Job::of_suite(&suite).queries(["q2"]).over(folder.path()).unwrap();
    let mut run = Session::local().run(&job).await.unwrap();
    let mut answers = vec![vec![]; job.queries.len()];
    while let Some(event) = run.next().await {
        if let Event::Rows(query, batch) = event.unwrap() {
            answers[query.index()].push(batch);
        }
    }
    assert_eq!(answers.len(), 2, "q2 is a group of two");
    for (query, answer) in job.queries.iter().zip(&answers) {
        let (_, expected) = caudal::oracle::answer(&job, query).await.unwrap();
        let rows = caudal_oracle::compare(answer, &expected, false).unwrap();
        assert!(rows > 0, "{}", query.name);
    }
}

/// Waits until no more tasks are alive than there were.
async fn all_tasks_but(before: usize) {
    let alive = || Handle::current().metrics().num_alive_tasks();
    until("tasks end with their answer", async || alive() <= before).await;
}

#[tokio::test]
async fn an_answer_that_is_dropped_or_cancelled_leaves_nothing_behind() {
    let folder = numbers(300_000);
    let file = folder.path().join("numbers.csv").display().to_string();
    let tables = Session::local().table("numbers", file);
    let before = Handle::current().metrics().num_alive_tasks();
    drop(tables.query("SELECT n FROM numbers").await.unwrap());
    all_tasks_but(before).await;
    for is_dropped in [true, false] {
        let mut answer = tables.query("SELECT n FROM numbers").await.unwrap();
        assert!(answer.next().await.unwrap().unwrap().num_rows() > 0);
        match is_dropped {
            true => drop(answer),
            false => answer.cancel().await,
        }
        all_tasks_but(before).await;
    }
    let mut answer = tables.query("SELECT count(*) FROM numbers").await.unwrap();
    assert_eq!(ints(&answer.batches().await.unwrap(), 0), [300_000]);
    drop(answer);
    all_tasks_but(before).await;
}

#[test]
fn an_answer_may_be_dropped_where_there_is_no_runtime() {
    let folder = numbers(10);
    let file = folder.path().join("numbers.csv").display().to_string();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let answer = runtime.block_on(async {
        Session::local().table("t", file).query("SELECT n FROM t").await.unwrap()
    });
    drop(runtime);
    drop(answer);
}
