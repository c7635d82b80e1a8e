"""Measuring processes: wall time and peak memory, the contenders taking turns."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass, field


class Failed(Exception):
    """A contender did not finish: its command, and what it said."""


@dataclass
class Runs:
    """What the rounds of one contender took."""

    seconds: list = field(default_factory=list)
    # Of all its threads; what else runs on the machine hardly shows in it.
    cpu_seconds: list = field(default_factory=list)
    peak_bytes: list = field(default_factory=list)

    def median_seconds(self):
        return statistics.median(self.seconds)

    def median_cpu_seconds(self):
        return statistics.median(self.cpu_seconds)

    def median_peak_bytes(self):
        return statistics.median(self.peak_bytes)

    def beyond(self, start):
        """The same rounds without what it takes only to start."""
        start_seconds = start.median_seconds()
        seconds = [seconds - start_seconds for seconds in self.seconds]
        return Runs(seconds, self.cpu_seconds, self.peak_bytes)

    def ratios_to(self, other):
        """Round by round: what slows a whole round down cancels out."""
        rounds = zip(self.seconds, other.seconds, strict=True)
        return [ours / theirs for ours, theirs in rounds]


def in_turns(commands, rounds):
    """Runs every command (of a dict) once to warm up, then `rounds` times, in turns.

    Each round starts with another command, so that none always follows the same one.
    """
    runs = {name: Runs() for name in commands}
    for command in commands.values():
        run(command)
    names = list(commands)
    for round in range(rounds):
        start = round % len(names)
        for name in names[start:] + names[:start]:
            seconds, usage = run(commands[name])
            runs[name].seconds.append(seconds)
            runs[name].cpu_seconds.append(usage.ru_utime + usage.ru_stime)
            runs[name].peak_bytes.append(usage.ru_maxrss * 1024)
    return runs


def run(command):
    """Runs the command to its end: seconds of wall time, and the resources that the kernel says it used."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{said.decode(errors='replace')}")
    return seconds, usage
