"""Caudal, as everybody runs it; answers as Parquet, which keeps types."""

import os
import re
import subprocess

import pyarrow.parquet as pq

SECONDS_MAX = 120
TOO_LONG = "it takes too long"
CODE = re.compile(r"^error\[(CDL-\d+)\]", re.MULTILINE)


def query(words, out, stdin=subprocess.DEVNULL, seconds_max=SECONDS_MAX):
    """(the answer, None), or (None, what it said instead)."""
    command = [os.environ.get("CAUDAL_BIN") or "target/debug/caudal", "query", *words, "--out", str(out), "--format", "parquet"]
    try:
        done = subprocess.run(command, stdin=stdin, capture_output=True, timeout=seconds_max, check=False)
    except subprocess.TimeoutExpired:
        return None, TOO_LONG
    said = done.stderr.decode(errors="replace")
    if done.returncode == 0 and "panicked" not in said:
        return pq.read_table(out / "query.parquet", partitioning=None), None
    if done.returncode not in (1, 2) or not code_of(said) or "panicked" in said:
        said = f"exit code {done.returncode}, and no code of ours alone: {said}"
    return None, said


def code_of(said):
    code = CODE.search(said)
    return code and code[1]
