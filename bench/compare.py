"""Compares Caudal, in one process, with DuckDB, Polars and plain DataFusion on the same files.

Every contender answers the same questions in one process start, and its answers are compared with Caudal's
before anything is measured: a contender that answers something else is no comparison.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import contenders
import data
import formats
import report
from measure import in_turns, run
from results import Comparison, Growth, Results
from suites import SUITES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
STARTS = 20


class Bench:
    def __init__(self, rounds, work):
        self.release = Path(os.environ["CAUDAL_RELEASE"]).resolve()
        self.data = Path(os.environ["CAUDAL_CACHE"]).resolve() / "bench-data"
        self.rounds = rounds
        self.work = work

    def large(self, suite, scale):
        return data.generated(self.data, self.release / "caudal", suite, scale or suite.scale)

    def small(self, suite, scale):
        whole = data.generated(
            self.data, self.release / "caudal", suite, scale or suite.small_scale
        )
        return data.in_small_files(self.data, whole)

    def in_formats(self, suite, scale):
        whole = self.large(suite, scale)
        return [formats.in_format(self.data, whole, format) for format in formats.FORMATS]

    def compare(self, dataset):
        """All contenders on the questions that all can answer; then Caudal on all questions."""
        folder = self.work / dataset.folder.name
        commands = {contenders.CAUDAL: self.caudal(dataset, folder, dataset.suite.queries)}
        others = contenders.others(dataset)
        for name, command in others.items():
            commands[name] = command(dataset, self.release, folder / name)
        for command in commands.values():
            run(command)
        for name in others:
            self.check(contenders.answers(folder / name), contenders.answers(folder))
        runs = in_turns(commands, self.rounds)
        every_question = self.caudal(dataset, folder / "all", [])
        all_questions = in_turns({"all": every_question}, self.rounds)["all"]
        comparison = Comparison(dataset, runs, all_questions)
        print(report.in_one_line(comparison), file=sys.stderr, flush=True)
        return comparison

    def growth(self, dataset):
        suite = dataset.suite
        tripled = data.three_times(self.data, dataset)
        commands = {
            kind.folder: self.caudal(kind, self.work / kind.folder.name, suite.aggregating)
            for kind in [dataset, tripled]
        }
        runs = in_turns(commands, self.rounds)
        return Growth(dataset, runs[dataset.folder], runs[tripled.folder])

    def starts(self):
        """What it takes each contender to start and answer nothing much."""
        return in_turns(contenders.starts(self.release, self.work / "starts"), STARTS)

    def caudal(self, dataset, folder, queries):
        return contenders.caudal(dataset, self.release, folder, queries)

    def check(self, answers, expected):
        command = [self.release / "caudal", "check", answers, "--against", expected]
        checked = subprocess.run(command, capture_output=True, text=True)
        if checked.returncode != 0:
            sys.exit(
                f"{answers} are other answers than Caudal's:\n{checked.stdout}{checked.stderr}"
            )


def main():
    arguments = parse_arguments()
    os.environ.update(contenders.environment())
    suites = [SUITES[name] for name in arguments.suites or SUITES]
    is_part = arguments.small or arguments.formats
    is_whole = not arguments.suites and not arguments.scale and not is_part
    with tempfile.TemporaryDirectory(prefix="caudal-bench-") as work:
        bench = Bench(arguments.rounds, Path(work))
        results = Results(rounds=arguments.rounds, starts=bench.starts())
        if not is_part:
            for suite in suites:
                results.large.append(bench.compare(bench.large(suite, arguments.scale)))
                results.growth.append(bench.growth(bench.large(suite, arguments.scale)))
        if arguments.small or is_whole:
            for suite in suites:
                results.small.append(bench.compare(bench.small(suite, arguments.scale)))
        if arguments.formats or is_whole:
            for suite in suites:
                for dataset in bench.in_formats(suite, arguments.scale):
                    results.formats.append(bench.compare(dataset))
                    results.growth.append(bench.growth(dataset))
    page = report.page(results)
    print(page)
    if is_whole:
        PAGE.write_text(page)


def a_suite(name):
    if name not in SUITES:
        raise argparse.ArgumentTypeError(
            f"there is no suite {name}: name some of {', '.join(SUITES)}"
        )
    return name


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("suites", metavar="SUITE", nargs="*", type=a_suite)
    parser.add_argument(
        "--scale", type=float, help="other than the suite's own, 1 being the full volume"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (5)")
    parser.add_argument("--small", action="store_true", help="only the facts in many small files")
    parser.add_argument(
        "--formats", action="store_true", help="only Parquet, CSV in gzip, and TSV"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
