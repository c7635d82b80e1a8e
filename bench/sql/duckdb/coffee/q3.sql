SELECT paid.year || '-H' || paid.half AS half, stores.store_name, paid.tpv
FROM (
    SELECT
        store_id,
        year(created_at) AS year,
        CASE WHEN month(created_at) <= 6 THEN 1 ELSE 2 END AS half,
        sum(final_amount) AS tpv
    FROM transactions
    WHERE created_at >= TIMESTAMP '2024-01-01 00:00:00'
      AND created_at < TIMESTAMP '2026-01-01 00:00:00'
      AND created_at::TIME BETWEEN TIME '06:00:00' AND TIME '23:00:00'
    GROUP BY ALL
) AS paid
JOIN stores USING (store_id)
ORDER BY half, store_name
