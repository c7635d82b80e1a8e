SELECT games.app_id, games.name, positive.reviews AS positive_reviews
FROM games
JOIN (
    SELECT app_id, count(*) AS reviews
    FROM reviews
    WHERE review_score = 1
    GROUP BY app_id
) AS positive USING (app_id)
WHERE list_contains(string_split(games.genres, ','), 'Indie')
ORDER BY positive_reviews DESC, app_id
LIMIT 5
