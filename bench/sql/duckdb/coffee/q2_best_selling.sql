SELECT strftime(best.month, '%Y-%m') AS month, menu_items.item_name, best.quantity
FROM (
    SELECT date_trunc('month', created_at) AS month, item_id, sum(quantity) AS quantity
    FROM transaction_items
    WHERE created_at >= TIMESTAMP '2024-01-01 00:00:00'
      AND created_at < TIMESTAMP '2026-01-01 00:00:00'
    GROUP BY month, item_id
    HAVING sum(quantity) > 0
    QUALIFY row_number() OVER (PARTITION BY month ORDER BY sum(quantity) DESC, item_id) = 1
) AS best
JOIN menu_items USING (item_id)
