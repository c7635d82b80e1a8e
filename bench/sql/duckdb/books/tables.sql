-- Nothing depends on the order of rows: DuckDB need not keep it.
-- The row that was cut short does not have the declared fields: ignored, as Caudal does.
SET preserve_insertion_order = false;

-- Items of a Python list, taken by regular expression: 'X' or "X".
CREATE MACRO items(literal) AS list_transform(
    regexp_extract_all(literal, '''(?:[^''\\]|\\.)*''|"[^"]*"'), lambda item: item[2:-2]
);

CREATE {shared} books AS
SELECT title, authors, publisher, published, categories
FROM read_csv('{books}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', ignore_errors = true, columns = {
    'title': 'VARCHAR', 'description': 'VARCHAR', 'authors': 'VARCHAR', 'image': 'VARCHAR',
    'preview_link': 'VARCHAR', 'publisher': 'VARCHAR', 'published': 'VARCHAR',
    'info_link': 'VARCHAR', 'categories': 'VARCHAR', 'ratings_count': 'VARCHAR'
});

CREATE {shared} reviews AS
SELECT title, score
FROM read_csv('{reviews}', auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {
    'id': 'VARCHAR', 'title': 'VARCHAR', 'price': 'VARCHAR', 'user_id': 'VARCHAR',
    'profile_name': 'VARCHAR', 'helpfulness': 'VARCHAR', 'score': 'DOUBLE', 'time': 'VARCHAR',
    'summary': 'VARCHAR', 'text': 'VARCHAR'
});
