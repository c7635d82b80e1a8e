SELECT books.title, array_to_string(items(books.authors), '|') AS authors, reviewed.reviews
FROM books
JOIN (
    SELECT title, count(*) AS reviews
    FROM reviews
    GROUP BY title
    HAVING count(*) >= $min_reviews
) AS reviewed USING (title)
WHERE TRY_CAST(substr(books.published, 1, 4) AS INT) BETWEEN 1990 AND 1999
