"""What the audit says of simulated tables, cell by cell: kinds of data x numbers of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from zlib import crc32

import numpy as np

from experiments.results import Row
from experiments.trust import tables
from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.averages import AverageAnswer, averages
from judgelab.study.audit.design import Bars, Design
from judgelab.study.audit.evidence import Evidence, Verdict, evidence

SIZES = (30, 100, 300, 1000)
ENOUGH = 20
"""Labels of a class from which a perfect judge can be shown to find .8 of it, and to be right in a
fifth of it: of 10 the lower end is .69."""
RENAMED = 10
"""Tables of each cell that are decided twice, the second time in another order and spelling."""
KINDS: Mapping[str, Callable[[int, tables.Seed], JudgmentTable]] = {
    "grades": tables.grades,
    "grades, systems alike": partial(tables.grades, differ=False),
    "grades, one text an item": partial(tables.grades, texts=1),
    "pairs, bar .8": tables.pairs,
    "pairs, three raters": partial(tables.pairs, raters=3),
    "50 % pass, bar .8": partial(tables.categories, rate=0.5),
    "20 % pass, bar .8": partial(tables.categories, rate=0.2),
    "5 % pass, bar .8": partial(tables.categories, rate=0.05),
    "5 % pass, one in five labelled, bar .8": partial(tables.categories, rate=0.05, pool=5),
    "20 % pass, three raters": partial(tables.categories, rate=0.2, raters=3),
    "three classes, bar .8": tables.three,
}
TEXTS = ("use", "not known yet", "do not use")
AVERAGES = ("as it is", "with labels", "people alone")


def reading(table: JudgmentTable, minimum: float | None = None) -> tuple[Design, list[Evidence]]:
    """How the table is read, and what is known of every judge."""
    design = Design.of(table, Bars(minimum=minimum))
    return design, evidence(design)


def decided(
    table: JudgmentTable, minimum: float | None = None
) -> tuple[Evidence, Verdict, AverageAnswer | None]:
    """Of the only judge; labels are a random sample of the table."""
    design, (one,) = reading(table, minimum)
    return one, one.verdict, averages(design, True)[0]


def cell(kind: str, labels: int, draws: range) -> list[Row]:
    """Counts of every word for every judge; ``enough``: tables with ``ENOUGH`` of each class."""
    minimum = 0.8 if kind.endswith("bar .8") else None
    counts: dict[str, Counter[str]] = {}
    for draw in draws:
        rng = np.random.default_rng([crc32(kind.encode()), labels, draw])
        table = KINDS[kind](labels, rng)
        sizes = np.unique(table.labels[~np.isnan(table.labels)], return_counts=True)[1]
        enough = len(sizes) == 2 and sizes.min() >= ENOUGH
        other = tables.renamed(table, rng) if draw < RENAMED else None
        for judge in table.names:
            words = _words(table.of([judge]), minimum)
            count = counts.setdefault(judge, Counter())
            count.update(["tables", *words])
            count.update(["enough", *(f"enough, {word}" for word in words)] if enough else [])
            if other is not None:
                count["changed"] += _words(other.of([judge]), minimum) != words
    return [{"data": kind, "judge": judge, "labels": labels, **n} for judge, n in counts.items()]


def _words(table: JudgmentTable, minimum: float | None) -> tuple[str, str]:
    """Of single texts, and of the average."""
    _, verdict, average = decided(table, minimum)
    return verdict.word, "average " + average.word if average else "no average"


def summary(rows: list[Row]) -> list[Row]:
    """A line for each kind of judge and data: shares of words at each number of labels."""

    def shares(row: Row) -> str:
        words = (TEXTS, [f"average {word}" for word in AVERAGES])
        return "; ".join(
            " ".join(share(row.get(word, 0), row["tables"]) for word in each) for each in words
        )

    return by_labels(rows, ("data", "judge"), shares)


def by_labels(rows: list[Row], names: Sequence[str], text: Callable[[Row], str]) -> list[Row]:
    """A line for each combination of names, a column for each number of labels."""
    lines: dict[tuple[str, ...], Row] = {}
    for row in rows:
        line = lines.setdefault(tuple(row[x] for x in names), {x: row[x] for x in names})
        line[str(row["labels"])] = text(row)
    return list(lines.values())


def share(count: int, of: int) -> str:
    """Two digits, without the leading 0."""
    return f"{count / of:.2f}".replace("0.", ".", 1) if of else "-"
