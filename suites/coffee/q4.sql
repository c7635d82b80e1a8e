-- For each store, the birthdates of the 3 customers with most purchases in 2024-2025 (ties: lower
-- user_id).
SELECT stores.store_name, best.user_id, users.birthdate, best.purchases
FROM (
    SELECT
        store_id, user_id, purchases,
        row_number() OVER (PARTITION BY store_id ORDER BY purchases DESC, user_id) AS place
    FROM (
        SELECT store_id, CAST(user_id AS BIGINT) AS user_id, count(*) AS purchases
        FROM transactions
        WHERE user_id IS NOT NULL
          AND created_at >= TIMESTAMP '2024-01-01 00:00:00'
          AND created_at < TIMESTAMP '2026-01-01 00:00:00'
        GROUP BY store_id, CAST(user_id AS BIGINT)
    ) AS bought
) AS best
JOIN stores ON stores.store_id = best.store_id
JOIN users ON users.user_id = best.user_id
WHERE best.place <= 3
