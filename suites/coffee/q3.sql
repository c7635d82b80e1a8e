-- Total payment value per half-year and store, 2024-2025, 06:00:00-23:00:00 (both included), by store
-- name.
SELECT concat(paid.year, '-H', paid.half) AS half, stores.store_name, paid.tpv
FROM (
    SELECT
        store_id,
        date_part('year', created_at) AS year,
        CASE WHEN date_part('month', created_at) <= 6 THEN 1 ELSE 2 END AS half,
        sum(final_amount) AS tpv
    FROM transactions
    WHERE created_at >= TIMESTAMP '2024-01-01 00:00:00'
      AND created_at < TIMESTAMP '2026-01-01 00:00:00'
      AND CAST(created_at AS TIME) BETWEEN TIME '06:00:00' AND TIME '23:00:00'
    GROUP BY store_id, year, half
) AS paid
JOIN stores ON stores.store_id = paid.store_id
ORDER BY half, store_name
