-- The header of games lies (39 names over 40 fields), so the columns are named here.
-- Nothing depends on the order of rows: DuckDB need not keep it.
SET preserve_insertion_order = false;

CREATE {shared} games AS
SELECT app_id, name, release_date, windows, mac, linux, average_playtime, genres
FROM read_csv('{games}', auto_detect = false, header = false, skip = 1, delim = ',', quote = '"', escape = '"', columns = {
    'app_id': 'BIGINT', 'name': 'VARCHAR', 'release_date': 'VARCHAR', 'owners': 'VARCHAR',
    'peak_ccu': 'VARCHAR', 'required_age': 'VARCHAR', 'price': 'VARCHAR', 'discount': 'VARCHAR',
    'dlc_count': 'VARCHAR', 'about': 'VARCHAR', 'languages': 'VARCHAR', 'audio_languages': 'VARCHAR',
    'reviews': 'VARCHAR', 'header_image': 'VARCHAR', 'website': 'VARCHAR', 'support_url': 'VARCHAR',
    'support_email': 'VARCHAR', 'windows': 'BOOLEAN', 'mac': 'BOOLEAN', 'linux': 'BOOLEAN',
    'metacritic_score': 'VARCHAR', 'metacritic_url': 'VARCHAR', 'user_score': 'VARCHAR',
    'positive': 'VARCHAR', 'negative': 'VARCHAR', 'score_rank': 'VARCHAR', 'achievements': 'VARCHAR',
    'recommendations': 'VARCHAR', 'notes': 'VARCHAR', 'average_playtime': 'BIGINT',
    'average_playtime_two_weeks': 'VARCHAR', 'median_playtime': 'VARCHAR',
    'median_playtime_two_weeks': 'VARCHAR', 'developers': 'VARCHAR', 'publishers': 'VARCHAR',
    'categories': 'VARCHAR', 'genres': 'VARCHAR', 'tags': 'VARCHAR', 'screenshots': 'VARCHAR',
    'movies': 'VARCHAR'
});

CREATE {shared} reviews AS
SELECT app_id, review_score
FROM read_csv('{reviews}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'app_id': 'BIGINT', 'app_name': 'VARCHAR', 'review_text': 'VARCHAR', 'review_score': 'TINYINT',
    'review_votes': 'VARCHAR'
});
