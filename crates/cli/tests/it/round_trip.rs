//! Commands that belong together: generate, run, check; and the demo, which is all of them.

use insta::assert_snapshot;

use crate::place::Place;

#[test]
fn what_is_generated_can_be_run_and_checked() {
    for (suite, param) in
        [("steam", "min_reviews=4"), ("movies", ""), ("books", "min_reviews=5"), ("coffee", "")]
    {
        let place = Place::new();
        let params = if param.is_empty() { vec![] } else { vec!["--param", param] };
        let ran = place.caudal(&["generate", suite, "--scale", "0.0005", "--out", "data"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
        let run = ["run", suite, "--data", "data", "--out", "out", "--quiet"];
        let ran = place.caudal(&[&run[..], &params].concat());
        // Their dirt is counted, and nothing else said.
        let is_count = |line: &str| line.contains(" did not fit and w");
        assert!(ran.stderr.lines().all(is_count), "{ran}");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
        let check = ["check", "out", "--suite", suite, "--data", "data"];
        let verdict = place.caudal(&[&check[..], &params].concat()).answer();
        assert_eq!(verdict.lines().count(), 5, "{verdict}");
        assert!(verdict.lines().all(|line| line.contains(": same, ")), "{verdict}");
    }
}

#[test]
fn the_same_seed_gives_the_same_data() {
    let place = Place::new();
    for (folder, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
        let args = ["generate", "steam", "--scale", "0.0001", "--out", folder, "--seed", seed];
        assert_eq!(place.caudal(&args).code, Some(0));
    }
    assert_eq!(place.read("a/reviews.csv"), place.read("b/reviews.csv"));
    assert_ne!(place.read("a/reviews.csv"), place.read("c/reviews.csv"));
}

#[test]
fn what_differs_is_told_precisely() {
    let place = Place::with("expected/q1.csv", "id,n\n1,5\n2,6\n")
        .and("out/q1.csv", "n,id\n7,2\n5,1\n")
        .and("expected/q2.csv", "a\nx\n")
        .and("out/q3.csv", "a\nx\n");
    assert_snapshot!(place.caudal(&["check", "out", "--against", "expected"]), @"
    exit 1
    --- stdout
    q1: DIFFERENT: 1 row missing, 1 not expected
      missing: 2, 6
      not expected: 2, 7
      nearest to the first missing row: column n: expected 6, got 7
    q2: MISSING: there is no such result
    q3: not compared: nothing is expected under this name
    --- stderr
    error[CDL-6009]: the results differ
    ");
}

#[test]
fn order_counts_only_where_asked() {
    let place = Place::with("expected/q.csv", "n\n1\n2\n").and("out/q.csv", "n\n2\n1\n");
    let check = ["check", "out", "--against", "expected"];
    assert_eq!(place.caudal(&check).answer(), "q: same, 2 rows\n");
    assert_snapshot!(place.caudal(&[&check[..], &["--ordered"]].concat()), @"
    exit 1
    --- stdout
    q: DIFFERENT: row 1, column n: expected 1, got 2
    --- stderr
    error[CDL-6009]: the results differ
    ");
}

#[test]
fn the_demo_agrees_with_datafusion_alone() {
    let shown = Place::new().caudal(&["demo", "steam", "--scale", "0.001"]).answer();
    assert!(shown.starts_with("steam: Steam: games and their reviews ("), "{shown}");
    assert_eq!(shown.matches("checked: DataFusion alone gives the same").count(), 5, "{shown}");
    assert!(shown.contains("5 answers, 5 as DataFusion alone gives them, in "), "{shown}");
    assert!(!shown.contains("WRONG"), "{shown}");
}
