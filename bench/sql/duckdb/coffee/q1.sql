SELECT transaction_id, final_amount
FROM transactions
WHERE final_amount >= 75
  AND created_at >= TIMESTAMP '2024-01-01 00:00:00'
  AND created_at < TIMESTAMP '2026-01-01 00:00:00'
  AND created_at::TIME BETWEEN TIME '06:00:00' AND TIME '23:00:00'
