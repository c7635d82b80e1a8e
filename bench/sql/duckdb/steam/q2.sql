SELECT app_id, name, average_playtime
FROM games
WHERE list_contains(string_split(genres, ','), 'Indie')
  AND right(release_date, 4) BETWEEN '2010' AND '2019'
ORDER BY average_playtime DESC NULLS LAST, app_id
LIMIT 10
