-- Title and authors of the books of 1990-1999 with at least $min_reviews reviews.
-- The sub-select is q4's, letter by letter, so that the reviews are counted and averaged once for both;
-- IS NOT NULL keeps the average in the plan of the one that does not show it.
SELECT title, array_to_string(python_list(authors), '|') AS authors, reviews
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
