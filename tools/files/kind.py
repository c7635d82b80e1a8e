"""A kind of file: how it is made, how it is asked about, and who else reads it."""

import subprocess
from dataclasses import dataclass

import duckdb
from ours import code_of, query
from rows import difference, rows, shown


@dataclass
class Kind:
    name: str
    # Writes the files into a folder, and gives their path or pattern in it.
    make: callable
    # A function of the path that gives an Arrow table, or what DuckDB is to select from, with {} for the path.
    theirs: object
    # What Caudal is told of the files.
    options: str = ""
    arguments: tuple = ()
    sql: str = "SELECT * FROM t"
    # The error with which Caudal refuses it. They have to fail as well, unless there is a reason why they need not.
    code: str = None
    reason: str = ""
    # Its bytes come through standard input, from a program (a list) or as they are in the file ([]).
    through: list = None


def check(kind, folder):
    """(what both say, None) or (None, where they differ)."""
    folder.mkdir()
    path = str(folder / kind.make(folder))
    theirs, refusal = asked(kind.theirs, path)
    ours, said = asked_of_caudal(kind, path, folder / "out")
    if kind.code:
        return refused_by_both(kind, theirs, refusal, ours, said)
    if theirs is None:
        return None, f"they refuse it: {refusal}"
    if ours is None:
        return None, f"refused: {said}"
    if ours.column_names != theirs.column_names:
        return None, f"columns {ours.column_names}, and not {theirs.column_names}"
    one, other = rows(ours), rows(theirs)
    where = difference(one, other, ordered=False)
    if where:
        return None, f"{where}\n{types(ours)}\n{shown(one)}\n  instead of\n{types(theirs)}\n{shown(other)}"
    return f"{ours.num_rows} rows of {ours.num_columns} columns", None


def refused_by_both(kind, theirs, refusal, ours, said):
    if ours is not None:
        return None, f"answered with {ours.num_rows} rows, and not refused with {kind.code}"
    if code_of(said) != kind.code:
        return None, f"not refused with {kind.code}, but: {said}"
    if theirs is not None and not kind.reason:
        return None, f"refused, though they read {theirs.num_rows} rows: {said}"
    return f"{kind.code}, {kind.reason or 'and they: ' + refusal}", None


def asked(theirs, path):
    try:
        if callable(theirs):
            return theirs(path), None
        with duckdb.connect(config={"threads": 1}) as connection:
            return connection.sql(f"SELECT * FROM {theirs.replace('{}', path)}").to_arrow_table(), None
    except Exception as error:  # noqa: BLE001, whatever it is: it is no answer
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"[:100]


def asked_of_caudal(kind, path, out):
    source = path if kind.through is None else "-"
    words = ["-t", f"t={source}{kind.options}", "-c", kind.sql, *kind.arguments]
    if kind.through is None:
        return query(words, out)
    if kind.through:
        with subprocess.Popen([*kind.through, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as feeding:
            return query(words, out, feeding.stdout)
    with open(path, "rb") as file:
        return query(words, out, file)


def types(table):
    return "    " + ", ".join(f"{field.name}: {field.type}" for field in table.schema)[:500]
