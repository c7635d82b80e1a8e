-- Rows that a raw newline broke in two: truncated_rows fills them up with NULLs, and TRY_CAST drops the
-- second half, whose id is a date (DataFusion's reader would fail the query).
-- `_row`, by which the suite's SQL tells the first row of an id, is made by row_number() directly over the
-- file: one that may hold line breaks in its texts is one partition, read in order. A filter in between
-- would let DataFusion deal the rows out to several.
CREATE EXTERNAL TABLE movies_file (
    adult VARCHAR, belongs_to_collection VARCHAR, budget VARCHAR, genres VARCHAR,
    homepage VARCHAR, id VARCHAR, imdb_id VARCHAR, original_language VARCHAR,
    original_title VARCHAR, overview VARCHAR, popularity VARCHAR, poster_path VARCHAR,
    production_companies VARCHAR, production_countries VARCHAR, release_date VARCHAR,
    revenue VARCHAR, runtime VARCHAR, spoken_languages VARCHAR, status VARCHAR, tagline VARCHAR,
    title VARCHAR, video VARCHAR, vote_average VARCHAR, vote_count VARCHAR
)
STORED AS CSV LOCATION '{movies}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true', 'format.truncated_rows' 'true');

CREATE VIEW movies AS
SELECT
    TRY_CAST(id AS BIGINT) AS id, title, genres, production_countries,
    TRY_CAST(release_date AS DATE) AS release_date, budget, _row
FROM (SELECT *, row_number() OVER () AS _row FROM movies_file)
WHERE TRY_CAST(id AS BIGINT) IS NOT NULL;

-- Numbers only: DataFusion may cut this file in ranges and read them in parallel.
CREATE EXTERNAL TABLE ratings (
    user_id BIGINT, movie_id BIGINT, rating DOUBLE, timestamp BIGINT
)
STORED AS CSV LOCATION '{ratings}'
OPTIONS ('format.has_header' 'true');

CREATE EXTERNAL TABLE credits_file (
    "cast" VARCHAR, crew VARCHAR, id BIGINT
)
STORED AS CSV LOCATION '{credits}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true');

CREATE VIEW credits AS
SELECT id, "cast", row_number() OVER () AS _row
FROM credits_file;
