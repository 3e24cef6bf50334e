"""Composing while a program runs, and values as a command line has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from judgelab.config.composing import composed, written


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


@pytest.mark.parametrize(
    "value",
    [True, None, "6", 0.5, "null", "it's {x}, [y].txt", "", [1, "x y", True], {"My Agent": "A"}],
)
def test_values_are_written_as_hydra_reads_them(value: object) -> None:
    read = OverridesParser.create().parse_override(f"++key={written(value)}").value()
    assert read == value
