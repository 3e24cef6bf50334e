"""The main job, end to end: finished, recognised, resumed, refused; and what it loads."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from judgelab.report import page
from tests.e2e.conftest import Command, cached_calls, inside, only_run, process, result, started

MAIN = ("mechanism=tvd_mi", "dataset=xsum", "attack=case_flip")


@pytest.mark.parametrize("mechanism", ["mi", "random"])
def test_information_discriminates_the_rule_based_panel_and_chance_does_not(
    judgelab: Command, tmp_path: Path, mechanism: str
) -> None:
    done = judgelab(f"mechanism={mechanism}", "dataset=xsum", "tracker=none")
    assert (done.returncode, done.stderr) == (0, "")
    found = result(tmp_path)["summary"]
    assert (found["clean/effect_size_low"] > 0) == (mechanism == "mi")
    assert (found["clean/auc_low"] > 0.5) == (mechanism == "mi")
    assert found["clean/auc_high"] > 0.5 and found["clean/effect_size_high"] > 0
    assert "synthetic" in done.stdout


def test_the_command_of_the_front_page(judgelab: Command, tmp_path: Path) -> None:
    main = (*MAIN, "limit=6")  # the README's tests run it on all items
    first = judgelab(*main, "tracker=none")
    assert first.returncode == 0, first.stderr
    run = only_run(tmp_path)
    names = {p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file()}
    assert {"DONE", "config.yaml", "report.html", "records/attacked_scores.parquet"} <= names
    assert any(name.startswith("figures/") for name in names)
    before = {p: p.stat().st_mtime_ns for p in run.rglob("*") if p.is_file() and p.name != ".lock"}
    again = judgelab(*main, "tracker=none")
    assert again.returncode == 0 and "Finished before" in again.stdout
    assert before == {p: p.stat().st_mtime_ns for p in before}

    before_force = (run / "result.json").read_bytes()
    forced = judgelab(*main, "force=true", "tracker=none", "evaluation_lm.workers=1")
    assert forced.returncode == 0 and "Finished before" not in forced.stdout
    assert (only_run(tmp_path) / "result.json").read_bytes() == before_force
    repeated = json.loads((run / "manifest.json").read_text())["calls"]
    assert repeated["computed"] == 0, "the cache knows every call of the first run"


def test_killed_then_the_same_bytes_and_nothing_twice(judgelab: Command, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    job = (*MAIN, "tracker=none", "limit=5")
    assert judgelab(*job, root=whole).returncode == 0
    total = cached_calls(whole)

    victim = started(broken, job)
    limit = time.monotonic() + 120
    while cached_calls(broken) < total / 4 and time.monotonic() < limit:
        time.sleep(0.05)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    saved = cached_calls(broken)
    assert 0 < saved < total
    assert not list(broken.glob("runs/*/DONE"))

    assert judgelab(*job, root=broken).returncode == 0
    run, other = only_run(broken), only_run(whole)
    assert run.name == other.name
    assert (run / "result.json").read_bytes() == (other / "result.json").read_bytes()
    calls = json.loads((run / "manifest.json").read_text())["calls"]
    assert calls["computed"] == total - saved


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("mechnism=mi",), "mechnism is not a known key. Did you mean 'mechanism'?"),
        (("+mechanism.critc=chat",), "mechanism.critc is not a known key. Did you mean 'critic'?"),
        (("dataset=jsonl",), "dataset.path is missing: give dataset.path=VALUE."),
        (("mechanism=tvd_mi", "limit=2"), "raise limit"),
        (("dataset.source=hub",), "dataset.source=sample"),
        (("agents=recorded",), "agents=rules"),
    ],
)
def test_mistakes_end_in_one_sentence(
    judgelab: Command, overrides: tuple[str, ...], message: str
) -> None:
    done = judgelab(*overrides, "tracker=none")
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_help_lists_every_axis_and_cfg_shows_the_config(judgelab: Command) -> None:
    shown = judgelab("--help").stdout
    axes = [line.partition(": ")[0] for line in shown.splitlines() if re.match(r"[a-z_/]+: ", line)]
    assert len(axes) == len(set(axes)) and not [axis for axis in axes if "papers" in axis]
    for line in ("mechanism: ", "attack: ", "dataset: ", "evaluation_lm: ", "tvd_mi", "case_flip"):
        assert line in shown
    config = judgelab("--cfg", "job", "mechanism=mi").stdout
    assert "_target_: judgelab.mechanism.mi.Mi" in config


PLAN = ("study=plan", "study.r=.3", "study.sd=.25", "study.delta=.05", "study.confidence=.95")
NEVER = {"torch", "transformers", "statsmodels", "sacrebleu", "openai", "wandb", "scipy.stats"}
FINISHED = NEVER | {"pandas", "xarray", "matplotlib", "pyarrow", "scipy", "joblib"}


def imported(folder: Path, *overrides: str) -> set[str]:
    """The modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "run.py", *overrides, "tracker=none"]
    done = process(folder, command)
    assert "Finished before" in done.stdout or "records" in done.stdout
    return set(re.findall(r"(?m)^import time:.*\|\s*(\S+)$", done.stderr))


@pytest.mark.parametrize("command", [PLAN, ("mechanism=length", "limit=4")], ids=["plan", "length"])
def test_little_is_imported_and_less_if_finished(command: tuple[str, ...], tmp_path: Path) -> None:
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
