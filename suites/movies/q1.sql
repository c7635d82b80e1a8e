-- Title and genres of the films of 2000-2009 produced by Argentina and Spain (both, perhaps others).
-- An id may appear twice: its first row counts.
SELECT id, title, array_to_string(python_field(genres, 'name'), '|') AS genres
FROM movies
WHERE release_date BETWEEN DATE '2000-01-01' AND DATE '2009-12-31'
  AND array_has_all(python_field(production_countries, 'name'), make_array('Argentina', 'Spain'))
  AND _row IN (SELECT min(_row) FROM movies GROUP BY id)
