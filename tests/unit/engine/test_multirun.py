"""A multirun has a name, an exit code and one place where a tracker shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from judgelab.calls.budget import budget_file
from judgelab.core.result import Result
from judgelab.engine.execution import Invocation, catch_up, tracked_run
from judgelab.engine.multirun import compare, tracked_sweep
from judgelab.engine.study import Study
from judgelab.engine.sweep import SweepName
from judgelab.store.run_dir import RunDir
from judgelab.tracker.none import NoTracker
from judgelab.tracker.protocol import Mirror, TrackedRun, TrackedSweep
from tests.unit.report.report_results import result, write_job, write_run

CHOICES = {"study": "discrimination", "dataset": "xsum", "evaluation_lm": "compression"}


def composed(*words: str, **choices: str | None) -> Any:
    """As Hydra hands a multirun over."""
    runtime = {"choices": {"dataset": "xsum", "sweep": None, **choices}}
    hydra = {"overrides": {"task": list(words)}, "runtime": runtime, "sweeper": {"params": None}}
    return OmegaConf.create({"hydra": {**hydra, "sweep": {"dir": "outputs/sweeps/mine"}}})


def named(*words: str, **choices: str | None) -> SweepName:
    return SweepName.of(composed(*words, **choices), has_name=False)


def test_a_sweep_is_named_by_what_varies_and_the_same_one_alike() -> None:
    one = named("mechanism=mi,length", "attack=none,padding", "tracker=none")
    assert one.varies == ("mechanism", "attack")
    assert one.name[:-7] == "mechanism × attack on xsum"
    again = named("attack=none,padding", "mechanism=mi,length", "force=true")
    assert again.name[-6:] != one.name[-6:], "in another order it is called otherwise"
    assert named("mechanism=mi,length", "attack=none,padding").name == one.name
    assert named("mechanism=mi,rouge", "attack=none,padding").name != one.name
    assert named("dataset=xsum,samsum", "seed=range(3)").varies == ("dataset", "seed")
    assert named("limit=2", sweep="dhp_figure_4").name.startswith("dhp_figure_4 ")
    mine = SweepName.of(composed("mechanism=mi,length"), has_name=True)
    assert mine == SweepName("mine", ("mechanism",))


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Two finished jobs and one that failed, in a sweep that has a name."""
    folder = tmp_path / "sweeps" / "s"
    for number, mechanism in enumerate(("mi", "rouge")):
        run = tmp_path / "runs" / f"{mechanism}-{number}"
        write_run(run, result(3, ("clean",), auc=0.6 + 0.1 * number))
        choices = {"mechanism": mechanism, "attack": "none"}
        write_job(folder, number, choices, status="done", run=str(run))
    write_job(folder, 10, {"mechanism": "gppm", "attack": "none"}, status="failed", error="no")
    SweepName("mechanism on xsum 0a1b2c", ("mechanism",)).write(folder)
    return folder


def test_a_job_is_called_by_what_it_alone_has(sweep: Path) -> None:
    words = ["mechanism=mi", "limit=3"]
    call = Invocation(words, {**CHOICES, "mechanism": "mi", "attack": "none"}, job=sweep / "0")
    alone = tracked_run(RunDir(sweep / "mi-xsum-none-0f"), {}, call, Study.named_by)
    assert (alone.name, alone.sweep) == ("mi-xsum-none-0f", None)
    call = Invocation(words, call.choices, job=sweep / "0", sweep=sweep)
    job = tracked_run(RunDir(sweep / "mi-xsum-none-0f"), {}, call, Study.named_by)
    assert (job.name, job.sweep) == ("mi", "mechanism on xsum 0a1b2c")
    assert job.axes["attack"] == "none"
    judged = Invocation(words, {**call.choices, "study": "audit"}, job=sweep / "0", sweep=sweep)
    axes = tracked_run(RunDir(sweep), {}, judged, ("dataset",)).axes
    assert list(axes) == ["study", "dataset", "mechanism"]


def test_the_comparison_has_every_job_and_the_runs_it_was_made_from(sweep: Path) -> None:
    run = RunDir(sweep.parents[1] / "runs" / "mi-0")
    run.write_json("manifest.json", run.read_json("manifest.json") | {"tracker": "somewhere"})
    found = tracked_sweep(sweep)
    compared = {row["name"]: row for row in found.tables[0].rows}
    assert list(compared) == ["rouge", "mi", "gppm"], "the best first"
    assert compared["mi"]["tracker"] == "somewhere", "it was finished and shown before"
    assert compared["gppm"]["status"] == "failed: no"
    assert compared["rouge"]["clean/auc_low"] == pytest.approx(0.65)
    assert found.axes == {"mechanism": ["mi", "rouge", "gppm"]}
    assert "Compared: AUC, good against bad responses: rouge" in str(found.summary["answer"])
    assert {**found.summary, "answer": ""} == {"answer": "", "jobs": 3, "done": 2, "failed": 1}
    rows = [row for row in found.tables[-1].rows if row["statistic"] == "auc"]
    drawn = [(row["mechanism"], row["value"], row["attack"]) for row in rows]
    assert drawn == [("rouge", 0.7, "none"), ("mi", 0.6, "none")]


@dataclass
class Told(Mirror):
    """A tracker of one's own, which keeps what it is told."""

    heard: list[Any] = field(default_factory=list)

    def follow(self, run: TrackedRun) -> Mirror:
        return self

    def publish(self, result: Result) -> str | None:
        self.heard.append(result)
        return "there"

    def compare(self, sweep: TrackedSweep) -> str | None:
        raise OSError("the disk is full")


def test_a_run_that_was_finished_before_is_shown_once(tmp_path: Path) -> None:
    folder = RunDir(tmp_path / "mi-0")
    write_run(folder.path, result(3, ("clean",), auc=0.6))
    run, told = TrackedRun(folder.path, {}, None, "mi-0"), Told()
    before = (folder.path / "manifest.json").read_bytes()
    catch_up(NoTracker(), run, folder)
    assert (folder.path / "manifest.json").read_bytes() == before
    catch_up(told, run, folder)
    catch_up(told, run, folder)
    [shown] = told.heard
    assert shown.summary["clean/auc"] == 0.6
    assert folder.read_json("manifest.json")["tracker"] == "there"


def test_a_tracker_that_fails_fails_no_sweep(sweep: Path, capsys: Any) -> None:
    assert compare(Told(), sweep) == "failed: OSError"
    assert "the disk is full" in capsys.readouterr().err


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
