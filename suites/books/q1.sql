-- Title, authors and publisher of the books in category Computers, 2000-2023, with 'distributed' in
-- the title (any case).
SELECT title, array_to_string(python_list(authors), '|') AS authors, publisher
FROM books
WHERE title ILIKE '%distributed%'
  AND TRY_CAST(substr(published, 1, 4) AS INT) BETWEEN 2000 AND 2023
  AND array_has(python_list(categories), 'Computers')
