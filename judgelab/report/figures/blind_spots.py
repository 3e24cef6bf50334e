"""What judges do not see, or see wrongly together: probes, and where judges agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

if TYPE_CHECKING:
    from pandas import DataFrame

OUTCOMES = {
    "falls": Mark(style.HUES[1], "X"),
    "does not fall": Mark(style.HUES[2], "o"),
    "no answer": Mark(style.HUES[4], "o", hollow=True),
}
RIGHT, CHANGED = Mark(style.HUES[0], "o"), Mark(style.HUES[1], "s", hollow=True)
MOST = 9  # judges, or groups of units, that are drawn


def probes(tables: Tables) -> Drawn:
    """Axes for each judge, a row for each probe: how much more often the attacked text wins."""
    frame = tables["manipulation"]
    judges = _first(frame, "judge")
    names = list(dict.fromkeys(frame["probe"]))
    figure, axes = style.multiples(judges, 0.7, 0.7 + 0.24 * len(names), sharex=True, sharey=True)
    for side, judge in zip(axes.flat, judges, strict=False):
        own = {row["probe"]: row for row in records(frame[frame["judge"] == judge])}
        for place, name in zip(style.name_rows(side, names), names, strict=True):
            if not style.interval(side, place, own[name], OUTCOMES[own[name]["answer"]]):
                style.unscored(side, place)
        style.reference_line(side, 0.0)
        side.set_title(format.shorten(format.text(judge), 30))
    shown = [key for key in OUTCOMES if (frame["answer"] == key).any()]
    style.legend(figure, [style.key(OUTCOMES[key], key) for key in shown])
    said = (
        "How much more often a text wins after a manipulation than after an edit that changes "
        f"nothing, with 95 % intervals.{_left_out(frame, 'judge', judges)}"
    )
    return Drawn("Manipulated texts", figure, style.with_n(said, frame, "pairs"))


def disagreement(tables: Tables) -> Drawn:
    """Axes for each group of units: by how many judges agree, whether their majority is right."""
    frame = tables["disagreement_map"]
    groups = _first(frame, "units")
    figure, axes = style.multiples(groups, 0.9, 2.1, sharex=True, sharey=True)
    for side, group in zip(axes.flat, groups, strict=False):
        rows = records(frame[frame["units"] == group])
        for place, row in enumerate(rows):
            _bin(side, place, row)
        side.set_xticks(range(len(rows)), [f"{row['from']:.0%}" for row in rows])
        side.set_ylim(-0.05, 1.2)
        side.set_yticks([0, 0.5, 1])
        side.set_title(format.shorten(format.text(group), 30))
    for side in axes[-1]:
        side.set_xlabel("Judges that give one answer, from")
    keys = [style.key(RIGHT, "majority agrees with people")]
    keys.append(style.key(CHANGED, "answer changes without some family"))
    style.legend(figure, keys)
    said = (
        "Units by the share of judges that give the most frequent answer in both orders; figures "
        "on top: how many units. Judges that are fooled alike agree, too: where many do and the "
        "circles lie low, agreement misleads. Lines are 95 % intervals."
        f"{_left_out(frame, 'units', groups)}"
    )
    return Drawn("Where judges agree", figure, said)


def _bin(side: Any, place: int, row: dict[str, Any]) -> None:
    if not row["count"]:
        return
    found = read_estimate(row, "majority_right")
    style.interval(side, place - 0.12, found, RIGHT, upright=True)
    style.interval(side, place + 0.12, {"value": row["changed"]}, CHANGED, upright=True)
    side.annotate(str(int(row["count"])), (place, 1.1), ha="center", fontsize=7, color=style.MUTED)


def _first(frame: DataFrame, column: str) -> list[str]:
    return list(dict.fromkeys(frame[column]))[:MOST]


def _left_out(frame: DataFrame, column: str, shown: list[str]) -> str:
    more = frame[column].nunique() - len(shown)
    return f" The first {len(shown)} of {len(shown) + more}." if more else ""


DRAWINGS: dict[str, Drawing] = {"audit_probes": probes, "audit_disagreement": disagreement}
