-- The 10 Indie games released in 2010-2019 with the highest average playtime (ties: lower app_id).
-- A release date ends in its year, whether or not it says the day: "Oct 21, 2008", "Jan 2020".
SELECT app_id, name, average_playtime
FROM games
WHERE array_has(string_to_array(genres, ','), 'Indie')
  AND right(release_date, 4) BETWEEN '2010' AND '2019'
ORDER BY average_playtime DESC NULLS LAST, app_id
LIMIT 10
