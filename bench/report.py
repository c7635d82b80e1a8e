"""The report: a page in Markdown."""

import datetime
import os
import platform
import statistics
import subprocess
from importlib import metadata
from pathlib import Path

from contenders import CAUDAL, DATAFUSION, DUCKDB_LOADED, DUCKDB_STRAIGHT, POLARS, THREADS

REPOSITORY = Path(__file__).resolve().parent.parent

INTRODUCTION = """\
# Performance

Written by `bench/run`, on {date}, at commit {commit}; not edited by hand.

Caudal in one process against DuckDB, Polars and plain DataFusion: the same files, the same questions, {threads}
threads each, answers found equal before anything was measured. [bench/README.md](../bench/README.md) says how each
is asked, what was left out, and why.

- Machine: {machine}
- Versions: {versions}

Seconds are the median of {rounds} rounds after a warm-up (files in the page cache), in which all take turns, of a
whole process. A ratio is Caudal's time over the other's, the median over the rounds (and the least and the most),
**below 1 where Caudal is faster**; what each takes only to start (last table) is left out of the ratios, because
Python is no fault of DuckDB's or Polars'. DuckDB is asked in two ways, and the better counts. CPU is that of all
threads together, memory the peak of the resident set."""

LARGE = """\
## Large files"""

SMALL = """\
## Many small files

The same questions, with the large tables in about 200 files each."""

FORMATS = {
    "parquet": """\
## Parquet

The same rows in one file a table, in row groups of 122,880 rows, with all columns, those that the suite needs of their types.""",
    "gzip": """\
## CSV in gzip

The same files, each table of facts in eight (or as many as it had), by `gzip -6`; MB are those of the packed files.""",
    "tsv": """\
## TSV

The same files with tabs.""",
}

GROWTH = """\
## Memory, when the input grows

Caudal on the questions that group or join the large tables: once, and with every row of them three times."""

STARTS = """\
## Starting

Start, answer `SELECT 1`, end."""


def page(results):
    sections = [INTRODUCTION.format(rounds=results.rounds, threads=THREADS, **circumstances())]
    for title, comparisons in [(LARGE, results.large), (SMALL, results.small)]:
        if comparisons:
            sections += [title, ratios(comparisons, results.starts), costs(comparisons)]
    for format, title in FORMATS.items():
        comparisons = [each for each in results.formats if each.dataset.format == format]
        if comparisons:
            sections += [title, ratios(comparisons, results.starts), costs(comparisons)]
    if results.growth:
        sections += [GROWTH, growth(results.growth)]
    sections += [STARTS, starts(results.starts)]
    return "\n\n".join(sections) + "\n"


def in_one_line(comparison):
    folder = comparison.dataset.folder.name
    seconds = [f"{name} {runs.median_seconds():.2f} s" for name, runs in comparison.runs.items()]
    return f"{folder}: {', '.join(seconds)}"


def ratios(comparisons, starts):
    others = [POLARS, *([DATAFUSION] if DATAFUSION in comparisons[0].runs else [])]
    rows = []
    for comparison in comparisons:
        runs = {name: of.beyond(starts[name]) for name, of in comparison.runs.items()}
        duckdb = min([DUCKDB_STRAIGHT, DUCKDB_LOADED], key=lambda way: runs[way].median_seconds())
        ratios = [runs[CAUDAL].ratios_to(runs[other]) for other in [duckdb, *others]]
        megabytes = comparison.dataset.bytes() / 1e6
        seconds = comparison.runs[CAUDAL].median_seconds()
        suite = comparison.dataset.suite
        rows.append(
            [suite.name, ", ".join(suite.queries), f"{megabytes:.0f}"]
            + [
                f"**{statistics.median(all):.2f}** ({min(all):.2f}–{max(all):.2f})"
                for all in ratios
            ]
            + [f"{seconds:.2f}", f"{megabytes / seconds:.0f}"]
        )
    over = [f"/ {other}" for other in ["DuckDB", *others]]
    return table(["suite", "questions", "MB", *over, "seconds", "MB/s"], rows)


def costs(comparisons):
    """Seconds and memory of each contender."""
    names = list(comparisons[0].runs)
    rows = [
        [comparison.dataset.suite.name]
        + [cost(comparison.runs[name]) for name in names]
        + [cost(comparison.all_questions)]
        for comparison in comparisons
    ]
    return table(["suite", *names, "Caudal, all questions of the suite"], rows)


def growth(measured):
    rows = [
        [
            each.dataset.suite.name,
            each.dataset.format,
            ", ".join(each.dataset.suite.aggregating),
            cost(each.once),
            cost(each.three_times),
            f"{each.three_times.median_peak_bytes() / each.once.median_peak_bytes():.2f}",
        ]
        for each in measured
    ]
    return table(["suite", "format", "questions", "once", "three times", "memory grew by"], rows)


def starts(runs):
    milliseconds = [f"{of.median_seconds() * 1000:.0f} ms" for of in runs.values()]
    return table(list(runs), [milliseconds])


def cost(runs):
    seconds, cpu_seconds = runs.median_seconds(), runs.median_cpu_seconds()
    return f"{seconds:.2f} s, {cpu_seconds:.2f} s CPU, {runs.median_peak_bytes() / 1e6:.0f} MB"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def circumstances():
    return {
        "date": datetime.date.today().isoformat(),
        "commit": os.environ["CAUDAL_COMMIT"],
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory_gib():.0f} GiB, {platform.release()}",
        "versions": ", ".join(versions()),
    }


def versions():
    locked = (REPOSITORY / "Cargo.lock").read_text()
    datafusion = locked.split('name = "datafusion"\nversion = "')[1].split('"')[0]
    yield f"DuckDB {metadata.version('duckdb')}"
    yield f"Polars {metadata.version('polars')}"
    yield f"DataFusion {datafusion}"
    yield f"Python {platform.python_version()}"
    yield output("rustc", "--version")


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
