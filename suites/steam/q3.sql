-- The 5 Indie games with the most positive reviews (ties: lower app_id).
SELECT games.app_id, games.name, positive.reviews AS positive_reviews
FROM games
JOIN (
    SELECT app_id, count(*) AS reviews
    FROM reviews
    WHERE review_score = 1
    GROUP BY app_id
) AS positive ON positive.app_id = games.app_id
WHERE array_has(string_to_array(games.genres, ','), 'Indie')
ORDER BY positive_reviews DESC, app_id
LIMIT 5
