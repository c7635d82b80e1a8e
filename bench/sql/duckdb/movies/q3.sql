WITH rated AS MATERIALIZED (
    SELECT movies.id, movies.title, averages.rating
    FROM movies
    JOIN (
        SELECT movie_id, avg(rating) AS rating
        FROM ratings
        GROUP BY movie_id
    ) AS averages ON averages.movie_id = movies.id
    WHERE movies.release_date >= DATE '2000-01-01'
      AND contains(movies.production_countries, '''name'': ''Argentina''')
)
(SELECT 'best' AS which, id, title, rating FROM rated ORDER BY rating DESC NULLS LAST, id LIMIT 1)
UNION ALL
(SELECT 'worst' AS which, id, title, rating FROM rated ORDER BY rating, id LIMIT 1)
