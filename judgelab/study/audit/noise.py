"""How often a judge that was asked several times contradicts itself, beside how often people do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgelab.core.judgments import Kind
from judgelab.core.result import Row, Value
from judgelab.stats.trust.noise import Noise, noise, several
from judgelab.study.audit.design import Design
from judgelab.study.common.tables import named_columns as columns


class JudgeNoise(NamedTuple):
    """Of one judge; people, and the judge beside them, on the texts that two people labelled."""

    name: str
    runs: int  # the most times that it was asked about one text
    own: Noise
    beside: Noise | None
    people: Noise | None


def judge_noise(design: Design, judge: int) -> JudgeNoise | None:
    """None of a judge that was asked about each text once."""
    table = design.table
    runs = np.concatenate([table.verdicts[judge][..., None], table.again[judge]], axis=-1)
    runs = runs.reshape(-1, runs.shape[-1])  # the two orders of a pair are two questions
    cluster = np.repeat(design.cluster, table.orders)
    if not several(runs).any():
        return None
    asked = several(runs).reshape(len(table.units), -1).any(axis=1)
    both = asked & several(table.labels)
    name, own = table.names[judge], noise(runs, cluster)
    most = int((~np.isnan(runs)).sum(axis=1).max())
    if not both.any():
        return JudgeNoise(name, most, own, None, None)
    beside = noise(np.where(np.repeat(both, table.orders)[:, None], runs, np.nan), cluster)
    return JudgeNoise(name, most, own, beside, noise(table.labels[both], design.cluster[both]))


def noise_rows(kind: Kind, one: JudgeNoise) -> list[Row]:
    """A row of the judge, of it where several people labelled, and of people there."""
    rows = [("judge", one.own), ("judge, where several people labelled", one.beside)]
    if one.beside is not None and one.beside.units == one.own.units:
        rows.pop()
    rows.append(("people there", one.people))
    return [{"judge": one.name, "who": who, **_row(kind, each)} for who, each in rows if each]


def _row(kind: Kind, one: Noise) -> Row:
    row: dict[str, Value] = columns("two_verdicts_differ", one.differ)
    if kind == "grade":
        row |= columns("mean_distance", one.apart)
    return row | {"items": one.differ.n}
