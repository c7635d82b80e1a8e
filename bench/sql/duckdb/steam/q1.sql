SELECT
    count(*) FILTER (WHERE windows) AS windows,
    count(*) FILTER (WHERE linux) AS linux,
    count(*) FILTER (WHERE mac) AS mac,
    count(*) AS total
FROM games
