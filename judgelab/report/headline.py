"""The first lines of a page: what was run, the numbers to look at, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgelab.report import document as html
from judgelab.report import format

MOST = 8  # cards


def heading(result: Mapping[str, Any]) -> str:
    """``tvd_mi on xsum, attacked by case_flip``, as far as the summary says so."""
    summary = result["summary"]
    subject = summary.get("mechanism") or summary.get("study") or "judgelab run"
    said = str(subject)
    if summary.get("dataset"):
        said += f" on {summary['dataset']}"
    if summary.get("attack") not in (None, "", "none"):
        said += f", attacked by {summary['attack']}"
    return said


def cards(result: Mapping[str, Any]) -> str:
    """One card for each statistic that has an interval: its value on every panel."""
    made = [_card(statistic, keys, result) for statistic, keys in headline(result).items()]
    return f'<div class="cards">{"".join(made)}</div>' if made else ""


def headline(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Statistic -> its summary entries (clean, attacked, change), the primary's first.

    An entry counts that is a number and has an interval, and the primary one in any case.
    """
    summary, primary = result["summary"], result["primary"]
    keys = [key for key in summary if f"{key}_low" in summary and summary[key] is not None]
    if primary in summary and primary not in keys:
        keys.append(primary)
    first, _, best = primary.rpartition("/")
    keys.sort(key=lambda key: (not key.startswith(f"{first}/"), key.startswith("change/"), key))
    groups: dict[str, list[str]] = {}
    for key in sorted(keys, key=lambda key: key.rpartition("/")[2] != best):
        groups.setdefault(key.rpartition("/")[2], []).append(key)
    return dict(list(groups.items())[:MOST])


def unscored(result: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for every count of unscored things that is not 0."""
    summary = result["summary"]
    for key, value in summary.items():
        if not key.endswith("unscored_texts") or not value:
            continue
        panel = key.rpartition("/")[0]
        yield f"{format.number(value)} texts of the {panel} panel have no score."
    groups: dict[tuple[int, int], list[str]] = {}
    for key in (key for keys in headline(result).values() for key in keys):
        left_out = summary.get(f"{key}_unscored")
        if left_out:
            total = left_out + (summary.get(f"{key}_n") or 0)
            groups.setdefault((left_out, total), []).append(_name(key))
    for (left_out, total), names in groups.items():
        counts = f"{format.number(left_out)} of {format.number(total)} items"
        yield f"{counts} have nothing to say on {' · '.join(names)} and are left out."


def _name(key: str) -> str:
    """``clean/pair_auc`` is "pair AUC, clean"."""
    panel, _, statistic = key.rpartition("/")
    name = format.words(statistic)
    return f"{name}, {format.words(panel)}" if panel else name


def _card(statistic: str, keys: list[str], result: Mapping[str, Any]) -> str:
    lines = [html.tag("span", format.words(statistic), "name")]
    for place, key in enumerate(keys):
        number, interval, facts = _said(key, result["summary"])
        panel = format.words(key.rpartition("/")[0])
        lines.append(html.tag("b" if place == 0 else "i", number))
        lines.append(html.tag("span", " ".join(part for part in (panel, interval) if part)))
        if facts:
            lines.append(html.tag("span", facts))
    kind = "card first" if result["primary"] in keys else "card"
    return f'<div class="{kind}">{"".join(lines)}</div>'


def _said(key: str, summary: Mapping[str, Any]) -> tuple[str, str, str]:
    """The number, its interval, and n, unscored and p in words."""
    value, low, high = (summary.get(f"{key}{part}") for part in ("", "_low", "_high"))
    number, _, interval = format.estimate(value, low, high).partition(" ")
    facts = [f"n = {format.number(n)}"] if (n := summary.get(f"{key}_n")) is not None else []
    if summary.get(f"{key}_unscored"):
        facts.append(f"{format.number(summary[f'{key}_unscored'])} unscored")
    if summary.get(f"{key}_p") is not None:
        facts.append(f"p {_relation(format.p_value(summary[f'{key}_p']))}")
    return number, interval, ", ".join(facts)


def _relation(p: str) -> str:
    return p.replace("<", "< ") if p.startswith("<") else f"= {p}"
