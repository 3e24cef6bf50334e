"""Sweeps run to their comparison table: those of experiments, of W&B's agent, of launchers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir

from experiments.catalogue import SWEEPS
from experiments.importing import import_release
from experiments.repositories import AUTO_PRE
from judgelab.report.jobs import jobs as sweep_jobs
from tests.e2e.conftest import ROOT, Command, environment
from tests.fresh import Fresh
from tests.tiny_reviews import REVIEWER

SHORT = ["limit=4", "tracker=none"]
JUDGES = ("gpt35_turbo", "gpt4_turbo", "vicuna15_7b")  # SmolLM2 takes half a minute
QUICK = {  # sweep -> a part of its grid, and fewer draws; jobs
    "tvd_mi_figure_2 rehearsal=true": (["dataset=xsum", "mechanism=mi,gppm"], 2),
    "tvd_mi_table_4 rehearsal=true": (["mechanism=mi,rouge", "attack=case_flip"], 2),
    "gem_tables_8_9 rehearsal=true": (["attack=rephrase_by_llama", "mechanism=gem,gem_s"], 2),
    "dhp_figure_4 rehearsal=true": (
        ["study.replicates=20", "mechanism=rating_likelihood,length", "dataset=summeval"],
        2,
    ),
    "dhp_figure_6 rehearsal=true": (["study.replicates=20", "mechanism=length,random"], 2),
    "ranking_confidence_tables_1_2_3 rehearsal=true": (["study.pairs=2", "study.evaluations=5"], 1),
    "auto_pre_tables_5_6 rehearsal=true": (
        [
            "limit=1",
            "study.pertinence=null",
            *(f"study.judges.{one}.model={REVIEWER}" for one in JUDGES),
        ],
        1,
    ),
}


@pytest.mark.parametrize("sweep", QUICK)
def test_a_sweep_runs_anywhere(sweep: str, judgelab: Command, tmp_path: Path) -> None:
    more, jobs = QUICK[sweep]
    done = judgelab(*f"sweep={sweep}".split(), *SHORT, *more)
    assert done.returncode == 0, done.stderr
    assert f"Comparison of {jobs} run" in done.stdout
    assert compared(tmp_path, jobs)


def test_a_sweep_of_released_verdicts(shared_data: Path, judgelab: Command, tmp_path: Path) -> None:
    folder = shared_data / "auto_pre"
    if not folder.is_dir():
        pytest.skip("no release of Auto-PRE at hand")
    files = import_release(AUTO_PRE, folder, tmp_path / "imported")
    path = next(file for file in files if file.stem == "XSum")
    done = judgelab("sweep=auto_pre_figure_3", f"dataset.path={path}", "limit=8", *SHORT[1:])
    assert done.returncode == 0, done.stderr
    assert compared(tmp_path, 1)


def compared(root: Path, jobs: int) -> bool:
    """Whether the sweep's one table has its jobs, each with a result."""
    [table] = root.glob("sweeps/*/comparison.csv")
    found = sweep_jobs(table.parent)
    report = table.parent / "report.html"
    return len(found) == jobs and all(job.summary for job in found) and report.is_file()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # W&B's agent leaves its process to the OS
def test_the_agent_of_weights_and_biases_runs_our_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wandb.wandb_agent import Agent

    file = yaml.safe_load((SWEEPS / "wandb.yaml").read_text(encoding="utf-8"))
    params = file["parameters"]
    drawn = {name: one.get("values", [one.get("value")])[-1] for name, one in params.items()}
    assert drawn["mechanism"] == "length"
    for key, value in environment(tmp_path).items():
        monkeypatch.setenv(key, value)
    for key, value in {"MODE": "offline", "DIR": str(tmp_path), "SWEEP_ID": "s1"}.items():
        monkeypatch.setenv(f"WANDB_{key}", value)
    for key in ("RUN_ID", "SWEEP_PARAM_PATH"):  # set by the agent: gone with this test
        monkeypatch.setenv(f"WANDB_{key}", "")
    monkeypatch.chdir(ROOT)
    agent = Agent(api=None, queue=None, sweep_id="s1")
    agent._sweep_command = list(file["command"])
    args = {name: {"value": value} for name, value in {**drawn, "limit": 4}.items()}
    agent._command_run({"run_id": "r1", "program": file["program"], "args": args})
    assert agent._run_processes["r1"].wait(timeout=120) == 0
    [result] = tmp_path.glob(f"runs/*-length-xsum-{drawn['attack']}-*/result.json")
    summary = json.loads(result.read_text(encoding="utf-8"))["summary"]
    assert isinstance(summary[file["metric"]["name"]], float)
    [mirror] = tmp_path.glob("wandb/offline-run-*-r1/*.wandb")
    assert file["metric"]["name"].encode() in mirror.read_bytes()


KINDS = {"cores": "JoblibLauncher", "submitted": "LocalLauncher", "slurm": "SlurmLauncher"}


@pytest.mark.parametrize("preset", sorted(p.stem for p in (ROOT / "conf/hydra/launcher").glob("*")))
def test_a_preset_is_its_launcher(preset: str) -> None:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        overrides = [f"hydra/launcher={preset}"]
        cfg = compose("config", overrides=overrides, return_hydra_config=True)
    assert cfg.hydra.launcher._target_.endswith(f".{KINDS[preset]}")


def test_a_submitted_job_ends_in_the_sweeps_report(tmp_path: Path) -> None:
    words = ["-m", "hydra/launcher=submitted", "mechanism=length", "tracker=none", "limit=4"]
    process = Fresh(words, environment(tmp_path), tmp_path / "log")  # the launcher forks
    assert process.wait() == 0, (tmp_path / "log").read_text()
    assert len(list(tmp_path.glob("runs/*-length-*/DONE"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/.submitit/*/*_result.pkl"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/report.html"))) == 1
