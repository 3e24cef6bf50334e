"""The few figures of a run by which a dashboard sorts, groups and draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgelab.core.result import Headline, Value, estimated, read_estimate

PANELS = {"clean": "", "attacked": "", "change": "change of "}
"""What is drawn beside the primary figure, and how a statistic is called there."""


def headline(
    summary: Mapping[str, Any], primary: str, headlines: Sequence[Headline]
) -> dict[str, Value]:
    """``primary`` and ``people``, each with ``_low``, ``_high``, ``_n``, and ``_is``: its key.

    The same names in runs of every study, so that one column or panel takes them all.
    """
    made: dict[str, Value] = {}
    for name, key in _first(summary, primary, headlines).items():
        found = read_estimate(summary, key)
        kept = {"": "value", "_low": "low", "_high": "high", "_n": "n"}
        made |= {f"{name}{end}": found[part] for end, part in kept.items()}
        made[f"{name}_is"] = key
    return made


def bars(
    summary: Mapping[str, Any],
    primary: str,
    headlines: Sequence[Headline],
    name: str,
    axes: Mapping[str, str],
) -> list[dict[str, Value]]:
    """A row for each figure that is drawn with its interval.

    Columns: run, mechanism, dataset, attack (``none`` for figures of clean texts), statistic,
    value, low, high, n.
    """
    told = {"run": name} | {key: axes.get(key, "") for key in ("mechanism", "dataset")}
    rows = []
    for statistic, key in _drawn(summary, primary, headlines):
        attack = "none" if key.startswith("clean/") else axes.get("attack", "none")
        found = read_estimate(summary, key)
        numbers = {part: found[part] for part in ("value", "low", "high", "n")}
        rows.append({**told, "attack": attack, "statistic": statistic, **numbers})
    return rows


def in_words(answer: Sequence[tuple[str, str]], title: str = "") -> dict[str, Value]:
    """``answer``: what a page opens with, as one text; nothing where it opens with none."""
    said = " ".join([*filter(None, [title]), *(f"{heading}: {text}" for heading, text in answer)])
    return {"answer": said} if said else {}


def _first(
    summary: Mapping[str, Any], primary: str, headlines: Sequence[Headline]
) -> dict[str, str]:
    """The primary figure, or agreement with people where it is not known; and that agreement."""
    known = (one.key for one in headlines if one.people and summary.get(one.key) is not None)
    people = next(known, None)
    first = primary if summary.get(primary) is not None else people or primary
    return {"primary": first} | ({} if people is None else {"people": people})


def _drawn(
    summary: Mapping[str, Any], primary: str, headlines: Sequence[Headline]
) -> Iterator[tuple[str, str]]:
    """Statistic and summary key."""
    own = _first(summary, primary, headlines)
    yield from ((name, key) for name, key in own.items() if summary.get(key) is not None)
    for key in estimated(summary):
        panel, _, statistic = key.rpartition("/")
        if panel in PANELS:
            yield f"{PANELS[panel]}{statistic}", key
