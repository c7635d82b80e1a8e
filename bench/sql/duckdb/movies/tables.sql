-- Of an id that appears twice the first row counts, so the order of rows is kept.
-- Rows that a raw newline broke in two do not have the declared fields: ignored, as Caudal does.
-- Names in the Python literals are taken by regular expression: 'name': 'X' or 'name': "X".
CREATE MACRO names(literal) AS list_transform(
    regexp_extract_all(literal, '''name'': (''[^'']*''|"[^"]*")', 1), lambda name: name[2:-2]
);

CREATE {shared} movies AS
SELECT id, title, genres, production_countries, release_date, budget
FROM (
    SELECT *, row_number() OVER (PARTITION BY id ORDER BY position) AS occurrence
    FROM (
        SELECT
            id, title, genres, production_countries, release_date, budget,
            row_number() OVER () AS position
        FROM read_csv('{movies}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', ignore_errors = true, columns = {
            'adult': 'VARCHAR', 'belongs_to_collection': 'VARCHAR', 'budget': 'VARCHAR',
            'genres': 'VARCHAR', 'homepage': 'VARCHAR', 'id': 'BIGINT', 'imdb_id': 'VARCHAR',
            'original_language': 'VARCHAR', 'original_title': 'VARCHAR', 'overview': 'VARCHAR',
            'popularity': 'VARCHAR', 'poster_path': 'VARCHAR', 'production_companies': 'VARCHAR',
            'production_countries': 'VARCHAR', 'release_date': 'DATE', 'revenue': 'VARCHAR',
            'runtime': 'VARCHAR', 'spoken_languages': 'VARCHAR', 'status': 'VARCHAR',
            'tagline': 'VARCHAR', 'title': 'VARCHAR', 'video': 'VARCHAR', 'vote_average': 'VARCHAR',
            'vote_count': 'VARCHAR'
        })
    )
)
WHERE occurrence = 1;

-- Read by one query each: loading them would only cost.
CREATE VIEW ratings AS
SELECT movie_id, rating
FROM read_csv('{ratings}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'user_id': 'VARCHAR', 'movie_id': 'BIGINT', 'rating': 'DOUBLE', 'timestamp': 'VARCHAR'
});

CREATE VIEW credits AS
SELECT id, "cast", row_number() OVER () AS position
FROM read_csv('{credits}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'cast': 'VARCHAR', 'crew': 'VARCHAR', 'id': 'BIGINT'
});
