"""The presets for sweeps in conf/hydra/launcher."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from tests.e2e.conftest import ROOT, process

KINDS = {"cores": "JoblibLauncher", "submitted": "LocalLauncher", "slurm": "SlurmLauncher"}


@pytest.mark.parametrize("preset", sorted(p.stem for p in (ROOT / "conf/hydra/launcher").glob("*")))
def test_a_preset_is_its_launcher(preset: str) -> None:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        overrides = [f"hydra/launcher={preset}"]
        cfg = compose("config", overrides=overrides, return_hydra_config=True)
    assert cfg.hydra.launcher._target_.endswith(f".{KINDS[preset]}")


@pytest.mark.slow
def test_a_submitted_job_ends_in_the_sweeps_report(tmp_path: Path) -> None:
    words = ["-m", "hydra/launcher=submitted", "mechanism=length", "tracker=none", "limit=4"]
    done = process(tmp_path, [sys.executable, "run.py", *words])  # the launcher forks
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("runs/*-length-*/DONE"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/.submitit/*/*_result.pkl"))) == 1
    assert len(list(tmp_path.glob("sweeps/*/report.html"))) == 1
