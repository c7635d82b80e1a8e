-- Action games whose number of negative reviews is at or above the 90th percentile (linear
-- interpolation) over the Action games that have any; ordered by app_id.
WITH disliked AS (
    SELECT games.app_id, games.name, negative.reviews AS negative_reviews
    FROM games
    JOIN (
        SELECT app_id, count(*) AS reviews
        FROM reviews
        WHERE review_score = -1
        GROUP BY app_id
    ) AS negative ON negative.app_id = games.app_id
    WHERE array_has(string_to_array(games.genres, ','), 'Action')
)
SELECT app_id, name, negative_reviews
FROM disliked
WHERE negative_reviews >= (
    SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY CAST(negative_reviews AS DOUBLE))
    FROM disliked
)
ORDER BY app_id
