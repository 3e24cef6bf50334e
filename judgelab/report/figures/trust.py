"""Judges and how far they can be trusted: agreement beside controls, and by verdict."""

from __future__ import annotations

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
CONTROL, PEOPLE = "best control", "people with each other"
ROWS = 24  # judges that stand below each other
NAMED = 80  # judges whose names are written where they stand beside each other
NEEDED = {"color": VERDICTS["trust"].colour, "lw": 1.1, "ls": ":"}
SAID = (
    "How often each judge agrees with people, by its verdict; lines are 95 % intervals. Best "
    "control: the best of those that know nothing of quality, on the same items."
)


def audit(tables: Tables) -> Drawn:
    """Agreement of each judge with its interval, its best control, and people's agreement."""
    frame = tables["evidence"].dropna(subset=["agreement"])
    rows = records(frame)
    upright = len(rows) > ROWS
    figure, side = style.single(4.8 if upright else 1.1 + 0.3 * len(rows))
    if upright:
        places = _columns(side, rows)
        side.set_ylabel("Agreement with people")
    else:
        places = list(style.name_rows(side, frame["judge"]))
        side.set_xlabel("Agreement with people")
    drawn = {name for place, row in zip(places, rows, strict=True)
             for name in _judge(side, place, row, upright=upright)}  # fmt: skip
    keys = [
        style.key(mark, f"{name} ({n})")
        for name, mark in VERDICTS.items()
        if (n := sum(row["verdict"] == name for row in rows))
    ]
    keys += [style.key(_tick(name, upright), name) for name in (CONTROL, PEOPLE) if name in drawn]
    needed = {row.get("needed") for row in rows if _known(row.get("needed"))}
    if len(needed) == 1:
        (side.axhline if upright else side.axvline)(needed.pop(), **NEEDED, zorder=1)
        keys.append(style.line(NEEDED["color"], NEEDED["ls"], "needed for trust"))
    style.legend(figure, keys)
    n = sorted({int(row["labelled"]) for row in rows})
    many = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
    return Drawn("Who can be trusted here", figure, f"{SAID} n\u00a0=\u00a0{many} labelled items.")


def _columns(side: Any, rows: list[dict[str, Any]]) -> list[int]:
    """A column for each judge, with its name in small where there is room."""
    side.set_xlim(-1, len(rows))
    side.grid(axis="y")
    names = [format.shorten(format.text(row["judge"]), 34) for row in rows]
    shown = names if len(rows) <= NAMED else []
    side.set_xticks(range(len(shown)), shown, rotation=90, fontsize=5.5)
    if not shown:
        side.set_xlabel(f"{len(rows)} judges, by verdict and agreement")
    return list(range(len(rows)))


def _judge(side: Any, place: float, row: dict[str, Any], *, upright: bool) -> list[str]:
    """One judge; returns which ticks were drawn beside it."""
    found = {part: row.get(key) for part, key in _KEYS.items()}
    style.interval(side, place, found, VERDICTS[row["verdict"]], upright=upright)
    gain, people = row.get("gain"), row.get("people")
    at = {CONTROL: row["agreement"] - gain} if _known(gain) else {}
    at |= {PEOPLE: people} if _known(people) else {}
    for name, value in at.items():
        mark = _tick(name, upright)
        point = ([place], [value]) if upright else ([value], [place])
        side.plot(*point, marker=mark.shape, ms=mark.size, mew=1.5, color=mark.colour, zorder=2)
    return list(at)


def _tick(name: str, upright: bool) -> Mark:
    colour = style.MUTED if name == CONTROL else style.INK
    return Mark(colour, "_" if upright else "|", size=6 if upright else 11)


def _known(value: Any) -> bool:
    return value is not None and value == value


_KEYS = {"value": "agreement", "low": "agreement_low", "high": "agreement_high"}

DRAWINGS: dict[str, Drawing] = {"audit": audit}
