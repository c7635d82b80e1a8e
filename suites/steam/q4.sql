-- Action games with more than $min_reviews negative reviews in English.
-- A count only grows, so a game can be named as soon as it crosses the line.
-- CASE, because AND may look at both sides: only the language of negative reviews is worth detecting.
SELECT games.app_id, games.name
FROM games
JOIN (
    SELECT app_id
    FROM reviews
    WHERE CASE WHEN review_score = -1 THEN language(review_text) END = 'en'
    GROUP BY app_id
    HAVING count(*) > $min_reviews
) AS disliked ON disliked.app_id = games.app_id
WHERE array_has(string_to_array(games.genres, ','), 'Action')
