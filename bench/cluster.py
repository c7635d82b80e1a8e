"""A cluster on this machine against one process: time, where it goes, and what crosses the broker."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import data
from measure import run
from nodes import GATEWAYS, WORKERS, Cluster
from suites import SUITES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance-cluster.md"
STARTS = 9
ROLES = ("client", "gateway", "broker", "worker", "monitor")


class Bench:
    def __init__(self, rounds, work):
        self.rounds = rounds
        self.work = work
        self.caudal = Path(os.environ["CAUDAL_RELEASE"]).resolve() / "caudal"
        self.cache = Path(os.environ["CAUDAL_CACHE"]) / "bench-data"

    def answer(self, dataset, out, more):
        suite, folder = dataset.caudal_suite, dataset.folder
        params = [f"--param={k}={v}" for k, v in dataset.suite.params(dataset.scale).items()]
        command = [self.caudal, "run", suite, "--data", folder, "--out", self.work / out, "--quiet"]
        return run([*command, *params, *more])

    def suite(self, cluster, suite, scale):
        """All questions; and, where some are about texts, also without these, which are the most work."""
        dataset = data.generated(self.cache, self.caudal, suite, scale or suite.scale)
        yield self.measure(cluster, dataset, suite.name, [])
        if suite.texts:
            lean = ["--queries", ",".join(suite.queries)]
            yield self.measure(cluster, dataset, f"{suite.name} without {suite.texts}", lean)

    def measure(self, cluster, dataset, name, queries):
        ratios, shares = [], []
        remote = [*queries, "--gateway", cluster.gateways]
        self.answer(dataset, "cluster", remote)
        for _ in range(self.rounds):
            one_seconds, one = self.answer(dataset, "one", [*queries, "--threads", "2"])
            before = cluster.used()
            seconds, client = self.answer(dataset, "cluster", remote)
            used = cluster.used()
            used.subtract(before)
            used["client", "cpu"] = client.ru_utime + client.ru_stime
            used["one", "cpu"] = one.ru_utime + one.ru_stime
            used["cluster", "seconds"] = seconds
            used["one", "seconds"] = one_seconds
            ratios.append(seconds / one_seconds)
            shares.append(used)
        self.check()
        return Measured(name, dataset, ratios, shares)

    def check(self):
        command = [self.caudal, "check", self.work / "cluster", "--against", self.work / "one"]
        checked = subprocess.run(command, capture_output=True, text=True)
        if checked.returncode != 0:
            sys.exit(f"the cluster's answers are others:\n{checked.stdout}{checked.stderr}")

    def session(self, cluster):
        """What a session costs when there is nothing to do."""
        query = [self.caudal, "query", "-c", "SELECT 1", "--quiet"]
        remote = [run([*query, "--gateway", cluster.gateways])[0] for _ in range(STARTS)]
        local = [run(query)[0] for _ in range(STARTS)]
        return statistics.median(remote), statistics.median(local)


class Measured:
    def __init__(self, name, dataset, ratios, shares):
        self.name = name
        self.gb = dataset.bytes() / 1e9
        self.ratios = sorted(ratios)
        self.shares = shares

    def median(self, who, what):
        return statistics.median(used[who, what] for used in self.shares)

    def row_of_time(self):
        low, high = self.ratios[0], self.ratios[-1]
        one, cluster = self.median("one", "seconds"), self.median("cluster", "seconds")
        ratio = statistics.median(self.ratios)
        return f"| {self.name} | {self.gb:.2f} GB | {one:.2f} s | {cluster:.2f} s | **{ratio:.2f}** ({low:.2f}–{high:.2f}) |"

    def row_of_cpu(self):
        one = self.median("one", "cpu")
        roles = " | ".join(f"{self.median(role, 'cpu'):.1f}" for role in ROLES)
        per_gb = self.median("broker", "cpu") / self.gb
        return f"| {self.name} | {one:.1f} | {roles} | {per_gb:.1f} |"

    def row_of_bytes(self):
        per_byte = [
            self.median("gateway", "sent"),
            self.median("worker", "sent"),
            self.median("worker", "written"),
            self.median("broker", "written"),
        ]
        cells = " | ".join(f"{value / self.gb / 1e9:.3f}" for value in per_byte)
        return f"| {self.name} | {cells} |"


def page(measured, session, rounds):
    remote, local = session
    lines = [
        "# A cluster on one machine against one process",
        "",
        f"Made by `bench/cluster --rounds {rounds}` at {os.environ['CAUDAL_COMMIT']}, on {os.cpu_count()} cores:",
        f"{WORKERS} workers, {GATEWAYS} gateways, monitors and RabbitMQ share them with the client, and every journal",
        "record and queue is on disk before it is acknowledged. Medians; ratios round by round, with the least and",
        "the greatest. Both divide a session over as many shards as there are cores. One machine shows the overhead; a",
        "cluster is for more machines and for dying parts.",
        "",
        "| suite | input | one process | cluster | ratio |",
        "|---|---:|---:|---:|---:|",
        *(one.row_of_time() for one in measured),
        "",
        "Most of it is bytes: what is uploaded crosses a gateway and the broker, and is on disk, before it is",
        "acknowledged. Where texts are asked for (reviews, casts), they are most of it.",
        "",
        "Seconds of CPU, where it goes:",
        "",
        "| suite | one process | " + " | ".join(ROLES) + " | broker, per GB of input |",
        "|---|" + "---:|" * (len(ROLES) + 2),
        *(one.row_of_cpu() for one in measured),
        "",
        "Bytes for each byte of input: sent by gateways to the broker (the columns that are needed, packed), by",
        "workers to the broker (the shuffle and the answers), and written to disk by each:",
        "",
        "| suite | upload | shuffle | written by workers | written by the broker |",
        "|---|---:|---:|---:|---:|",
        *(one.row_of_bytes() for one in measured),
        "",
        f"A session with nothing to do (`SELECT 1`) takes {remote:.2f} s on the cluster, {local:.2f} s in one process.",
        "",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="bench/cluster", description=__doc__)
    parser.add_argument("suites", metavar="SUITE", nargs="*", choices=[[], *SUITES])
    parser.add_argument("--scale", type=float)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="caudal-bench-") as work:
        bench = Bench(arguments.rounds, Path(work))
        with Cluster(bench.caudal, Path(work) / "cluster") as cluster:
            names = arguments.suites or SUITES
            measured = [
                one for name in names for one in bench.suite(cluster, SUITES[name], arguments.scale)
            ]
            session = bench.session(cluster)
    text = page(measured, session, arguments.rounds)
    print(text)
    if not arguments.suites and not arguments.scale:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
