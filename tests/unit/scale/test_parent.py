"""A job looks whether the process that started it is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from judgelab.scale.parent import FILE, Parent, watch

PARENT = """
import sys, time
from omegaconf import OmegaConf
from judgelab.scale.parent import Parent
Parent().on_multirun_start(OmegaConf.create(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""
JOB = """
import sys, time
from pathlib import Path
from judgelab.scale.parent import watch
seen = watch(Path(sys.argv[1]))
busy = [1]
seen.busy = lambda: len(busy)
print(seen.gone(), flush=True)
while not seen.gone():
    time.sleep(0.01)
print("nothing more is sent", flush=True)
time.sleep(0.6)
print("but what is under way is waited for", flush=True)
busy.clear()
time.sleep(60)
"""


def config(folder: Path, launcher: str) -> DictConfig:
    hydra = {"sweep": {"dir": str(folder)}, "launcher": {"_target_": launcher}}
    return OmegaConf.create({"hydra": hydra})


def test_a_job_ends_with_its_parent_and_loses_nothing_that_is_paid(tmp_path: Path) -> None:
    given = OmegaConf.to_yaml(config(tmp_path, "x.JoblibLauncher"))
    command = [sys.executable, "-c", PARENT, given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "held\n"
        command = [sys.executable, "-c", JOB, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
            assert job.stdout is not None and job.stdout.readline() == "False\n"
            parent.kill()
            assert job.wait(timeout=10) == 1
            said = job.stdout.read().splitlines()
    assert said == ["nothing more is sent", "but what is under way is waited for"]


def test_jobs_on_slurm_have_no_parent_here(tmp_path: Path) -> None:
    Parent().on_multirun_start(config(tmp_path, "x.SlurmLauncher"))
    assert not (tmp_path / FILE).exists()
    assert watch(tmp_path) is None
