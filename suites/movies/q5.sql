-- The average revenue/budget of films whose overview is positive, against those whose overview is
-- negative; English language, US production, 2000 or later, budget and revenue not zero.
-- An id may appear twice: its first row counts.
SELECT sentiment, avg(rate) AS rate, count(*) AS movies
FROM (
    SELECT
        _row,
        sentiment_label(overview) AS sentiment,
        TRY_CAST(revenue AS DOUBLE) / TRY_CAST(budget AS DOUBLE) AS rate
    FROM movies
    WHERE original_language = 'en'
      AND release_date >= DATE '2000-01-01'
      AND TRY_CAST(budget AS DOUBLE) <> 0
      AND TRY_CAST(revenue AS DOUBLE) <> 0
      AND array_has(python_field(production_countries, 'name'), 'United States of America')
) AS films
WHERE sentiment IN ('POSITIVE', 'NEGATIVE')
  AND _row IN (SELECT min(_row) FROM movies GROUP BY id)
GROUP BY sentiment
