//! `caudal explain`: stages in words and as graphs.

use insta::assert_snapshot;

use crate::place::Place;

/// The fingerprint changes with the engine; that there is one does not.
fn explain(args: &[&str]) -> String {
    let text = Place::new().caudal(&[&["explain"], args].concat()).answer();
    let Some((before, rest)) = text.split_once(", plan ") else { return text };
    let (fingerprint, rest) = rest.split_at(32);
    assert!(fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()), "{fingerprint}");
    format!("{before}, plan FINGERPRINT{rest}")
}

#[test]
fn in_words() {
    assert_snapshot!(explain(&["steam", "--queries", "q3"]), @"
    q3 in 4 stages over 4 shards, plan FINGERPRINT

    table games: sends app_id, name, genres
    table reviews: sends app_id, review_score

    s0  map games, then by hash of app_id for s2 (q3)
        filter array_has(string_to_array(genres, ,), Indie)
          read app_id, name, genres of games

    s1  map reviews, then by hash of app_id for s2 (q3)
        partial aggregate count(*) by app_id
          filter review_score = 1
            read app_id, review_score of reviews

    s2  every shard, then gathered in one shard for s3 (q3)
        top 5 by positive_reviews DESC, app_id ASC NULLS LAST
          project app_id, name, reviews as positive_reviews
            inner join on app_id = app_id
              take app_id, name from s0
              project app_id, count(*) as reviews
                aggregate count(*) by app_id
                  take app_id, count(*)[count] from s1

    s3  shard #0, then answer q3 (q3)
        top 5 by positive_reviews DESC, app_id ASC NULLS LAST
          take app_id, name, positive_reviews from s2
    ");
}

#[test]
fn as_a_mermaid_graph() {
    assert_snapshot!(explain(&["steam", "--queries", "q3", "--format", "mermaid"]), @r#"
    flowchart LR
      t0[("games")]
      t1[("reviews")]
      s0["s0 map games<br/>filter"]
      s1["s1 map reviews<br/>filter<br/>partial aggregate"]
      s2["s2 every shard<br/>aggregate<br/>project<br/>inner join<br/>project<br/>top 5"]
      s3["s3 shard #0<br/>top 5"]
      t0 --> s0
      t1 --> s1
      s0 -->|"by hash of app_id"| s2
      s1 -->|"by hash of app_id"| s2
      s2 -->|"gathered in one shard"| s3
      s3 --> a0
      a0(["q3"])
    "#);
}

#[test]
fn as_a_dot_graph() {
    assert_snapshot!(explain(&["steam", "--queries", "q3", "--format", "dot"]), @r#"
    digraph caudal {
      rankdir=LR;
      node [shape=box, fontname=Helvetica];
      t0 [shape=cylinder, label="games"];
      t1 [shape=cylinder, label="reviews"];
      s0 [label="s0 map games\nfilter"];
      s1 [label="s1 map reviews\nfilter\npartial aggregate"];
      s2 [label="s2 every shard\naggregate\nproject\ninner join\nproject\ntop 5"];
      s3 [label="s3 shard #0\ntop 5"];
      a0 [shape=ellipse, label="q3"];
      t0 -> s0 [label=""];
      t1 -> s1 [label=""];
      s0 -> s2 [label="by hash of app_id"];
      s1 -> s2 [label="by hash of app_id"];
      s2 -> s3 [label="gathered in one shard"];
      s3 -> a0 [label=""];
    }
    "#);
}

#[test]
fn every_suite_in_every_format() {
    for suite in ["steam", "movies", "books", "coffee"] {
        for format in ["text", "mermaid", "dot", "plan"] {
            let text = explain(&[suite, "--format", format]);
            for query in ["q1", "q3", "q4"] {
                assert!(text.contains(query), "{suite} {format} does not show {query}:\n{text}");
            }
        }
    }
}

#[test]
fn of_a_query_over_files() {
    let place = Place::with("t.csv", "a,b,c\nx,1,2\n");
    let sql = "SELECT a, sum(b) AS b FROM t GROUP BY a";
    let ran = place.caudal(&["explain", "-c", sql, "-t", "t=t.csv", "--shards", "3"]);
    let text = ran.answer();
    assert!(text.starts_with("query in 2 stages over 3 shards, plan "), "{text}");
    assert!(text.contains("\ntable t: sends a, b\n"), "{text}");
}
