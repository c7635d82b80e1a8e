-- The best and the worst rated Argentine film of 2000 or later, by average rating (ties: lower id).
-- An id may appear twice: its first row counts.
WITH rated AS (
    SELECT movies.id, movies.title, averages.rating
    FROM movies
    JOIN (
        SELECT movie_id, avg(rating) AS rating
        FROM ratings
        GROUP BY movie_id
    ) AS averages ON averages.movie_id = movies.id
    WHERE movies.release_date >= DATE '2000-01-01'
      AND array_has(python_field(movies.production_countries, 'name'), 'Argentina')
      AND movies._row IN (SELECT min(_row) FROM movies GROUP BY id)
)
(SELECT 'best' AS which, id, title, rating FROM rated ORDER BY rating DESC NULLS LAST, id LIMIT 1)
UNION ALL
(SELECT 'worst' AS which, id, title, rating FROM rated ORDER BY rating, id LIMIT 1)
