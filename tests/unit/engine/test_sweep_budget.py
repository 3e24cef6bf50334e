"""Which sweeps are the same one."""

from __future__ import annotations

from pathlib import Path

import yaml

from judgelab.calls.budget import budget_file


def test_the_same_command_has_the_same_account(tmp_path: Path) -> None:
    def file(*overrides: str, params: object = None) -> Path:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        noted = {"overrides": {"task": list(overrides)}, "sweeper": {"params": params}}
        (folder / "multirun.yaml").write_text(yaml.safe_dump({"hydra": noted}))
        return budget_file(tmp_path / "calls.sqlite", folder)

    first = file("mechanism=judge,mi", "attack=none", "budget.max_cost=1")
    assert first.parent.name == "calls.sqlite.budgets"
    again = file("attack=none", "budget.max_cost=2", "mechanism=judge,mi", "tracker=none",
                 "+hydra/launcher=cores", "force=true")  # fmt: skip
    assert again == first
    others = {
        file("mechanism=judge", "attack=none"),
        file("mechanism=judge,mi", "attack=none", params={"limit": "1,2"}),
        file("mechanism=judge,mi", "attack=none", "paths_of=x"),
        budget_file(tmp_path / "calls.sqlite", tmp_path / "nothing noted"),
        budget_file(tmp_path / "calls.sqlite", tmp_path / "nothing noted either"),
    }
    assert len(others | {first}) == 6
