"""What a large answer costs: seconds of CPU of each role, for each GB of the answer as CSV.

Next to nothing is uploaded: a few rows meet a series, and all that comes of it crosses worker, broker, gateway and client.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measure import run
from nodes import Cluster

ROLES = ("client", "gateway", "broker", "worker")
NAMES = 1_000
SQL = "SELECT n, id, name, price FROM t CROSS JOIN generate_series(1, {times}) AS series(n)"


def main():
    parser = argparse.ArgumentParser(prog="bench/answers", description=__doc__)
    parser.add_argument("other", type=Path, nargs="?", help="a caudal that was built before, measured first")
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the answer (5,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (5)")
    arguments = parser.parse_args()
    builds = {"now": Path(os.environ["CAUDAL_RELEASE"]).resolve() / "caudal"}
    if arguments.other:
        builds = {"before": arguments.other.resolve()} | builds
    print(f"| build | answer | seconds | {' | '.join(ROLES)} |\n|---|{'---:|' * (len(ROLES) + 2)}")
    for name, caudal in builds.items():
        with tempfile.TemporaryDirectory(prefix="caudal-bench-") as work:
            print(row(name, caudal, Path(work), arguments), flush=True)


def row(name, caudal, work, arguments):
    table = work / "t.csv"
    lines = (f"{id},the name of number {id},{id % 100}.{id % 89:02}\n" for id in range(NAMES))
    table.write_text("id,name,price\n" + "".join(lines))
    sql = SQL.format(times=arguments.rows // NAMES)
    with Cluster(caudal, work / "cluster") as cluster:
        query = [caudal, "query", "--quiet", "-t", f"t={table}", "-c", sql, "--gateway", cluster.gateways]
        size = answer_bytes([*query, "--format", "csv", "--out", work / "answer"], work / "answer")
        rounds = [measure(cluster, query) for _ in range(arguments.rounds)]
    per_gb = [statistics.median(used[role, "cpu"] for used in rounds) / size * 1e9 for role in ROLES]
    seconds = statistics.median(used["seconds"] for used in rounds)
    costs = " | ".join(f"{cost:.2f}" for cost in per_gb)
    return f"| {name} | {size / 1e6:.0f} MB | {seconds:.2f} | {costs} |"


def answer_bytes(command, out):
    """The size of the answer; asking for it warms the cluster up, too."""
    run(command)
    files = [out] if out.is_file() else list(out.glob("*.csv"))
    if len(files) != 1:
        sys.exit(f"one answer was expected in {out}, not {files}")
    return files[0].stat().st_size


def measure(cluster, query):
    before = cluster.used()
    seconds, client = run([*query, "--format", "csv"])
    used = Counter(cluster.used())
    used.subtract(before)
    used["client", "cpu"] = client.ru_utime + client.ru_stime
    used["seconds"] = seconds
    return used


if __name__ == "__main__":
    main()
