"""The first lines of a page: what was run, the numbers to look at, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgelab.report import document as html
from judgelab.report import format

MOST = 12  # cards


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
    """The estimates of the summary as large numbers, one row for each panel, primary marked."""
    groups: dict[str, list[str]] = {}
    for key in headline(result):
        group = key.rpartition("/")[0]
        groups.setdefault(group, []).append(_card(key, result))
    return "".join(f'<div class="cards">{"".join(group)}</div>' for group in groups.values())


def headline(result: Mapping[str, Any]) -> list[str]:
    """The summary entries that have an interval, and the primary one; twelve at most.

    JSON has its keys sorted; the order of the tables' rows decides which comes first.
    """
    summary, primary = result["summary"], result["primary"]
    keys = [key for key in summary if f"{key}_low" in summary and summary[key] is not None]
    order = [
        f"{row.get('panel')}/{row.get('statistic')}" for t in result["tables"] for row in t["rows"]
    ]
    group = primary.rpartition("/")[0]

    def rank(key: str) -> tuple[bool, bool, int]:
        return key.rpartition("/")[0] != group, key not in order, _place(order, key)

    keys.sort(key=rank)
    if primary in summary and primary not in keys:
        keys.insert(0, primary)
    return keys[:MOST]


def unscored(result: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for every count of unscored things that is not 0."""
    summary = result["summary"]
    for key, value in summary.items():
        if not key.endswith("unscored_texts") or not value:
            continue
        panel = key.rpartition("/")[0]
        yield f"{format.number(value)} texts of the {panel} panel have no score."
    for key in headline(result):
        left_out = summary.get(f"{key}_unscored")
        if left_out:
            total = left_out + (summary.get(f"{key}_n") or 0)
            yield (
                f"{_name(key)}: {format.number(left_out)} of {format.number(total)} items "
                "say nothing and are left out."
            )


def _place(order: list[str], key: str) -> int:
    return order.index(key) if key in order else len(order)


def _name(key: str) -> str:
    """``clean/pair_auc`` is "pair AUC, clean"."""
    panel, _, statistic = key.rpartition("/")
    name = format.words(statistic)
    return f"{name}, {format.words(panel)}" if panel else name


def _card(key: str, result: Mapping[str, Any]) -> str:
    summary = result["summary"]
    value = summary.get(key)
    shown = format.estimate(value, summary.get(f"{key}_low"), summary.get(f"{key}_high"))
    number, _, interval = shown.partition(" ")
    facts = [f"n = {format.number(n)}"] if (n := summary.get(f"{key}_n")) is not None else []
    if summary.get(f"{key}_unscored"):
        facts.append(f"{format.number(summary[f'{key}_unscored'])} unscored")
    if summary.get(f"{key}_p") is not None:
        facts.append(f"p {_relation(format.p_value(summary[f'{key}_p']))}")
    lines = [
        html.tag("span", _name(key), "name"),
        html.tag("b", number),
        html.tag("span", f"95 % {interval}") if interval else "",
        html.tag("span", ", ".join(facts)) if facts else "",
    ]
    first = " first" if key == result["primary"] else ""
    return f'<div class="card{first}">{"".join(lines)}</div>'


def _relation(p: str) -> str:
    return p.replace("<", "< ") if p.startswith("<") else f"= {p}"
