"""Which category each agent name of the TVD-MI paper belongs to (taxonomy.yaml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from judgelab.core.panel import Agent

_DATA = yaml.safe_load((Path(__file__).parent / "taxonomy.yaml").read_text(encoding="utf-8"))

TAXONOMY: Mapping[str, Mapping[str, Sequence[str]]] = _DATA["categories"]
"""Task -> category -> names, in the order in which the released code draws pairs."""

PAPER_DIFFERS: Mapping[str, Mapping[str, str]] = _DATA["paper_differs"]
"""Task -> name -> the category printed in the paper, where the released code has another."""


def category(task: str, name: str) -> str:
    """The code's category of an agent name; ``Other`` for a name that the release never had."""
    groups = TAXONOMY.get(task, {})
    return next((group for group, names in groups.items() if name in names), "Other")


def paper_category(task: str, name: str) -> str:
    """The category printed in the paper's Tables 7-9."""
    return PAPER_DIFFERS.get(task, {}).get(name, category(task, name))


def pairing_order(task: str) -> list[str]:
    """The names of a task in the order in which the released code pairs them."""
    return [name for names in TAXONOMY.get(task, {}).values() for name in names]


def task_of(names: Iterable[str]) -> str:
    """The task whose taxonomy knows most of these names; the first one on a tie."""
    present = set(names)
    return max(TAXONOMY, key=lambda task: len(present.intersection(pairing_order(task))))


def released_agent(name: str, task: str, **told: object) -> Agent:
    """The agent of a name.

    Args:
        told: ``category``, ``category_paper``, ``strategy`` and ``reading`` (prompts), where the
            release says so; otherwise the categories follow from the name.
    """
    meta = {
        "category_paper": told.get("category_paper") or paper_category(task, name),
        "strategy": told.get("strategy"),
        "reading": told.get("reading"),
    }
    return Agent(
        name=name,
        category=str(told.get("category") or category(task, name)),
        reference=name == "Reference",
        meta={key: str(value) for key, value in meta.items() if value},
    )
