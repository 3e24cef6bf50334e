"""Rooms keep to their budgets: one that is full gives something up before it takes something in."""

from __future__ import annotations

from functools import cache

import yaml

from experiments import size

BUDGETS = yaml.safe_load(size.BUDGETS.read_text("utf-8"))
measured = cache(lambda: {name: one for name, one, _ in size.rooms()})


def test_no_room_is_over_its_budget() -> None:
    for kind, budgets in BUDGETS.items():
        for room, budget in budgets.items():
            now = getattr(measured()[room], kind)
            assert now <= budget, f"{room} has {now:,} {kind} of {budget:,}: give something up"


def test_the_table_names_every_room() -> None:
    rooms = {f"judgelab/{path.parent.name}" for path in size.ROOT.glob("judgelab/*/*.py")}
    assert rooms <= {*measured()} and next(iter(measured())) == "judgelab"
