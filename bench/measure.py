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
    peak_bytes: list = field(default_factory=list)

    def median_seconds(self):
        return statistics.median(self.seconds)

    def median_peak_bytes(self):
        return statistics.median(self.peak_bytes)

    def beyond(self, start):
        """The same rounds without what it takes only to start."""
        start_seconds = start.median_seconds()
        return Runs([seconds - start_seconds for seconds in self.seconds], self.peak_bytes)

    def ratio_to(self, other):
        """The median of the rounds' ratios: what slows a whole round down cancels out."""
        rounds = zip(self.seconds, other.seconds, strict=True)
        return statistics.median(ours / theirs for ours, theirs in rounds)


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
            seconds, peak_bytes = run(commands[name])
            runs[name].seconds.append(seconds)
            runs[name].peak_bytes.append(peak_bytes)
    return runs


def run(command):
    """Runs the command to its end: seconds of wall time, and the peak of its resident memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{said.decode(errors='replace')}")
    return seconds, usage.ru_maxrss * 1024
