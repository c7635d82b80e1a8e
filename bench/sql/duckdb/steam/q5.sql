WITH disliked AS MATERIALIZED (
    SELECT games.app_id, games.name, negative.reviews AS negative_reviews
    FROM games
    JOIN (
        SELECT app_id, count(*) AS reviews
        FROM reviews
        WHERE review_score = -1
        GROUP BY app_id
    ) AS negative USING (app_id)
    WHERE list_contains(string_split(games.genres, ','), 'Action')
)
SELECT app_id, name, negative_reviews
FROM disliked
WHERE negative_reviews >= (SELECT quantile_cont(negative_reviews::DOUBLE, 0.9) FROM disliked)
ORDER BY app_id
