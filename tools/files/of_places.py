"""Tables of several files, of pipes, of folders; and what is no table at all."""

import shutil
import sqlite3
import zipfile
from pathlib import Path

import pyarrow.csv as pacsv
import pyarrow.dataset as dataset
import pyarrow.parquet as pq
from kind import Kind
from made import FLAT, by, content

PARTS = [FLAT.slice(0, 300), FLAT.slice(300, 500), FLAT.slice(800)]


def several(write, names, path="*"):
    """A part in each file."""

    def make(folder):
        for name, part in zip(names, PARTS):
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            write(part, str(target))
        return path

    return make


def texts(path="*", **files):
    """A text in each file."""

    def make(folder):
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        return path

    return make


def all_rows(_path):
    return FLAT


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")


def in_sqlite(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()


def nothing(_path):
    raise ValueError("no table")


def in_folders(folder):
    several(pacsv.write_csv, ["t/a.csv", "t/b/c.csv", "t/b/d/e.csv"])(folder)
    (Path(folder) / "t/_SUCCESS").write_text("")
    (Path(folder) / "t/.hidden.csv").write_text("nothing,of\nthis\n")
    return "t"


KINDS = [
    Kind("files of CSV by a pattern", several(pacsv.write_csv, ["t1.csv", "t2.csv", "t3.csv"], "t?.csv"), all_rows),
    Kind("a folder of CSV, with folders in it", in_folders, all_rows),
    Kind("files of Parquet", several(pq.write_table, ["1.parquet", "2.parquet", "3.parquet"]), lambda path: dataset.dataset(str(Path(path).parent)).to_table()),
    Kind("columns in other orders, CSV", texts(a="x,y\n1,a\n", b="y,x\nb,2\n"), "read_csv('{}', union_by_name=true, header=true)"),
    Kind("columns in other orders, Parquet", several(lambda part, path: pq.write_table(part.select(part.column_names[:: -1 if path.endswith("2") else 1]), path), ["1", "2", "3"]), all_rows),
    Kind("a column that is integer here and float there", texts(a="x\n1\n", b="x\n2.5\n"), "read_csv('{}', union_by_name=true, header=true)"),
    Kind("an empty file among files of JSON", texts(a='{"x": 1}\n', b=""), "read_json('{}')"),
    Kind("files of two formats", texts(a="x\n1\n", b='{"x": 2}\n'), "read_csv('{}')", code="CDL-1045", reason="they may be two tables"),
    Kind("a file that is not there", lambda folder: "none.csv", "read_csv('{}')", code="CDL-1001"),
    Kind("a pattern that matches nothing", lambda folder: "*.csv", "read_csv('{}')", code="CDL-1111"),
    Kind("standard input that is a file", content("a,b\n1,2\n"), "read_csv('{}')", through=[]),
    Kind("standard input that is a pipe", by(lambda path: pacsv.write_csv(FLAT, path)), all_rows, through=["cat"]),
    Kind("standard input from gzip", by(lambda path: pacsv.write_csv(FLAT, path)), all_rows, through=["gzip", "-c"]),
    Kind("standard input without a byte", content(""), nothing, through=["cat"], code="CDL-1003"),
    Kind("a ZIP archive", by(zipped), nothing, code="CDL-1021"),
    Kind("a database of SQLite", by(in_sqlite), nothing, code="CDL-1021"),
    Kind("a program", by(lambda path: shutil.copy("/bin/true", path)), nothing, code="CDL-1021"),
    Kind("a picture", content(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(50)), nothing, code="CDL-1021"),
]  # fmt: skip
