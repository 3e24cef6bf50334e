"""What is refused before Hydra starts, because Hydra would take it and then ignore it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from judgelab.config.launch import check_folder, check_sweep, rehearsed, sentence
from judgelab.core.errors import ConfigError


def test_several_sweeps_at_once_are_refused() -> None:
    with pytest.raises(ConfigError, match="one at a time"):
        check_sweep(["-m", "sweep=gem_figure_4,gem_figure_5"])
    assert check_sweep(["dataset.path=sweep=a,b", "sweep=null"]) is None
    assert check_sweep(["-m", "sweep=gem_figure_5"]) == "gem_figure_5"


def test_a_folder_that_nothing_would_be_written_into_is_refused() -> None:
    check_folder(["hydra.sweep.dir=x", "paths.root=hydra.run.dir=x"])
    with pytest.raises(ConfigError, match=r"paths\.root="):
        check_folder(["mechanism=mi", "hydra.run.dir=x"])


def test_a_rehearsal_adds_what_nobody_set() -> None:
    words = ["sweep=tvd_mi_figure_2", "rehearsal=true", "limit=9"]
    added = rehearsed(words)
    assert added[:3] == words
    assert "evaluation_lm=compression" in added
    assert "limit=4" not in added
    assert rehearsed(words[:1]) == words[:1]
    assert "evaluation_lm=compression" in rehearsed([words[0], "rehearsal=True"])
    own, base = (rehearsed([f"sweep=dhp_figure_{k}", "rehearsal=true"]) for k in (4, 3))
    assert own[2:] == base[2:]  # Figure 4 starts from Figure 3
    table = rehearsed(["sweep=tvd_mi_table_2", "rehearsal=true"])[2:]
    assert "agents.most=2" in table and "agents=rules" in table  # its own, and Figure 2's
    assert "dataset.source=hub" not in table and table.count("~evaluation_lm@lms.critic") == 1
    assert "preprocessor=rules" in rehearsed(["experiment=gem_finetune", "rehearsal=true"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rehearsal=true"], "without sweep=NAME there is no rehearsal"),
        (["rehearsal=true", "sweep=auto_pre_figure_3"], "sweep=auto_pre_figure_3 has no rehearsal"),
        (["rehearsal=true", "experiment=x"], "experiment=x has no rehearsal"),
        (["rehearsal=true", "sweep=surprise"], "sweep=surprise has no rehearsal"),
    ],
)
def test_a_rehearsal_of_nothing_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        rehearsed(words)


def test_a_fault_of_somebodys_own_module_is_not_called_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "surprising.py").write_text("def fails():\n    raise ValueError('no')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="no") as own:
        importlib.import_module("surprising").fails()
    assert "fault of surprising" in sentence(own.value)
    with pytest.raises(TypeError) as ours:
        rehearsed(5)  # type: ignore[arg-type]
    assert "fault of judgelab" in sentence(ours.value)
