SELECT countries[1] AS country, sum(budget)::BIGINT AS budget
FROM (
    SELECT names(production_countries) AS countries, TRY_CAST(budget AS DECIMAL(18, 2)) AS budget
    FROM movies
)
WHERE len(countries) = 1
GROUP BY country
ORDER BY budget DESC NULLS LAST, country
LIMIT 5
