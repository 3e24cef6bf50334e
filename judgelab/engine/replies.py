"""What a judge said of single texts, and why it said nothing: views of the log of its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from judgelab.calls.log import CallLog
from judgelab.core.judgments import JudgmentTable, Mask
from judgelab.engine.unscored import grouped, writable

if TYPE_CHECKING:
    from pandas import DataFrame

NO_REASON = "no value"
"""Why a verdict is missing of which nothing more is known."""

NOT_KEPT = "not kept here, as there are too many replies: the call cache has it"


def still_open(log: CallLog, table: JudgmentTable, missing: Mask) -> Mask:
    """[units, orders] which missing verdicts are of calls that the same command asks again."""
    rows = ((about, log.rows[key]) for (about, _), key in log.questions.items())
    names = {name for about, row in rows if not row.settled for name in _names(about)}
    unsent = np.zeros(missing.shape, np.bool_)
    for k, order in np.argwhere(missing) if names else ():
        unsent[k, order] = not names.isdisjoint(_subjects(table, k, order))
    return unsent


def reasons(log: CallLog, table: JudgmentTable, missing: Mask) -> dict[str, int]:
    """Reason -> how many verdicts are missing for it.

    Args:
        missing: [units, orders] of the table.
    """
    why = {
        name: grouped(reason)
        for (about, _), key in log.questions.items()
        if (reason := log.rows[key].reason)
        for name in _names(about)
    }
    counts: Counter[str] = Counter()
    for k, order in np.argwhere(missing):
        subjects = _subjects(table, k, order)
        counts[next((why[name] for name in subjects if name in why), NO_REASON)] += 1
    return dict(counts.most_common())


def reply_records(log: CallLog, judge: str, agents: Collection[str]) -> DataFrame:
    """One row for each reply about a text or pair, and for each call about one without a value.

    Columns: judge, item, agent, peer (of a pair: ``agent`` was shown first), detail (what else
    was asked about), draw, reply, reason (why there is none, or it could not be read),
    probabilities, prompt.
    """
    import pandas as pd

    known, rows = frozenset(agents), []
    for (about, draw), key in log.questions.items():
        call = log.rows[key]
        if len(about) < 3 or about[2] not in known:
            continue
        if call.verb == "logprob" and call.reason is None:
            continue
        peer, rest = (about[3], about[4:]) if about[3:4] and about[3] in known else ("", about[3:])
        reason = call.reason or ("" if call.reply is not None else NOT_KEPT)
        words = (writable(call.reply), writable(reason), call.probabilities)
        rows.append(
            (judge, about[1], about[2], peer, ", ".join(rest), draw, *words, writable(call.prompt))
        )
    names = ("judge", "item", "agent", "peer", "detail", "draw", "reply", "reason")
    table = pd.DataFrame(rows, columns=[*names, "probabilities", "prompt"])
    return table.astype({name: "string" for name in table if name != "draw"})


def _names(about: tuple[str, ...]) -> set[tuple[str, ...]]:
    """What a call is about: item and agent, and those with the peer."""
    return {about[1:3], about[1:4]}


def _subjects(table: JudgmentTable, unit: int, order: int) -> list[tuple[str, ...]]:
    """What calls about a unit, in an order, may be about."""
    units = table.units
    texts = str(units.first[unit]), str(units.second[unit])
    item, shown = str(units.item[unit]), texts if order == 0 else texts[::-1]
    return [(item, *shown), (item, shown[0]), (item, shown[1])]
