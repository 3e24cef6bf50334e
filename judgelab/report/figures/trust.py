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
CONTROL, PEOPLE = "control", "people with each other"
ROWS = 24  # judges that stand below each other
NAMED = 80  # judges whose names are written where they stand beside each other
NEEDED: dict[str, Any] = {"color": VERDICTS["trust"].colour, "lw": 1.1, "ls": ":"}
SAID = (
    "How often each judge agrees with people, by its verdict; lines are 95 % intervals. Control: "
    "the best of those that know nothing of quality, on the same items."
)


def audit(tables: Tables) -> Drawn:
    """Agreement of each judge with its interval, its control, and people's agreement."""
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
    absent = tables["evidence"].query("agreement.isna()")["judge"].map(str)
    left = f" Not drawn, for want of an agreement: {', '.join(absent)}." if len(absent) else ""
    said = f"{SAID} n\u00a0=\u00a0{many} labelled items.{left}"
    return Drawn("Who can be trusted here", figure, said)


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
    other = {CONTROL: row.get("its_agreement"), PEOPLE: row.get("people")}
    at = {name: value for name, value in other.items() if _known(value)}
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


def estimates(tables: Tables) -> Drawn:
    """The number of every judge by itself, by people alone, and corrected by labels."""
    frame = tables["estimate"]
    number = frame["number"].iloc[0]
    rows = _first(tables, records(frame[frame["number"] == number]))
    figure, side = style.single(1.1 + 0.42 * len(rows))
    heights = style.name_rows(side, [row["judge"] for row in rows])
    for y, row in zip(heights, rows, strict=True):
        for shift, (key, (mark, _)) in zip((0.22, 0.0, -0.22), WAYS.items(), strict=True):
            ends = {"value": row[key], "low": row[f"{key}_low"], "high": row[f"{key}_high"]}
            style.interval(side, y + shift, ends, mark)
    side.set_xlabel(format.text(number))
    style.legend(figure, [style.key(mark, label) for mark, label in WAYS.values()])
    said = (
        "The judge's own interval is the one usually printed; where it misses people's, the judge "
        "is off. Corrected: labels and verdicts together (PPI++). Lines are 95 % intervals."
    )
    return Drawn("The number by the judge, by people, and corrected", figure, said)


def calibration(tables: Tables) -> Drawn:
    """What people say where a judge says so, one panel for each judge."""
    frame = tables["calibration"]
    rows = records(frame)
    names = [row["judge"] for row in _first(tables, _heads(rows), MAPS)]
    figure, axes = style.multiples(names, 0.4, 2.2)
    for side, name in zip(axes.flat, names, strict=False):
        own = [row for row in rows if row["judge"] == name]
        named = isinstance(own[0]["judge_says"], str)
        for place, row in enumerate(own):
            found = {p: row[f"people{end}"] for p, end in _ENDS.items()}
            x = place if named else row["judge_says"]
            style.interval(side, x, found, Mark(style.HUES[0]), upright=True)
        if named:
            side.set_xticks(range(len(own)), [format.text(row["judge_says"]) for row in own])
        else:
            values = [row["judge_says"] for row in own]
            ends = [min(values), max(values)]
            side.plot(ends, ends, **style.DASHED)
        side.set_title(format.shorten(format.text(name), 30), fontsize=9)
        side.set_xlabel("Judge")
    for side in axes[:, 0]:
        side.set_ylabel("People")
    said = (
        "What people say where the judge says so: of grades and preferences their mean, which on "
        "the dashed line is the judge's value; of categories how often they choose the same. Lines "
        "are 95 % intervals."
    )
    return Drawn("What do people say where a judge says so?", figure, said)


def abstention(tables: Tables) -> Drawn:
    """How often each judge is wrong where it decides, by the share that it decides."""
    rows = records(tables["abstention"])
    names = [row["judge"] for row in _first(tables, _heads(rows), len(style.HUES))]
    figure, side = style.single(3.6)
    for name, hue in zip(names, style.HUES, strict=False):
        own = sorted((row for row in rows if row["judge"] == name), key=lambda row: row["coverage"])
        side.plot([row["coverage"] for row in own], [row["wrong"] for row in own], color=hue, lw=1)
        for row in own:
            found = {"value": row["wrong"], "low": row["low"], "high": row["high"]}
            mark = Mark(hue, hollow=not row["accepted"])
            style.interval(side, row["coverage"], found, mark, upright=True)
    side.set_ylim(bottom=0)
    side.set_xlim(-0.02, 1.02)
    side.grid(axis="y")
    side.set_xlabel("Share that the judge decides")
    side.set_ylabel("Wrong, by people")
    marks = zip(names, style.HUES, strict=False)
    style.legend(figure, [style.key(Mark(hue), format.shorten(n, 40)) for n, hue in marks])
    said = (
        "Each judge leaves what it is unsure of to people. Filled: surely wrong no more often than "
        "asked for (see the table). Lines are 95 % intervals."
    )
    return Drawn("Where may a judge decide alone?", figure, said)


def _heads(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row of each judge."""
    return list({row["judge"]: row for row in reversed(rows)}.values())[::-1]


def _first(tables: Tables, rows: list[dict[str, Any]], most: int = 12) -> list[dict[str, Any]]:
    """The rows of the first judges by verdict."""
    order = {name: k for k, name in enumerate(tables["verdicts"]["judge"])}
    known = [row for row in rows if row["judge"] in order]
    return sorted(known, key=lambda row: order[row["judge"]])[:most]


_ENDS = {"value": "", "low": "_low", "high": "_high"}
MAPS = 6  # panels of a figure
WAYS = {
    "judge_alone": (Mark(style.HUES[1], "X"), "judge alone, as usually printed"),
    "people_alone": (Mark(style.MUTED, "s"), "people alone"),
    "corrected": (Mark(style.HUES[2], "o"), "corrected"),
}

DRAWINGS: dict[str, Drawing] = {
    "audit": audit,
    "audit_estimates": estimates,
    "audit_calibration": calibration,
    "audit_abstention": abstention,
}
