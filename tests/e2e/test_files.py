"""Where runs and sweeps write: folders of their own, and a disk that is full."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import environment
from tests.fresh import ROOT, Fresh

SHORT = ("limit=3", "tracker=none", "paths.root=out")


def test_two_sweeps_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    """Also: -m between overrides; nobody else may read what was kept."""
    same = "hydra.sweep.dir=${paths.root}/sweeps/${now:%Y}"
    env = environment(tmp_path)
    del env["JUDGELAB_ROOT"]
    place: dict[str, Any] = {"cwd": str(tmp_path), "umask": 0}
    both = {
        log: Fresh([f"mechanism={log.name}", "-m", same, *SHORT], env, log, **place)
        for log in (tmp_path / "length", tmp_path / "random")
    }
    for log, process in both.items():
        assert process.wait() == 0, log.read_text()
    folders = sorted((tmp_path / "out" / "sweeps").iterdir())
    assert len(folders) == 2
    tables = [(folder / "comparison.csv").read_text() for folder in folders]
    assert sorted("random" in table for table in tables) == [False, True]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    ours = [path for path in files if path.name != "multirun.yaml"]  # Hydra's, in a folder of ours
    made = [tmp_path / "out", *folders, *ours]
    assert not [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.parametrize(
    ("mechanism", "size", "file"), [("mi", "100k", "calls.sqlite"), ("length", "300k", "/figures/")]
)
def test_a_full_disk_is_the_disks_fault(
    tmp_path: Path, mechanism: str, size: str, file: str
) -> None:
    (tmp_path / "out").mkdir()
    mount = f"mount -t tmpfs -o size={size} tmpfs out"
    trial = ["unshare", "-rm", "sh", "-c", mount]
    if (
        shutil.which("unshare") is None
        or subprocess.run(trial, cwd=tmp_path, capture_output=True, check=False).returncode
    ):
        pytest.skip("no user namespaces here, so no small disk can be mounted")
    run = [sys.executable, str(ROOT / "run.py"), f"mechanism={mechanism}", *SHORT]
    command = [*trial[:-1], f'{mount} && cd . && exec "$0" "$@"', *run]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = done.stderr
    assert file in said
    assert "no space is left on the disk. Make room there, or point paths.root=FOLDER" in said
    assert "\n" not in said.strip()
