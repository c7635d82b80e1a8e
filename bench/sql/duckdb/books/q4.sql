SELECT books.title, reviewed.rating
FROM books
JOIN (
    SELECT title, avg(score) AS rating
    FROM reviews
    GROUP BY title
    HAVING count(*) >= $min_reviews
) AS reviewed USING (title)
WHERE TRY_CAST(substr(books.published, 1, 4) AS INT) BETWEEN 1990 AND 1999
ORDER BY rating DESC, title
LIMIT 10
