//! Names: whatever their case, whatever scope they are of, and what answers' columns are called.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use caudal_planner::{QuerySpec, SessionSpec, TableSpec};

fn spec(sql: &str) -> SessionSpec {
    let table = |name: &str, columns: &[&str]| {
        let field = |name: &&str| Field::new(*name, DataType::Int64, true);
        let fields: Vec<_> = columns.iter().map(field).collect();
        TableSpec { name: name.to_string(), schema: Arc::new(Schema::new(fields)) }
    };
    SessionSpec {
        tables: vec![
            table("Games", &["Id", "Name", "price"]),
            table("reviews", &["id", "GameId", "score"]),
            table("twins", &["a", "A", "Bb"]),
            table("Two", &["x"]),
            table("TWO", &["x"]),
        ],
        queries: vec![QuerySpec { name: "q".into(), sql: sql.into(), params: vec![] }],
        shards: 2,
        started: "2024-05-06T07:08:09Z".parse().unwrap(),
    }
}

/// Names of the answer's columns, or the reason why there are none.
async fn names(sql: &str) -> String {
    match caudal_planner::plan(&spec(sql)).await {
        Ok(plan) => {
            let schema = &plan.queries[0].answer.as_ref().unwrap().schema;
            let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            names.join(", ")
        }
        Err(error) => format!("error: {error}"),
    }
}

macro_rules! named {
    ($test:ident: $($sql:literal => $names:literal),+ $(,)?) => {
        #[tokio::test]
        async fn $test() {
            $(assert_eq!(names($sql).await, $names, "{}", $sql);)+
        }
    };
}

named!(the_case_of_a_name_does_not_matter:
    "SELECT ID, NAME, PRICE FROM games" => "Id, Name, price",
    "SELECT G.ID FROM GAMES g" => "Id",
    "SELECT g.id FROM games AS G WHERE G.Price > 3" => "Id",
    "SELECT games.id FROM GAMES" => "Id",
    "SELECT Games.* FROM games" => "Id, Name, price",
    "SELECT gAMES.*, 1 AS One FROM games" => "Id, Name, price, One",
    "SELECT name, count(*) AS Total FROM games GROUP BY NAME HAVING TOTAL > 1 ORDER BY total" => "Name, Total",
    "SELECT lower(NAME::text) AS name FROM games ORDER BY Name" => "name",
    "SELECT DISTINCT ON (ID) Id FROM games ORDER BY iD" => "Id",
    "SELECT sum(price) OVER W AS s FROM games WINDOW w AS (PARTITION BY NAME ORDER BY ID)" => "s",
    "SELECT COUNT(*), Sum(PRICE) FROM games" => "COUNT(*), Sum(PRICE)",
    "SELECT * EXCEPT (NAME) FROM games" => "Id, price",
    "SELECT * EXCLUDE name FROM games" => "Id, price",
    "SELECT * REPLACE (price + 1 AS PRICE) FROM games" => "Id, Name, price",
);

named!(quotes_are_exact:
    "SELECT \"Id\" FROM \"Games\"" => "Id",
    "SELECT \"id\" FROM games" => "error: q: there is no column \"id\"",
    "SELECT id FROM \"games\"" => "error: q: there is no table \"games\"",
    "SELECT a, \"A\" FROM twins" => "a, A",
    "SELECT A FROM twins" => "A",
    "SELECT \"Two\".x FROM \"Two\" JOIN \"TWO\" ON \"Two\".x = \"TWO\".x" => "x",
);

named!(what_could_be_several_things_is_refused:
    "SELECT t.BB, B.A FROM twins t JOIN twins b ON t.a = b.a" => "Bb, A",
    "SELECT x FROM two" => "error: q: two could be \"TWO\" or \"Two\"",
    "SELECT id FROM games JOIN reviews ON gameid = price" => "id",
    "SELECT ID FROM games JOIN reviews ON gameid = price" => "error: q: ID could be Games.\"Id\" or reviews.\"id\"",
    "SELECT score FROM reviews r JOIN reviews s ON r.id = s.id" => "error: q: score could be r.score or s.score",
);

named!(scopes:
    "WITH Top AS (SELECT Id AS Game FROM games) SELECT game FROM TOP t WHERE T.GAME > 1" => "Game",
    "WITH c(One, Two) AS (SELECT id, price FROM games) SELECT two, ONE FROM C" => "Two, One",
    "WITH games AS (SELECT 1 AS Only) SELECT only FROM Games" => "Only",
    "WITH GAMES AS (SELECT id FROM games) SELECT Id FROM games" => "Id",
    "WITH RECURSIVE R AS (SELECT 1 AS N UNION ALL SELECT n + 1 FROM r WHERE N < 5) SELECT n FROM R" => "N",
    "SELECT id FROM games WHERE EXISTS (SELECT 1 FROM reviews WHERE GAMEID = games.ID)" => "Id",
    "SELECT id FROM games g WHERE price > (SELECT avg(SCORE) FROM reviews r WHERE R.GameID = G.Id)" => "Id",
    "SELECT name FROM games WHERE id IN (SELECT gameid FROM reviews WHERE NAME > 1)" => "Name",
    "SELECT t.Total FROM (SELECT sum(price) AS TOTAL FROM games) AS T" => "TOTAL",
    "SELECT v.B FROM (VALUES (1, 2)) AS V(A, b)" => "b",
    "SELECT id FROM games UNION ALL SELECT score FROM reviews ORDER BY ID" => "Id",
    "SELECT VALUE FROM generate_series(1, 3)" => "value",
    "SELECT s.Foo FROM (SELECT named_struct('Foo', 1) AS S) ORDER BY S.FOO" => "Foo",
    "SELECT g.id FROM games g, LATERAL (SELECT max(score) AS Best FROM reviews WHERE gameid = G.ID) b WHERE BEST > 1" => "Id",
);

named!(schemas:
    "SELECT t.x FROM public.\"Two\" AS t" => "x",
    "SELECT id FROM public.games" => "Id",
    "SELECT public.GAMES.id FROM PUBLIC.games" => "Id",
    "SELECT id FROM \"public\".\"Games\"" => "Id",
    "SELECT id FROM other.games" => "error: q: there is no table \"other.games\"",
);

named!(joins:
    "SELECT * FROM games JOIN reviews USING (ID)" =>
        "error: q: the column to join by is \"Id\" on one side and \"id\" on the other: join ON the two names instead of USING one",
    "SELECT * FROM reviews r JOIN reviews s USING (ID)" => "id, GameId, score, GameId, score",
    "SELECT ID, r.Score FROM reviews r JOIN reviews s USING (id)" => "id, score",
    "SELECT * FROM reviews NATURAL JOIN (SELECT id, 1 AS other FROM reviews) o" => "id, GameId, score, other",
    "SELECT _row, * FROM reviews NATURAL JOIN (SELECT id FROM reviews) o" => "_row, id, GameId, score",
);

named!(the_hidden_column_is_not_in_a_star:
    "SELECT _row, * FROM reviews" => "_row, id, GameId, score",
    "SELECT * FROM reviews ORDER BY _ROW" => "id, GameId, score",
    "SELECT r.*, r._row FROM reviews r" => "id, GameId, score, _row",
    "SELECT * FROM (SELECT _row AS n, * FROM reviews)" => "n, id, GameId, score",
);

named!(repeated_names:
    "SELECT id x, price X, name x FROM games" => "x, X, x",
    "SELECT 1, 1, 1 + 1, (1 + 1)" => "1, 1, 1 + 1, (1 + 1)",
    "SELECT sum(price), SUM(price), sum(Games.price) FROM games" => "sum(price), SUM(price), sum(Games.price)",
    "SELECT *, id FROM games" => "Id, Name, price, Id",
    "SELECT * FROM reviews r JOIN reviews s ON r.id = s.id" => "id, GameId, score, id, GameId, score",
    "SELECT * FROM (SELECT id x, price x FROM games)" => "x, x_1",
    "SELECT x_1 FROM (SELECT id x, price x FROM games)" => "x_1",
    "SELECT * FROM (SELECT * FROM reviews r JOIN reviews s ON r.id = s.id) AS t" =>
        "id, GameId, score, id_1, GameId_1, score_1",
    "WITH c AS (SELECT 1, 1) SELECT * FROM c" => "1, 1_1",
    "SELECT id, id FROM games UNION ALL SELECT 1, 1 ORDER BY 1" => "Id, Id",
);

named!(headers_are_as_they_were_written:
    "SELECT 1 + 1, count(*), sum(price * 2) FROM games" => "1 + 1, count(*), sum(price * 2)",
    "SELECT * FROM (SELECT sum(price), 7 FROM games)" => "sum(price), 7",
    "SELECT \"sum(price)\" FROM (SELECT sum(price) FROM games)" => "sum(price)",
    "SELECT CASE WHEN id > 1 THEN 2 END, id::text FROM games" => "CASE WHEN id > 1 THEN 2 END, id::TEXT",
    "SELECT (SELECT max(id) FROM reviews), id IN (1, 2) FROM games" =>
        "(SELECT max(id) FROM reviews), id IN (1, 2)",
);
