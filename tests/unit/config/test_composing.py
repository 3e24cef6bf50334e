"""Composing while a program runs: once for the same words, as long as no file has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.config.composing import composed, composed_call, with_settings


def test_each_caller_has_a_config_of_its_own() -> None:
    one = composed(["mechanism=length"])
    one.seed = 7
    assert composed(["mechanism=length"]).seed == 0


def test_a_file_that_has_changed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "conf" / "mechanism" / "own_one.yaml"
    own.parent.mkdir(parents=True)
    for unit in ("words", "characters"):
        own.write_text(f"_target_: judgelab.mechanism.length.Length\nunit: {unit}\n")
        assert composed(["mechanism=own_one"]).mechanism.unit == unit


def test_settings_are_those_of_words_composed_with_the_rest() -> None:
    base, hydra = composed_call(["mechanism=length"])
    more = ["seed=3", "budget={max_calls:5}", 'paths.root="a,b c"']
    with_settings(base, hydra, more)
    whole, told = composed_call(["mechanism=length", *more])
    assert base == whole and base.budget.max_calls == 5
    assert list(hydra.overrides.task) == list(told.overrides.task)
