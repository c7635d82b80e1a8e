-- No text here holds a line break: DataFusion may cut the files in ranges and read them in parallel.
CREATE EXTERNAL TABLE transactions (
    transaction_id VARCHAR, store_id BIGINT, payment_method_id VARCHAR, voucher_id VARCHAR,
    user_id DOUBLE, original_amount VARCHAR, discount_applied VARCHAR,
    final_amount DECIMAL(10, 2), created_at TIMESTAMP
)
STORED AS CSV LOCATION '{transactions}'
OPTIONS ('format.has_header' 'true');

CREATE EXTERNAL TABLE transaction_items (
    transaction_id VARCHAR, item_id BIGINT, quantity BIGINT, unit_price VARCHAR,
    subtotal DECIMAL(10, 2), created_at TIMESTAMP
)
STORED AS CSV LOCATION '{transaction_items}'
OPTIONS ('format.has_header' 'true');

CREATE EXTERNAL TABLE users (
    user_id BIGINT, gender VARCHAR, birthdate DATE, registered_at VARCHAR
)
STORED AS CSV LOCATION '{users}'
OPTIONS ('format.has_header' 'true');

CREATE EXTERNAL TABLE stores (
    store_id BIGINT, store_name VARCHAR, street VARCHAR, postal_code VARCHAR, city VARCHAR,
    state VARCHAR, latitude VARCHAR, longitude VARCHAR
)
STORED AS CSV LOCATION '{stores}'
OPTIONS ('format.has_header' 'true');

CREATE EXTERNAL TABLE menu_items (
    item_id BIGINT, item_name VARCHAR, category VARCHAR, price VARCHAR, is_seasonal VARCHAR,
    available_from VARCHAR, available_to VARCHAR
)
STORED AS CSV LOCATION '{menu_items}'
OPTIONS ('format.has_header' 'true');
