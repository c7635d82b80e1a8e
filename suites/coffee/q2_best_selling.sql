-- For each month of 2024-2025, the item sold most (by quantity; ties: lower item_id), by name.
-- The inner sub-select is q2_most_profitable's, letter by letter, so that sales are added up once for
-- both; HAVING keeps both sums in the plan of each.
SELECT to_char(best.month, '%Y-%m') AS month, menu_items.item_name, best.quantity
FROM (
    SELECT
        month, item_id, quantity,
        row_number() OVER (PARTITION BY month ORDER BY quantity DESC, item_id) AS place
    FROM (
        SELECT
            date_trunc('month', created_at) AS month,
            item_id,
            sum(quantity) AS quantity,
            sum(subtotal) AS profit
        FROM transaction_items
        WHERE created_at >= TIMESTAMP '2024-01-01 00:00:00'
          AND created_at < TIMESTAMP '2026-01-01 00:00:00'
        GROUP BY date_trunc('month', created_at), item_id
        HAVING sum(quantity) > 0 AND sum(subtotal) > 0
    ) AS sold
) AS best
JOIN menu_items ON menu_items.item_id = best.item_id
WHERE best.place = 1
