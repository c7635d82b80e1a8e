SELECT id, title, array_to_string(names(genres), '|') AS genres
FROM movies
WHERE release_date BETWEEN DATE '2000-01-01' AND DATE '2009-12-31'
  AND contains(production_countries, '''name'': ''Argentina''')
  AND contains(production_countries, '''name'': ''Spain''')
