"""What starts fast must not load what it does not need."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from judgelab.report import page
from tests.e2e.conftest import inside, process

PLAN = ("study=plan", "study.r=.3", "study.sd=.25", "study.delta=.05", "study.confidence=.95")
NEVER = {"torch", "transformers", "statsmodels", "sacrebleu", "openai", "wandb", "scipy.stats"}
FINISHED = NEVER | {"pandas", "xarray", "matplotlib", "pyarrow", "scipy", "joblib"}


def imported(folder: Path, *overrides: str) -> set[str]:
    """The modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "run.py", *overrides, "tracker=none"]
    done = process(folder, command)
    assert "Finished before" in done.stdout or "records" in done.stdout
    return set(re.findall(r"(?m)^import time:.*\|\s*(\S+)$", done.stderr))


@pytest.mark.parametrize("command", [PLAN, ("mechanism=length",)], ids=["plan", "length"])
def test_little_is_imported_and_less_for_a_finished_run(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    first = imported(tmp_path, *command)
    assert not first & NEVER
    assert ("xarray" in first) == (command is not PLAN), "a plan measures no text"
    again = imported(tmp_path, *command)
    assert "hydra" in again and not again & FINISHED


def test_the_answer_comes_before_figures_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(run_dir: object) -> None:
        assert "1,504" in capsys.readouterr().out
        raise InterruptedError

    monkeypatch.setattr(page, "write", late)
    with pytest.raises(InterruptedError):
        inside(tmp_path, [*PLAN, "tracker=none"])
