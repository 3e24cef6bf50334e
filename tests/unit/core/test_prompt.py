"""Prompts by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.prompt import Prompt


def test_a_file_in_the_working_directory_hides_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Prompt("judge.txt").identity
    monkeypatch.chdir(tmp_path)
    for name in ("judge.txt", "mine.txt"):
        Path(name).write_text("Other words: {source}")
    assert Prompt("judge.txt").identity == before
    assert Prompt("judge.txt").shipped
    for own in ("./judge.txt", str(tmp_path / "judge.txt"), "mine.txt"):
        assert Prompt(own).template == "Other words: {source}"
        assert not Prompt(own).shipped
    with pytest.raises(ConfigError, match=r"'none\.txt' cannot be read"):
        Prompt("none.txt")
