"""Rooms keep to their budgets: one that is full gives something up before it takes something in."""

from __future__ import annotations

import pytest
import yaml

from experiments import size

BUDGETS = yaml.safe_load(size.BUDGETS.read_text("utf-8"))


@pytest.mark.parametrize("kind", ["lines", "files"])
def test_no_room_is_over_its_budget(kind: str) -> None:
    for room, budget in BUDGETS[kind].items():
        found = getattr(size.size(size.ROOT / room), kind)
        assert found <= budget, f"{room} has {found:,} {kind} of {budget:,}: give something up"


def test_the_table_names_every_room() -> None:
    named = [name for name, _, _ in size.rooms()]
    rooms = {f"judgelab/{path.parent.name}" for path in size.ROOT.glob("judgelab/*/*.py")}
    assert rooms <= {*named} and named[0] == "judgelab"
