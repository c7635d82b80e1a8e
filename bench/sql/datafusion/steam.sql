-- The header of games lies (39 names over 40 fields): truncated_rows lets DataFusion accept it.
-- Texts hold line breaks, so DataFusion must be told, and then reads each file on one thread.
CREATE EXTERNAL TABLE games (
    app_id BIGINT, name VARCHAR, release_date VARCHAR, owners VARCHAR, peak_ccu VARCHAR,
    required_age VARCHAR, price VARCHAR, discount VARCHAR, dlc_count VARCHAR, about VARCHAR,
    languages VARCHAR, audio_languages VARCHAR, reviews VARCHAR, header_image VARCHAR,
    website VARCHAR, support_url VARCHAR, support_email VARCHAR, windows BOOLEAN, mac BOOLEAN,
    linux BOOLEAN, metacritic_score VARCHAR, metacritic_url VARCHAR, user_score VARCHAR,
    positive VARCHAR, negative VARCHAR, score_rank VARCHAR, achievements VARCHAR,
    recommendations VARCHAR, notes VARCHAR, average_playtime BIGINT,
    average_playtime_two_weeks VARCHAR, median_playtime VARCHAR,
    median_playtime_two_weeks VARCHAR, developers VARCHAR, publishers VARCHAR, categories VARCHAR,
    genres VARCHAR, tags VARCHAR, screenshots VARCHAR, movies VARCHAR
)
STORED AS CSV LOCATION '{games}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true', 'format.truncated_rows' 'true');

CREATE EXTERNAL TABLE reviews (
    app_id BIGINT, app_name VARCHAR, review_text VARCHAR, review_score BIGINT,
    review_votes VARCHAR
)
STORED AS CSV LOCATION '{reviews}'
OPTIONS ('format.has_header' 'true', 'format.newlines_in_values' 'true');
