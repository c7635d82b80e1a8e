"""A cluster on this machine, and what its processes have used so far."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

WORKERS = 4
GATEWAYS = 2
PORT = 17170
TICKS = os.sysconf("SC_CLK_TCK")


class Cluster:
    """`caudal up` in a folder of its own; stopped at the end of the `with`."""

    def __init__(self, caudal, folder):
        self.caudal = caudal
        self.folder = Path(folder)

    def __enter__(self):
        self.command("up", "--detach", "--workers", WORKERS, "--gateways", GATEWAYS, "--port", PORT)
        self.known = self.processes()
        return self

    def __exit__(self, *error):
        self.command("down")

    def command(self, *arguments):
        command = [self.caudal, *map(str, arguments), "--dir", self.folder]
        subprocess.run(command, check=True, capture_output=True)

    @property
    def gateways(self):
        return ",".join(f"127.0.0.1:{PORT + number}" for number in range(GATEWAYS))

    def processes(self):
        """The pids of each role. A process that is only just made may be taken for the one that makes it."""
        roles = {"worker": [], "gateway": [], "monitor": [], "broker": []}
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if not any(str(self.folder) in word for word in words):
                continue
            if words[0].endswith("beam.smp"):
                roles["broker"].append(int(entry.name))
            elif len(words) > 1 and words[1] in roles:
                roles[words[1]].append(int(entry.name))
        return roles

    def used(self):
        """Seconds of CPU, bytes written to disk and bytes sent to the broker, by role."""
        used = Counter()
        for role, pids in self.known.items():
            for pid in pids:
                try:
                    used[role, "cpu"] += cpu_seconds(pid)
                    used[role, "written"] += written_bytes(pid)
                    used[role, "sent"] += sent_bytes(pid)
                except FileNotFoundError:
                    sys.exit(f"a {role} ({pid}) has died: nothing is measured")
        return used


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def written_bytes(pid):
    io = Path(f"/proc/{pid}/io").read_text()
    return int(re.search(r"^write_bytes: (\d+)", io, re.MULTILINE)[1])


def sent_bytes(pid):
    """Over the connections that it opened itself: those to the broker, for a node of a cluster."""
    listing = subprocess.run(
        ["ss", "-tinpHO", "sport", ">", "1024"], capture_output=True, text=True, check=True
    ).stdout
    lines = [line for line in listing.splitlines() if f"pid={pid}," in line]
    ours = [line for line in lines if f":{PORT}" not in line.split()[3]]
    return sum(int(sent) for line in ours for sent in re.findall(r"bytes_sent:(\d+)", line))
