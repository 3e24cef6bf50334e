"""What rows of judgments say, as a panel: its items, texts, labels and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.judgment_rows import Heard, Key


def judged_panel(
    heard: Heard, where: str, facts: Mapping[str, object], limit: int | None, task: str
) -> Panel:
    """The first so many items, with their texts, labels and judgments.

    Grades that judges gave to texts are also scores of the items; ``Item.human`` is the mean of
    the raters' grades, or of preferences the share that a text won.

    Args:
        where: the table, for messages.
        facts: of its provenance, ``columns_not_read`` among them.

    Raises:
        DataError: it holds nothing that can be judged.
    """
    items = list(dict.fromkeys(key[0] for key in heard.units))[:limit]
    kept = set(items)
    keys = [key for key in heard.units if key[0] in kept]
    pairs = heard.meaning.kind == "preference"
    units = [key for key in keys if bool(key[2]) == pairs]
    if not units:
        raise DataError(
            f"{where} has no pairs of texts: kind=preference needs the columns agent and other."
        )
    grades = _grades_of_texts(heard, units) if pairs else {}
    raters = list(dict.fromkeys(rater for _, rater in heard.labels))
    of_pairs = {unit for key, unit in heard.units.items() if bool(key[2]) == pairs}
    judges = list(dict.fromkeys(j for j, unit, _ in heard.verdicts if unit in of_pairs))
    table = heard.table(units, raters, judges)
    agents = list(dict.fromkeys(name for key in heard.units for name in key[1:] if name))
    texts = tuple(tuple(_cell(heard, "text", i, name) for name in agents) for i in items)
    if not (raters or heard.verdicts or any(any(row) for row in texts)):
        rest = f" Not read are: {names}." if (names := not_read(facts)) else ""
        raise DataError(
            f"{where} holds no label, no verdict and no text: name its columns with "
            "dataset.columns.text=COLUMN, dataset.columns.human=COLUMN or, where each person or "
            f"judge has one, with dataset.raters=[...] and dataset.judges=[...].{rest}"
        )
    human, scores = grades or _human(table), _scores(heard, keys)
    made = (
        Item(
            name,
            _cell(heard, "source", name) or "",
            _cell(heard, "reference", name),
            human=human.get(name, {}),
            scores=scores.get(name, {}),
        )
        for name in items
    )
    counts = {
        "rows": len(items),
        "units": len(units),
        "raters": raters,
        "judges": judges,
        "labelled": int(table.labelled.sum()),
    }
    people = tuple(map(Agent, agents))
    return Panel(tuple(made), people, texts, task, {**facts, **counts}, table)


def not_read(facts: Mapping[str, object]) -> str:
    """Names of the columns of a table that mean nothing."""
    names = facts.get("columns_not_read") or []
    return ", ".join(map(str, names if isinstance(names, Sequence) else []))[:300]


def _grades_of_texts(heard: Heard, pairs: Sequence[Key]) -> dict[str, dict[str, float]]:
    """Item -> system -> mean grade, where people graded texts of which judges compared pairs.

    A pair that a rater has not compared gets the sign of the difference of that rater's grades.
    """
    given: dict[tuple[str, str], dict[str, float]] = {}
    numbered = {unit: key for key, unit in heard.units.items() if not key[2]}
    for (unit, rater), (value, _) in heard.labels.items():
        if unit in numbered:
            given.setdefault(numbered[unit][:2], {})[rater] = value
    for key in pairs:
        one, two = (given.get((key[0], name), {}) for name in key[1:])
        for rater in one.keys() & two.keys():
            value = (float(np.sign(one[rater] - two[rater])) + 1) / 2
            heard.labels.setdefault((heard.units[key], rater), (value, 0))
    return _by_item({key: list(values.values()) for key, values in given.items()})


def _human(table: JudgmentTable) -> dict[str, dict[str, float]]:
    """Item -> system -> the mean grade, or of preferences the share that it won."""
    if table.kind == "category":
        return {}
    truth, units = table.truth, table.units
    values: dict[tuple[str, str], list[float]] = {}
    for k in np.flatnonzero(~np.isnan(truth)):
        values.setdefault((units.item[k], units.first[k]), []).append(float(truth[k]))
        if units.second[k]:
            values.setdefault((units.item[k], units.second[k]), []).append(1 - float(truth[k]))
    return _by_item(values)


def _by_item(values: Mapping[tuple[str, str], Sequence[float]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (item, agent), given in values.items():
        found.setdefault(item, {})[agent] = float(np.mean(given))
    return found


def _scores(heard: Heard, keys: Iterable[Key]) -> dict[str, dict[str, dict[str, float]]]:
    """Item -> judge -> system -> grade, where judges graded texts."""
    numbered = {heard.units[key]: key for key in keys if not key[2]}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (judge, unit, _), (value, _) in heard.verdicts.items():
        if unit in numbered and value == value and heard.meaning.kind != "category":
            item, agent, _ = numbered[unit]
            found.setdefault(item, {}).setdefault(judge, {})[agent] = value
    return found


def _cell(heard: Heard, name: str, *whose: str) -> str | None:
    value = heard.facts.get((name, *whose))
    return value[0] if value else None
