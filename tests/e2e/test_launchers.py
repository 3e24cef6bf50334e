"""The presets for sweeps in conf/hydra/launcher."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from tests.e2e.conftest import ROOT, process

KINDS = {
    "cores": ("JoblibLauncher", {"n_jobs": -1}),
    "submitted": ("LocalLauncher", {"timeout_min": 720}),
    "slurm": ("SlurmLauncher", {"gpus_per_node": 1, "array_parallelism": 16}),
}


@pytest.mark.parametrize("preset", sorted(p.stem for p in (ROOT / "conf/hydra/launcher").glob("*")))
def test_a_preset_is_its_launcher_with_our_settings(preset: str) -> None:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        overrides = [f"hydra/launcher={preset}"]
        cfg = compose("config", overrides=overrides, return_hydra_config=True)
    launcher, settings = KINDS[preset]
    assert cfg.hydra.launcher._target_.endswith(f".{launcher}")
    assert {key: cfg.hydra.launcher[key] for key in settings} == settings


@pytest.mark.slow
def test_a_submitted_job_ends_in_the_sweeps_report(tmp_path: Path) -> None:
    words = ["-m", "hydra/launcher=submitted", "mechanism=length", "tracker=none", "limit=4"]
    done = process(tmp_path, [sys.executable, "run.py", *words])  # the launcher forks
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/*-length-*/DONE"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/.submitit/*/*_result.pkl"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/report.html"))) == 1
