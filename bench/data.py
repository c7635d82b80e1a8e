"""The data: generated once, kept in the cache, and rearranged into many small files or thrice the rows."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from measure import run
from suites import Suite

REPOSITORY = Path(__file__).resolve().parent.parent
SMALL_FILES = 200


@dataclass(frozen=True)
class Dataset:
    suite: Suite
    scale: float
    folder: Path
    # What `caudal run` is given: the suite's name, or a folder in which its tables are other files.
    caudal_suite: str
    # Of its files, and how their names end (bench/formats.py).
    format: str = "csv"
    ending: str = "csv"

    def pattern(self, table):
        """Where the table is: a file, or a pattern of files."""
        return str(self.folder / tables_of(self)[table])

    def files(self):
        return [file for table in self.suite.tables for file in files_of(self, table)]

    def bytes(self):
        return sum(file.stat().st_size for file in self.files())


def tables_of(dataset):
    """As the suite has them, unless the facts were rearranged into folders, or all tables were for another format."""
    if dataset.caudal_suite == dataset.suite.name:
        return dataset.suite.tables
    moved = dataset.suite.facts if dataset.format == "csv" else dataset.suite.tables
    return dataset.suite.tables | {table: f"{table}/*.{dataset.ending}" for table in moved}


def files_of(dataset, table):
    return sorted(dataset.folder.glob(tables_of(dataset)[table]))


def generated(cache, caudal, suite, scale):
    """The suite's data at this scale, always the same bytes."""

    def make(folder):
        size = ["--scale", str(scale), "--seed", "1"]
        run([caudal, "generate", suite.name, *size, "--out", folder])

    folder = made_once(cache / f"{suite.name}-{scale}", make)
    return Dataset(suite, scale, folder, suite.name)


def in_small_files(cache, dataset):
    """The same rows, each table of facts in about SMALL_FILES files."""

    def place(table, folder):
        files = files_of(dataset, table)
        for file in files:
            split(file, folder, -(-SMALL_FILES // len(files)))

    return rearranged(cache, dataset, "small", place)


def three_times(cache, dataset):
    """Every fact three times: three times the bytes, as many groups."""

    def place(table, folder):
        for file in files_of(dataset, table):
            for copy in range(3):
                (folder / f"{copy}-{file.name}").symlink_to(file)

    return rearranged(cache, dataset, "x3", place)


def rearranged(cache, dataset, how, place):
    """The dataset with the files of each table of facts placed anew, and a suite that finds them."""
    suite = dataset.suite

    def make(folder):
        built_in = REPOSITORY / "suites" / suite.name
        rearranged_before = dataset.caudal_suite != suite.name
        shutil.copytree(dataset.caudal_suite if rearranged_before else built_in, folder / "suite")
        manifest = folder / "suite" / "suite.toml"
        text = manifest.read_text()
        for table in suite.facts:
            text = with_files(text, table, f"{table}/*.{dataset.ending}")
            (folder / table).mkdir()
            place(table, folder / table)
        manifest.write_text(text)
        for table in suite.tables.keys() - set(suite.facts):
            for file in files_of(dataset, table):
                link = folder / file.relative_to(dataset.folder)
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(file)

    folder = made_once(cache / f"{dataset.folder.name}-{how}", make)
    return Dataset(suite, dataset.scale, folder, str(folder / "suite"), dataset.format, dataset.ending)


def with_files(manifest, table, pattern):
    """The text of a suite.toml in which the table is the files of another pattern."""
    of_table = re.compile(rf'(\nname = "{table}"\nfiles = )\[[^\]]*\]')
    text, found = of_table.subn(rf'\1["{pattern}"]', manifest)
    assert found == 1, f"suite.toml has {found} tables {table} with files"
    return text


def split(file, folder, parts):
    """Cuts a CSV file into parts of about equal size with a header each, never within a record."""
    part_bytes = -(-file.stat().st_size // parts)
    with file.open("rb") as lines:
        header = next(lines)
        for part in range(parts):
            with (folder / f"{file.stem}-{part:03}.csv").open("wb") as out:
                out.write(header)
                quotes = 0
                # A line break within quotes, of which an odd number has been seen, is no end of a record.
                while (out.tell() < part_bytes or quotes % 2) and (line := next(lines, None)):
                    quotes += line.count(b'"')
                    out.write(line)


def made_once(folder, make):
    """The folder, made where there is none; it appears whole or not at all."""
    if not folder.exists():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder
