"""Reports of listed facts, with grades by three people: data on which judges are known."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORDS = [
    *("amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heron", "ivory", "jetty"),
    *("kiosk", "larch", "maple", "north", "ochre", "pearl", "quartz", "raven", "slate", "thyme"),
]
FILLER = [
    *("as", "everybody", "who", "was", "there", "that", "day", "remembers", "quite", "well"),
    *("and", "likes", "to", "tell"),
]
LISTED = 8
RATERS = ("ana", "ben", "cem")


@dataclass(frozen=True)
class Report:
    """One text, and what people make of it."""

    item: str
    source: str
    system: str
    text: str
    grades: dict[str, float]


def reports(items: int, systems: int = 2, seed: int = 0, doubt: float = 0.6) -> Iterator[Report]:
    """Systems report some of eight facts each, at a length that says nothing of how many.

    Args:
        doubt: standard deviation of what a rater adds to the number of facts.
    """
    rng = np.random.default_rng(seed)
    for k in range(items):
        listed = rng.choice(WORDS, LISTED, replace=False)
        source = f"Report what the log of ship {k} lists: {', '.join(listed)}."
        told = rng.choice(np.arange(1, LISTED + 1), systems, replace=False)
        for j, count in enumerate(told):
            parts = [
                " ".join([f"The log lists {word}", *FILLER[: rng.integers(0, len(FILLER) + 1)]])
                for word in listed[:count]
            ]
            parts += [
                " ".join(["It was late", *FILLER[: rng.integers(0, len(FILLER) + 1)]])
                for _ in range(rng.integers(0, 2 * LISTED - 2 * count + 1))
            ]
            grades = {name: float(round(count + doubt * rng.standard_normal())) for name in RATERS}
            yield Report(f"ship{k}", source, f"system{j}", ". ".join(parts) + ".", grades)


def write_csv(file: Path, items: int = 80, systems: int = 2) -> None:
    """One row a text and rater, as users keep labels: dataset=table."""
    rows = [
        [one.item, one.source, one.system, one.text, rater, grade]
        for one in reports(items, systems)
        for rater, grade in one.grades.items()
    ]
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([["id", "source", "agent", "text", "rater", "human"], *rows])
