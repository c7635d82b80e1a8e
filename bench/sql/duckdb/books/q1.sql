SELECT title, array_to_string(items(authors), '|') AS authors, publisher
FROM books
WHERE title ILIKE '%distributed%'
  AND TRY_CAST(substr(published, 1, 4) AS INT) BETWEEN 2000 AND 2023
  AND list_contains(items(categories), 'Computers')
