"""Judges and how far they can be trusted: agreement beside controls, and by verdict."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from judgelab.report import format
from judgelab.report.figures import style
from judgelab.report.figures.style import Drawing, Drawn, Mark, Tables
from judgelab.report.tables import records

VERDICTS = {
    "trust": Mark(style.HUES[2], "o"),
    "trust after correction": Mark(style.HUES[0], "s"),
    "cannot say yet": Mark(style.HUES[4], "o", hollow=True),
    "do not trust": Mark(style.HUES[1], "X"),
}
CONTROL = Mark(style.MUTED, "|", size=9)
PEOPLE = Mark(style.INK, "|", size=13)
NAMED = 24  # judges whose names fit beside their rows
SAID = (
    "How often each judge agrees with people, by its verdict. Lines are 95 % intervals; the grey "
    "tick is the best control on the same items: something that knows nothing of quality."
)


def audit(tables: Tables) -> Drawn:
    """Agreement of each judge with its interval, its best control, and people's agreement."""
    frame = tables["evidence"].dropna(subset=["agreement"])
    rows = records(frame)
    people = bool("people" in frame and frame["people"].notna().any())
    if len(rows) <= NAMED:
        figure, side = style.single(1.1 + 0.3 * len(rows))
        places = list(style.name_rows(side, frame["judge"]))
        side.set_xlabel("Agreement with people")
    else:
        figure, side = style.single(4.0)
        places = list(range(len(rows)))
        side.set_ylabel("Agreement with people")
        side.grid(axis="y")
    upright = len(rows) > NAMED
    for place, row in zip(places, rows, strict=True):
        _judge(side, place, row, upright=upright)
    keys = [
        style.key(mark, f"{name} ({n})")
        for name, mark in VERDICTS.items()
        if (n := sum(row["verdict"] == name for row in rows))
    ]
    keys.append(style.key(Mark(style.MUTED, "_" if upright else "|", size=9), "best control"))
    if people:
        keys.append(style.key(Mark(style.INK, "_" if upright else "|", size=12), "people"))
    style.legend(figure, keys)
    if upright:
        _many(figure, side, rows)
    said = SAID + (" The dark tick is how often people agree with each other." if people else "")
    n = [int(row["labelled"]) for row in rows if row.get("labelled") == row.get("labelled")]
    if n:
        many = f"{min(n)}" if min(n) == max(n) else f"{min(n)} to {max(n)}"
        said += f" n\u00a0=\u00a0{many} labelled items."
    return Drawn("Who can be trusted here", figure, said)


def _judge(side: Any, place: float, row: dict[str, Any], *, upright: bool) -> None:
    found = {part: row.get(key) for part, key in _KEYS.items()}
    style.interval(side, place, found, VERDICTS[row["verdict"]], upright=upright)
    gain = row.get("gain")
    ticks = [] if gain is None or gain != gain else [(row["agreement"] - gain, CONTROL)]
    if row.get("people") is not None and row["people"] == row["people"]:
        ticks.append((row["people"], PEOPLE))
    for at, mark in ticks:
        point = ([place], [at]) if upright else ([at], [place])
        shape = "_" if upright else "|"
        width = 0.5 * mark.size if upright else mark.size
        side.plot(*point, marker=shape, ms=width, mew=1.6, color=mark.colour, zorder=2)


_KEYS = {"value": "agreement", "low": "agreement_low", "high": "agreement_high"}


def _many(figure: Any, side: Any, rows: list[dict[str, Any]]) -> None:
    """Judges side by side without names, but for the first and last of each verdict."""
    starts = [0, *(k for k, (a, b) in enumerate(pairwise(rows), 1) if a["verdict"] != b["verdict"])]
    for start in starts[1:]:
        side.axvline(start - 0.5, **style.DASHED)
    side.set_xticks([])
    side.set_xlim(-1, len(rows))
    side.set_xlabel(f"{len(rows)} judges, by verdict and agreement")
    points = [(start, rows[start]["agreement"], rows[start]["judge"]) for start in starts]
    style.label_points(figure, side, [(x, y, format.text(name)) for x, y, name in points])


DRAWINGS: dict[str, Drawing] = {"audit": audit}
