-- The 5 countries that spent most (sum of budget) on films produced by no other country.
-- An id may appear twice: its first row counts.
SELECT countries[1] AS country, CAST(sum(budget) AS BIGINT) AS budget
FROM (
    SELECT
        python_field(production_countries, 'name') AS countries,
        TRY_CAST(budget AS DECIMAL(18, 2)) AS budget
    FROM movies
    WHERE _row IN (SELECT min(_row) FROM movies GROUP BY id)
) AS films
WHERE array_length(countries) = 1
GROUP BY countries[1]
ORDER BY budget DESC NULLS LAST, country
LIMIT 5
