-- The row that was cut short is filled up with NULLs: it has no authors, date or category.
-- Texts hold line breaks, so DataFusion must be told, and then reads each file on one thread.
CREATE EXTERNAL TABLE books (
    title VARCHAR, description VARCHAR, authors VARCHAR, image VARCHAR, preview_link VARCHAR,
    publisher VARCHAR, published VARCHAR, info_link VARCHAR, categories VARCHAR,
    ratings_count VARCHAR
)
STORED AS CSV LOCATION '{books}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true', 'format.truncated_rows' 'true');

CREATE EXTERNAL TABLE reviews (
    id VARCHAR, title VARCHAR, price VARCHAR, user_id VARCHAR, profile_name VARCHAR,
    helpfulness VARCHAR, score DOUBLE, time VARCHAR, summary VARCHAR, body VARCHAR
)
STORED AS CSV LOCATION '{reviews}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true');
