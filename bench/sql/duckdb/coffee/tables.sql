-- Nothing depends on the order of rows: DuckDB need not keep it.
SET preserve_insertion_order = false;

CREATE {shared} transactions AS
SELECT transaction_id, store_id, user_id, final_amount, created_at
FROM read_csv('{transactions}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'transaction_id': 'VARCHAR', 'store_id': 'BIGINT', 'payment_method_id': 'VARCHAR',
    'voucher_id': 'VARCHAR', 'user_id': 'DOUBLE', 'original_amount': 'VARCHAR',
    'discount_applied': 'VARCHAR', 'final_amount': 'DECIMAL(10, 2)', 'created_at': 'TIMESTAMP'
});

CREATE {shared} transaction_items AS
SELECT item_id, quantity, subtotal, created_at
FROM read_csv('{transaction_items}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'transaction_id': 'VARCHAR', 'item_id': 'BIGINT', 'quantity': 'BIGINT',
    'unit_price': 'VARCHAR', 'subtotal': 'DECIMAL(10, 2)', 'created_at': 'TIMESTAMP'
});

CREATE {shared} stores AS
SELECT store_id, store_name
FROM read_csv('{stores}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'store_id': 'BIGINT', 'store_name': 'VARCHAR', 'street': 'VARCHAR', 'postal_code': 'VARCHAR',
    'city': 'VARCHAR', 'state': 'VARCHAR', 'latitude': 'VARCHAR', 'longitude': 'VARCHAR'
});

CREATE {shared} menu_items AS
SELECT item_id, item_name
FROM read_csv('{menu_items}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'item_id': 'BIGINT', 'item_name': 'VARCHAR', 'category': 'VARCHAR', 'price': 'VARCHAR',
    'is_seasonal': 'VARCHAR', 'available_from': 'VARCHAR', 'available_to': 'VARCHAR'
});

-- Read by one query: loading it would only cost.
CREATE VIEW users AS
SELECT user_id, birthdate
FROM read_csv('{users}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'user_id': 'BIGINT', 'gender': 'VARCHAR', 'birthdate': 'DATE', 'registered_at': 'VARCHAR'
});
