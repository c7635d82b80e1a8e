-- The 10 best rated (average score) of the books of 1990-1999 with at least $min_reviews reviews
-- (ties: by title). The sub-select is q3's, letter by letter: see there.
SELECT title, rating
FROM (
    SELECT books.title, books.authors, reviewed.reviews, reviewed.rating
    FROM books
    JOIN (
        SELECT title, count(*) AS reviews, avg(score) AS rating
        FROM reviews
        GROUP BY title
        HAVING count(*) >= $min_reviews AND avg(score) IS NOT NULL
    ) AS reviewed ON reviewed.title = books.title
    WHERE TRY_CAST(substr(books.published, 1, 4) AS INT) BETWEEN 1990 AND 1999
) AS nineties
ORDER BY rating DESC, title
LIMIT 10
