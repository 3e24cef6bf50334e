"""Beside what a mechanism finds: what people say of the texts, and what length alone tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.stats.discrimination.auc import item_auc, macro_auc
from judgelab.stats.discrimination.effect_size import auc_delta
from judgelab.stats.discrimination.ordering import same_order
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind
from judgelab.study.common.groups import Groups
from judgelab.study.common.panels import ScoredPanel, human_scores
from judgelab.study.common.tables import entries, estimate_table

WORDING = {
    "human_within": "Pairs of responses to one item that it orders as people do",
    "length_human_within": "The same by length alone: longer, or shorter where that does better",
    "human_within_gain": "Its agreement less that of length",
    "length_auc": "AUC of length alone: longer, or shorter where that does better",
    "auc_gain": "Its AUC less that of length",
}


@dataclass(frozen=True)
class Drawing:
    """Drawing intervals are made: resamples, seed, kind."""

    draws: int
    seed: int
    interval: Kind


def beside(scored: ScoredPanel, group: Groups, how: Drawing) -> dict[str, Estimate]:
    """Name of ``WORDING`` -> its estimate; without what the panel does not allow."""
    values, words = scored.values, lengths(scored.panel)
    human = human_scores(scored.panel)
    made: dict[str, Estimate] = {}
    if not np.isnan(human).all():
        made |= _pair(
            same_order(values, human),
            same_order(words, human),
            ("human_within", "length_human_within", "human_within_gain"),
            how,
        )
    if group.known:
        own, control = (item_auc(v, group.good, group.bad) for v in (values, words))
        made |= _pair(own, control, ("auc", "length_auc", "auc_gain"), how)
        del made["auc"]  # stands in the study's own table
    return made


def _pair(
    own: Floats, control: Floats, names: tuple[str, str, str], how: Drawing
) -> dict[str, Estimate]:
    settings = (how.draws, how.seed, how.interval)
    alike = np.array_equal(own, control, equal_nan=True)  # length, or what orders as it does
    if not alike and np.nanmean([*control, 0.5]) < 0.5:  # here the shorter one is the better guess
        control = 1 - control
    made = {names[0]: macro_auc(own, *settings), names[1]: macro_auc(control, *settings)}
    return made if alike else made | {names[2]: auc_delta(control, own, *settings)}


def lengths(panel: Panel) -> Floats:
    """[items, agents] words of a response; NaN where there is none."""
    return np.array(
        [
            [np.nan if text is None else float(len(text.split())) for text in row]
            for row in panel.texts
        ]
    )


def beside_entries(found: Mapping[str, Estimate]) -> dict[str, Value]:
    """Entries of a summary."""
    return {k: v for name, one in found.items() for k, v in entries(f"clean/{name}", one).items()}


def beside_table(found: Mapping[str, Estimate]) -> Table:
    """One row for each."""
    cells: list[tuple[Row, Estimate]] = [
        ({"statistic": name, "meaning": WORDING[name]}, one) for name, one in found.items()
    ]
    note = (
        "On the clean panel; 0.5 is chance. A mechanism that is no better than length has not been "
        "shown to read anything. n counts items."
    )
    return estimate_table("beside", "Beside people, and beside length alone", cells, note)
