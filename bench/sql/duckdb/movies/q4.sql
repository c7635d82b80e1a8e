WITH casts AS (
    SELECT credits.id, arg_min(credits."cast", credits.position) AS "cast"
    FROM credits
    JOIN movies ON movies.id = credits.id
    WHERE movies.release_date >= DATE '2000-01-01'
      AND contains(movies.production_countries, '''name'': ''Argentina''')
    GROUP BY credits.id
)
SELECT actor, count(*) AS movies
FROM (SELECT unnest(list_distinct(names("cast"))) AS actor FROM casts)
GROUP BY actor
ORDER BY movies DESC, actor
LIMIT 10
