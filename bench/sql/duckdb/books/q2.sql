SELECT author
FROM (
    SELECT unnest(items(authors)) AS author, TRY_CAST(substr(published, 1, 4) AS INT) // 10 AS decade
    FROM books
)
GROUP BY author
HAVING count(DISTINCT decade) >= $min_decades
