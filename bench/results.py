"""What a run of the bench found out."""

from dataclasses import dataclass, field

from data import Dataset
from measure import Runs


@dataclass
class Comparison:
    """One suite on one dataset."""

    dataset: Dataset
    # Contender → its runs, Caudal among them.
    runs: dict
    # Caudal on every question of the suite, those that only it can answer included.
    all_questions: Runs


@dataclass
class Growth:
    """Caudal on the aggregating questions of a suite: on the dataset, and with every fact three times."""

    dataset: Dataset
    once: Runs
    three_times: Runs


@dataclass
class Results:
    rounds: int
    # Contender → runs that did nothing but start.
    starts: dict
    large: list = field(default_factory=list)
    growth: list = field(default_factory=list)
    small: list = field(default_factory=list)
    # Of every suite in every other format.
    formats: list = field(default_factory=list)
