"""JSON: an object a line, one after the other, in arrays; nested, broken, by several writers."""

import gzip
import json

import duckdb
import polars as pl
import pyarrow as pa
from kind import Kind
from made import FLAT, NESTED, by, content

FLAT_WITHOUT_DAY = FLAT.drop_columns(["day"])
ROWS = NESTED.append_column("price", FLAT["price"]).append_column("name", FLAT["name"]).append_column("ok", FLAT["ok"]).to_pylist()
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


def duckdb_with(options=""):
    """Maps, dates and UUIDs are guessed by DuckDB only; texts are texts here."""
    return f"read_json('{{}}', sample_size=-1, map_inference_threshold=-1, dateformat='none', timestampformat='none'{options})"


DUCKDB = duckdb_with()


def python(path):
    """All at once, strictly; types as pyarrow finds them."""
    with open(path, encoding="utf-8-sig") as file:
        return of_rows(json.load(file))


def python_lines(path):
    with open(path, encoding="utf-8-sig") as file:
        return of_rows([json.loads(line) for line in file if line.strip()])


def of_rows(rows):
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def duckdb_writes(path, options=""):
    with duckdb.connect() as connection:
        connection.register("flat", FLAT_WITHOUT_DAY)
        connection.execute(f"COPY flat TO '{path}' (FORMAT json{options})")


KINDS = [
    # Arrangements.
    Kind("json, lines", content(LINES), DUCKDB),
    Kind("json, lines with CRLF", content(LINES.replace("\n", "\r\n")), DUCKDB),
    Kind("json, lines with a mark", content(b"\xef\xbb\xbf", LINES), python_lines),
    Kind("json, empty lines among lines", content(LINES.replace("\n", "\n\n  \n")), python_lines),
    Kind("json, no end of the last line", content(LINES.rstrip("\n")), DUCKDB),
    Kind("json, objects over several lines", content("\n".join(json.dumps(row, indent=2) for row in ROWS)), DUCKDB),
    Kind("json, objects side by side", content("".join(json.dumps(row) for row in ROWS)), DUCKDB),
    Kind("json, an array", content(json.dumps(ROWS)), python),
    Kind("json, an array over many lines", content(json.dumps(ROWS, indent=4)), python),
    Kind("json, an array with a mark", content(b"\xef\xbb\xbf", json.dumps(ROWS)), python),
    Kind("json, one object", content('{"a": 1, "b": "x"}'), DUCKDB),
    Kind("json, an empty array", content("[]"), DUCKDB, code="CDL-1046", reason="a table without columns is none"),
    # Values.
    Kind("json, escapes", content('{"s": "a\\n\\t\\"\\\\\\/\\u00f1\\ud83e\\udd80\\u0000"}\n{"s": "ñ🦀"}\n'), python_lines),
    Kind("json, half a surrogate pair", content('{"s": "x"}\n{"s": "\\ud83e"}\n'), DUCKDB, code="CDL-1022"),
    Kind("json, integers and floats", content('{"n": 1}\n{"n": 2.5}\n{"n": 1e3}\n'), DUCKDB),
    Kind("json, the extremes of 64 bits", content('{"n": 9223372036854775807}\n{"n": -9223372036854775808}\n'), DUCKDB),
    Kind("json, integers beyond 64 bits", content('{"n": 18446744073709551615}\n{"n": 1}\n'), DUCKDB),
    Kind("json, floats", content('{"f": -0.0}\n{"f": 1.7976931348623157e308}\n{"f": 5e-324}\n{"f": 0.1}\n'), DUCKDB),
    Kind("json, booleans and null", content('{"b": true}\n{"b": null}\n{}\n{"b": false}\n'), DUCKDB),
    Kind("json, names that are missing or come later", content('{"a": 1}\n{"b": "x"}\n{"c": [1], "a": 2}\n'), DUCKDB),
    Kind("json, names of any script", content('{"año": 1, "名前": "x", "a b": 2, "a.b": 3, "": 4}\n'), python_lines),
    Kind("json, names in other orders", content('{"a": 1, "b": 2}\n{"b": 3, "a": 4}\n'), DUCKDB),
    Kind("json, structs with other names", content('{"o": {"a": 1}}\n{"o": {"b": "x"}}\n{"o": null}\n{"o": {}}\n'), DUCKDB),
    Kind("json, lists of structs of lists", content('{"l": [{"a": [[1], []]}, null]}\n{"l": []}\n{"l": [{"a": null}]}\n'), DUCKDB),
    Kind("json, numbers and texts", content('{"v": 1}\n{"v": "x"}\n'), lambda path: pa.table({"v": ["1", "x"]})),
    Kind("json, objects without names", content('{"a": 1, "o": {}}\n{"a": 2, "o": {}}\n'), lambda path: pa.table({"a": [1, 2], "o": ["{}", "{}"]})),
    Kind("json, times stay text", content('{"d": "2024-02-29", "t": "2024-02-29T23:59:59Z"}\n'), python_lines),
    Kind("json, types that are said", content('{"id": "7"}\n{"id": "8"}\n{"id": null}\n'), python_lines, '{types={id="text"}}'),
    Kind("json, a text of megabytes", content('{"s": "', "ñ" * 2_000_000, '"}\n{"s": "x"}\n'), python_lines),
    Kind("json, 1,500 names", content(*(json.dumps({f"c{n}": n * row for n in range(1500)}) + "\n" for row in range(5))), python_lines),
    Kind("json, 60 levels", content('{"a": ', '{"b": ' * 58, "1", "}" * 59, "\n"), python_lines),
    Kind("json, 100,000 lines", content(*(f'{{"id": {n}, "text": "text {n}", "n": [{n}, null]}}\n' for n in range(100_000))), python_lines),
    # Mistakes.
    Kind("json, wrong lines among right ones", content('{"a": 1}\n' * 30, '{"a": \n', "[]\n", '{"a": 2}\n'), lambda path: pa.table({"a": [1] * 30 + [2]})),
    Kind("json, most lines wrong", content('{"a": 1}\n{"a": \n{"a": 2\n'), duckdb_with(", format='newline_delimited'"), code="CDL-1022"),
    Kind("json, an array that is cut off", content(json.dumps(ROWS)[:-200]), python, code="CDL-1043"),
    Kind("json, more after an array", content(json.dumps(ROWS), "[1]"), python, code="CDL-1043"),
    Kind("json, a comma too many", content('[{"a": 1}, {"a": 2},]'), python, code="CDL-1043"),
    Kind("json, a comma too few", content('[{"a": 1} {"a": 2}]'), python, code="CDL-1043"),
    Kind("json, single quotes, which are CSV", content("{'a': 1}\n{'a': 2}\n"), "read_csv('{}', header=true, delim=',')"),
    Kind("json, a name twice", content('{"a": 1, "a": 2}\n'), duckdb_with(), code="CDL-1022"),
    Kind("json, NaN as Python writes it", content('{"f": NaN}\n{"f": 1.5}\n'), duckdb_with(), code="CDL-1022", reason="DuckDB takes it for JSON"),
    Kind("json, bytes that are not UTF-8", content(b'{"s": "x"}\n{"s": "\xff"}\n'), DUCKDB, code="CDL-1022"),
    # Writers.
    Kind("json by pandas, lines", by(lambda path: FLAT_WITHOUT_DAY.to_pandas().to_json(path, orient="records", lines=True)), DUCKDB),
    Kind("json by pandas, an array", by(lambda path: FLAT_WITHOUT_DAY.to_pandas().to_json(path, orient="records")), DUCKDB),
    Kind("json by polars", by(lambda path: pl.from_arrow(NESTED).write_ndjson(path)), DUCKDB),
    Kind("json by DuckDB", by(duckdb_writes), DUCKDB),
    Kind("json by DuckDB, an array", by(lambda path: duckdb_writes(path, ", ARRAY true")), DUCKDB),
    Kind("json, lines in gzip", content(gzip.compress(LINES.encode())), duckdb_with(", compression='gzip'")),
]  # fmt: skip
