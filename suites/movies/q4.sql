-- The 10 actors in most Argentine films of 2000 or later (ties: by name).
-- Who plays two parts in a film is in one film. An id may appear twice: its first row counts.
SELECT actor, count(*) AS movies
FROM (
    SELECT unnest(array_distinct(python_field(credits."cast", 'name'))) AS actor
    FROM credits
    JOIN movies ON movies.id = credits.id
    WHERE movies.release_date >= DATE '2000-01-01'
      AND array_has(python_field(movies.production_countries, 'name'), 'Argentina')
      AND movies._row IN (SELECT min(_row) FROM movies GROUP BY id)
      AND credits._row IN (SELECT min(_row) FROM credits GROUP BY id)
) AS parts
GROUP BY actor
ORDER BY movies DESC, actor
LIMIT 10
