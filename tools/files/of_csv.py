"""CSV of every dialect, by whoever writes it."""

import csv
import io

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
from kind import Kind
from made import DECIMALS, FLAT, by, content

ROWS = "id,name,price\n1,pen,0.5\n2,ink,1.25\n3,,\n"
# DuckDB's reader, told nothing that it would not find out, and nothing that only it would guess.
DUCKDB = "read_csv('{}', header=true, allow_quoted_nulls=true)"


def duckdb_with(options):
    return f"read_csv('{{}}', {options})"


def pandas(**options):
    """Pandas takes empty fields for NULL, and nothing else unless it is told."""
    options = {"keep_default_na": False, "na_values": [""]} | options
    return lambda path: pa.Table.from_pandas(pd.read_csv(path, **options), preserve_index=False)


def written_by_csv(rows, encoding="utf-8", **options):
    out = io.StringIO(newline="")
    csv.writer(out, **options).writerows(rows)
    return content(out.getvalue().encode(encoding))


def postgres(path):
    """As COPY reads its own text format; but an empty text is NULL here."""
    text = lambda value: None if value in ("\\N", "") else value.replace("\\\\", "\\")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return pa.table({"c1": [int(row[0]) for row in rows]} | {f"c{at + 1}": [text(row[at]) for row in rows] for at in (1, 2)})


def of(delimiter, text=ROWS):
    return text.replace(",", delimiter)


def duckdb_writes(path, options):
    with duckdb.connect() as connection:
        connection.register("flat", FLAT)
        connection.execute(f"COPY flat TO '{path}' (FORMAT csv, {options})")


def read_decoded(path, encoding):
    with open(path, encoding=encoding, newline="") as file:
        header, *rows = csv.reader(file)
    return pa.table({header[0]: [int(row[0]) for row in rows], header[1]: [row[1] or None for row in rows]})


TEXT_ROWS = [["id", "text"]] + [
    [n, text]
    for n, text in enumerate([
        "plain", 'a "quote"', '"', '""', "a,b", "a;b", "a\tb", "a|b", "two\nlines", "two\r\nlines", "\n", " spaces ", "ñandú", "日本語",
        "🦀", "back\\slash", "\\", "it's", "#no comment", "0", "NULL", "x" * 5000, "\"\n\"", ",", ",,\n,,",
    ])
]  # fmt: skip
WIDE = ",".join(f"c{n}" for n in range(3000))
WIDE_ROWS = "".join(",".join(str(n * row) for n in range(3000)) + "\n" for row in range(3))
MANY = "id,text,price\n" + "".join(f'{n},"text, {n}\n{"x" * (n % 90)}",{n / 4}\n' for n in range(120_000))
NULLS = "n,s\n1,a\nNA,NA\n3,\n-,-\n"
CALENDAR = "id,d,at\n1,28/02/2024,28/02/2024 23:59\n2,01/03/2024,01/03/2024 00:00\n3,,\n"

KINDS = [
    # Delimiters.
    Kind("csv, commas", content(ROWS), DUCKDB),
    Kind("csv, semicolons", content(of(";")), DUCKDB),
    Kind("csv, tabs", content(of("\t")), DUCKDB),
    Kind("csv, bars", content(of("|")), DUCKDB),
    Kind("csv, colons that are said", content(of(":")), duckdb_with("delim=':'"), '{delimiter=":"}'),
    Kind("csv, control characters that are said", content(of("\x01")), duckdb_with("delim='\x01'"), "{delimiter=1}"),
    Kind("csv, semicolons with commas in values", content("a;b\n1,5;x,y\n2,5;z,w\n"), duckdb_with("delim=';', decimal_separator=','"), '{decimal=","}'),
    Kind("csv, a trailing delimiter in rows and header", content("a,b,\n1,2,\n3,4,\n"), pandas(), sql='SELECT a, b, column_3 AS "Unnamed: 2" FROM t'),
    # Quotes.
    Kind("csv, every text that is hard", written_by_csv(TEXT_ROWS), DUCKDB),
    Kind("csv, everything quoted", written_by_csv(TEXT_ROWS, quoting=csv.QUOTE_ALL), DUCKDB),
    Kind("csv, texts quoted", written_by_csv(TEXT_ROWS, quoting=csv.QUOTE_NONNUMERIC), DUCKDB),
    Kind("csv, Python's excel-tab", written_by_csv(TEXT_ROWS, dialect="excel-tab"), duckdb_with("delim='\\t', header=true")),
    Kind("csv, Python's unix", written_by_csv(TEXT_ROWS, dialect="unix"), DUCKDB),
    Kind("csv, single quotes", written_by_csv(TEXT_ROWS, quotechar="'"), duckdb_with("quote='''', escape='''', header=true, delim=','"), "{quote=\"'\"}"),
    Kind("csv, backslashes before quotes", content('id,s\n1,"a \\"b\\" c"\n2,"x\\\\y"\n3,plain\n'), pandas(escapechar="\\", doublequote=False), "{escape='\\'}"),
    Kind("csv, no quotes at all", content('id,s\n1,5" pipe\n2,"x\n3,y"\n'), duckdb_with("quote='', header=true, delim=','"), "{quote=false}"),
    Kind("csv, backslashes and no quotes", written_by_csv([["id", "s"], [1, "a,b"], [2, "two\nlines"], [3, "\\"]], quoting=csv.QUOTE_NONE, escapechar="\\"), pandas(quoting=csv.QUOTE_NONE, escapechar="\\"), "{quote=false, escape='\\'}"),
    Kind("csv, a quote within an unquoted field", content('id,s\n1,5" pipe\n2,a"b"c\n'), pandas(), arguments=("--lenient",)),
    Kind("csv, quoted empty texts", content('id,s\n1,""\n2,\n3,"x"\n'), DUCKDB),
    Kind("csv, quoted numbers", content('"id","n"\n"1","2.5"\n"2","-3"\n'), DUCKDB),
    Kind("csv, a quote that is left open", content('id,s\n1,"a\n2,b\n3,c\n'), duckdb_with("header=true, strict_mode=true, auto_detect=false, delim=',', quote='\"', columns={'id': 'BIGINT', 's': 'VARCHAR'}"), code="CDL-1022"),
    # Lines.
    Kind("csv, CRLF", content(ROWS.replace("\n", "\r\n")), DUCKDB),
    Kind("csv, CRLF and LF", content("a,b\r\n1,2\n3,4\r\n5,6"), pandas()),
    Kind("csv, CR alone", content(ROWS.replace("\n", "\r")), pandas(), code="CDL-1021", reason="nobody has written such files for twenty years"),
    Kind("csv, no end of the last line", content(ROWS.rstrip("\n")), DUCKDB),
    Kind("csv, empty lines among rows", content("a,b\n\n1,2\n\n\n3,4\n\n"), pandas()),
    Kind("csv, newlines within quotes, many chunks", content(MANY), DUCKDB),
    # Beginnings.
    Kind("csv, no header", content("1,pen\n2,ink\n"), duckdb_with("header=false, names=['c1', 'c2']"), "{header=false}"),
    Kind("csv, comments", content("# made by hand\na,b\n# more\n1,2\n3,4\n"), pandas(comment="#"), '{comment="#"}'),
    Kind("csv, lines before the header", content("Report of 2024\n\na,b\n1,2\n"), pandas(skiprows=2), "{skip=2}"),
    Kind("csv, a header only", content("id,name\n"), duckdb_with("header=true, delim=',', columns={'id': 'VARCHAR', 'name': 'VARCHAR'}")),
    Kind("csv, an empty file", content(""), pandas(), code="CDL-1003"),
    Kind("csv, names quoted, with spaces and commas", content('"the id","a, b","c ""d"""\n1,2,3\n'), DUCKDB),
    Kind("csv, names of any script", content("año,名前,🦀\n1,2,3\n"), DUCKDB),
    Kind("csv, spaces after delimiters", content("a,b\n1, x\n2, y\n"), duckdb_with("header=true, delim=','")),
    # Encodings.
    Kind("csv, UTF-8 with a mark", content(b"\xef\xbb\xbf", ROWS), DUCKDB),
    Kind("csv, UTF-16 with tabs, as Excel writes it", content(b"\xff\xfe", of("\t").replace("\n", "\r\n").encode("utf-16-le")), pandas(sep="\t", encoding="utf-16")),
    Kind("csv, UTF-16 the other way", content(b"\xfe\xff", ROWS.encode("utf-16-be")), pandas(encoding="utf-16")),
    Kind("csv, UTF-16 without a mark, said", written_by_csv(TEXT_ROWS, "utf-16-le"), lambda path: read_decoded(path, "utf-16-le"), '{encoding="utf-16le"}'),
    Kind("csv, UTF-16 without a mark", content(ROWS.encode("utf-16-le")), DUCKDB, code="CDL-1021", reason="DuckDB reads letters and zeros"),
    Kind("csv, Latin-1", content("id,s\n1,ñandú\n2,café\n".encode("latin-1")), pandas(encoding="latin-1"), '{encoding="latin-1"}'),
    Kind("csv, Windows-1252", content("id,s\n1,“quoted” – 5 €\n".encode("cp1252")), pandas(encoding="cp1252"), '{encoding="windows-1252"}'),
    Kind("csv, bytes that are not UTF-8", content(b"id,s\n1,a\n2,\xff\xfe\n"), DUCKDB, code="CDL-1022"),
    # Values.
    Kind("csv, NULL in several spellings", content(NULLS), duckdb_with("header=true, delim=',', nullstr=['NA', '-', '']"), '{null=["NA", "-"]}'),
    Kind("csv, NULL as PostgreSQL writes it", content("1\ta b\t\\N\n2\t\\N\tx\\\\y\n3\t\\\\N\t\n"), postgres, "{header=false, delimiter=\"\\t\", quote=false, escape='\\', null='\\N'}"),
    Kind("csv, decimal commas", content("id;price\n1;0,5\n2;-1250,75\n3;\n"), duckdb_with("delim=';', decimal_separator=',', header=true"), '{decimal=","}'),
    Kind("csv, thousands", content('id,n\n1,"1,250"\n2,"-12,345,678"\n3,7\n'), pandas(thousands=","), '{thousands=",", types={n="int"}}'),
    Kind("csv, days before months", content(CALENDAR), duckdb_with("header=true, delim=',', dateformat='%d/%m/%Y', timestampformat='%d/%m/%Y %H:%M', columns={'id': 'BIGINT', 'd': 'DATE', 'at': 'TIMESTAMP'}"), '{date="%d/%m/%Y", timestamp="%d/%m/%Y %H:%M"}'),
    Kind("csv, times of the afternoon", content("at\n02/28/2024 11:59:59 PM\n02/29/2024 12:00:00 AM\n"), duckdb_with("header=true, timestampformat='%m/%d/%Y %I:%M:%S %p', columns={'at': 'TIMESTAMP'}"), '{timestamp="%m/%d/%Y %I:%M:%S %p"}'),
    Kind("csv, dates and times of ISO", content("d,at,t\n2024-02-29,2024-02-29 23:59:59,2024-02-29T23:59:59.123456\n1969-12-31,1900-01-01 00:00:00,9999-12-31T00:00:00\n"), DUCKDB),
    Kind("csv, booleans", content("a,b\ntrue,True\nfalse,FALSE\n,\n"), DUCKDB),
    Kind("csv, booleans of another language", content("id,b\n1,ja\n2,nein\n3,JA\n"), pandas(true_values=["ja", "JA"], false_values=["nein"]), '{true="ja", false="nein"}'),
    Kind("csv, integers beyond 64 bits", content("n\n9223372036854775808\n-170141183460469231731687303715884105728\n"), duckdb_with("header=true, columns={'n': 'HUGEINT'}"), '{types={n="decimal(38,0)"}}', code="CDL-1022", reason="38 digits are fewer than 128 bits hold, and half of the rows do not fit"),
    Kind("csv, the extremes of 64 bits", content("n\n9223372036854775807\n-9223372036854775808\n0\n"), DUCKDB),
    Kind("csv, floats of every spelling", content("f\n1.5\n-0.0\n1e5\n1E-300\n.5\n5.\n+2.25\n1.7976931348623157e308\n4.9e-324\n"), pandas()),
    Kind("csv, no numbers", content("f\nnan\ninf\n-inf\n1.5\n"), duckdb_with("header=true, columns={'f': 'DOUBLE'}"), '{types={f="float"}}'),
    Kind("csv, decimals that are said", by(lambda path: pacsv.write_csv(DECIMALS.select(["small", "negative"]), path)), duckdb_with("header=true, columns={'small': 'DECIMAL(7,2)', 'negative': 'DECIMAL(20,10)'}"), '{types={small="decimal(7,2)", negative="decimal(20,10)"}}'),
    Kind("csv, numbers with zeros before them, as text", content("id,code\n1,007\n2,012\n"), duckdb_with("header=true, types={'code': 'VARCHAR'}"), '{types={code="text"}}'),
    Kind("csv, a column without a value", content("a,b\n1,\n2,\n"), duckdb_with("header=true, delim=',', columns={'a': 'BIGINT', 'b': 'VARCHAR'}")),
    Kind("csv, numbers and a text", content("a\n1\n2\nx\n"), DUCKDB),
    Kind("csv, integers and floats", content("a\n1\n2.5\n3\n"), DUCKDB),
    Kind("csv, bytes that are zero", content("a,b\n1,x\0y\n2,\0\n"), pandas()),
    # Shapes.
    Kind("csv, one column", content("name\npen\nink\n"), duckdb_with("header=true, delim=','")),
    Kind("csv, one column with NULLs", content("n\n1\n\n3\n"), pandas()),
    Kind("csv, 3,000 columns", content(WIDE, "\n", WIDE_ROWS), pandas()),
    Kind("csv, fields of megabytes", content("id,s\n", *(f"{n},{'ñ' * 1_500_000}\n" for n in range(3))), duckdb_with("header=true, delim=',', max_line_size=8000000, buffer_size=64000000")),
    Kind("csv, rows that are too short", content("a,b,c\n", "1,2,3\n" * 20, "1,2\n"), duckdb_with("header=true, delim=',', ignore_errors=true")),
    Kind("csv, rows that are too long", content("a,b\n", "1,2\n" * 20, "1,2,3\n"), duckdb_with("header=true, delim=',', ignore_errors=true")),
    Kind("csv, values that are not of their type", content("a,b\n", "1,x\n" * 20, "one,y\n"), duckdb_with("header=true, delim=',', ignore_errors=true, types={'a': 'BIGINT'}"), '{types={a="int"}}'),
    Kind("csv, most rows too short", content("a,b\n1,2\n3\n4\n"), duckdb_with("header=true, delim=',', auto_detect=false, columns={'a': 'BIGINT', 'b': 'BIGINT'}"), code="CDL-1022"),
    # Writers.
    Kind("csv by pandas", by(lambda path: FLAT.to_pandas().to_csv(path, index=False)), DUCKDB),
    Kind("csv by pandas, with its index", by(lambda path: FLAT.to_pandas().to_csv(path)), pandas(index_col=0, dtype={"ok": "boolean"}, parse_dates=["day"]), sql="SELECT id, name, price, ok, day FROM t"),
    Kind("csv by pandas, for Europe", by(lambda path: FLAT.to_pandas().to_csv(path, sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n", index=False)), duckdb_with("delim=';', decimal_separator=',', header=true"), '{decimal=","}'),
    Kind("csv by pandas, NULL as NA", by(lambda path: FLAT.to_pandas().to_csv(path, na_rep="NA", index=False)), duckdb_with("nullstr='NA', header=true"), '{null="NA"}'),
    Kind("csv by polars", by(lambda path: pl.from_arrow(FLAT).write_csv(path)), DUCKDB),
    Kind("csv by polars, always quoted", by(lambda path: pl.from_arrow(FLAT).write_csv(path, quote_style="always", separator="\t")), DUCKDB),
    Kind("csv by pyarrow", by(lambda path: pacsv.write_csv(FLAT, path)), DUCKDB),
    Kind("csv by DuckDB", by(lambda path: duckdb_writes(path, "HEADER")), DUCKDB),
    Kind("csv by DuckDB, bars and quotes", by(lambda path: duckdb_writes(path, "HEADER, DELIMITER '|', FORCE_QUOTE *")), duckdb_with("delim='|', header=true, allow_quoted_nulls=true")),
]  # fmt: skip
