-- Authors with titles in at least $min_decades different decades.
-- The number of decades only grows, so an author can be named as soon as it is reached.
SELECT author
FROM (
    SELECT
        unnest(python_list(authors)) AS author,
        TRY_CAST(substr(published, 1, 4) AS INT) / 10 AS decade
    FROM books
) AS titles
GROUP BY author
HAVING count(DISTINCT decade) >= $min_decades
