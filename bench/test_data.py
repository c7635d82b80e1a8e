"""Rearranging loses no row. Run by `python3 -m unittest discover bench`."""

import csv
import tempfile
import unittest
from pathlib import Path

import data

MANIFEST = """\
[[table]]
name = "games"
files = ["games.csv"]

[[table]]
name = "reviews"
files = ["a.csv", "b.csv"]
"""


class Splitting(unittest.TestCase):
    def test_parts_hold_all_records_in_order_and_a_header_each(self):
        rows = [[str(id), f'two\nlines, and "quotes" of {id}\n'] for id in range(1000)]
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "whole.csv"
            write(whole, [["id", "text"], *rows])
            parts = Path(folder) / "parts"
            parts.mkdir()
            data.split(whole, parts, 7)
            files = [read(part) for part in sorted(parts.iterdir())]
        self.assertEqual(len(files), 7)
        self.assertEqual({tuple(records[0]) for records in files}, {("id", "text")})
        self.assertGreater(min(len(records) for records in files), 100)
        self.assertEqual([record for records in files for record in records[1:]], rows)


class OtherFiles(unittest.TestCase):
    def test_only_the_named_table_is_elsewhere(self):
        changed = data.with_files(MANIFEST, "reviews", "reviews/*.csv")
        expected = MANIFEST.replace('["a.csv", "b.csv"]', '["reviews/*.csv"]')
        self.assertEqual(changed, expected)

    def test_a_table_that_is_not_there_is_noticed(self):
        with self.assertRaises(AssertionError):
            data.with_files(MANIFEST, "ratings", "ratings/*.csv")


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


if __name__ == "__main__":
    unittest.main()
