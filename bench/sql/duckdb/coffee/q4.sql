SELECT stores.store_name, best.user_id, users.birthdate, best.purchases
FROM (
    SELECT store_id, user_id::BIGINT AS user_id, count(*) AS purchases
    FROM transactions
    WHERE user_id IS NOT NULL
      AND created_at >= TIMESTAMP '2024-01-01 00:00:00'
      AND created_at < TIMESTAMP '2026-01-01 00:00:00'
    GROUP BY store_id, user_id
    QUALIFY row_number() OVER (PARTITION BY store_id ORDER BY count(*) DESC, user_id) <= 3
) AS best
JOIN stores USING (store_id)
JOIN users ON users.user_id = best.user_id
