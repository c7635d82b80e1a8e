"""Compares two builds of Caudal, in one process, on the same files and all questions of each suite, in turns.

A ratio is the time of this tree's build over the other's, the median over the rounds (and the least and the most).
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import contenders
import data
from measure import in_turns
from suites import SUITES


def main():
    parser = argparse.ArgumentParser(prog="bench/before", description=__doc__)
    parser.add_argument("other", type=Path, help="the caudal that was built before")
    parser.add_argument("suites", metavar="SUITE", nargs="*", help="all, unless some are named")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured (7)")
    arguments = parser.parse_args()
    os.environ.update(contenders.environment())
    after = Path(os.environ["CAUDAL_RELEASE"]).resolve()
    cache = Path(os.environ["CAUDAL_CACHE"]).resolve() / "bench-data"
    print("| suite | time | CPU | seconds before | seconds now |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="caudal-bench-") as work:
        for name in arguments.suites or SUITES:
            suite = SUITES[name]
            dataset = data.generated(cache, after / "caudal", suite, suite.scale)
            builds = {"before": arguments.other.resolve().parent, "now": after}
            commands = {
                build: contenders.caudal(dataset, release, Path(work) / name / build, [])
                for build, release in builds.items()
            }
            runs = in_turns(commands, arguments.rounds)
            before, now = runs["before"], runs["now"]
            cpu = [a / b for a, b in zip(now.cpu_seconds, before.cpu_seconds, strict=True)]
            seconds = [f"{runs[build].median_seconds():.2f}" for build in builds]
            row = [name, spread(now.ratios_to(before)), spread(cpu), *seconds]
            print(f"| {' | '.join(row)} |", flush=True)


def spread(ratios):
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}–{max(ratios):.2f})"


if __name__ == "__main__":
    sys.exit(main())
