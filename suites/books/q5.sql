-- Titles in category Fiction whose average review sentiment is at or above the 90th percentile
-- (linear interpolation) over the Fiction titles that have reviews.
-- Polarities are summed as decimals: whoever stands exactly on the line must not depend on the order.
WITH fiction AS (
    SELECT books.title, CAST(felt.polarity AS DOUBLE) / felt.reviews AS sentiment
    FROM books
    JOIN (
        SELECT
            title,
            sum(CAST(sentiment(body) AS DECIMAL(16, 12))) AS polarity,
            count(body) AS reviews
        FROM reviews
        GROUP BY title
    ) AS felt ON felt.title = books.title
    WHERE array_has(python_list(books.categories), 'Fiction')
)
SELECT title, round(sentiment, 6) AS sentiment
FROM fiction
WHERE sentiment >= (
    SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY sentiment) FROM fiction
)
