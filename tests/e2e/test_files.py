"""Where runs and sweeps write: folders of their own, and a disk that is full."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "run.py"


def begun(folder: Path, *words: str, before: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, str(RUN), *words, "limit=3", "tracker=none", "paths.root=out"]
    if before:
        command = ["unshare", "-rm", "sh", "-c", f'{before} && cd . && exec "$0" "$@"', *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, stdout=pipe, stderr=pipe, text=True, umask=0, env=os.environ
    )


def test_two_sweeps_of_one_name_do_not_share_a_folder(tmp_path: Path) -> None:
    """Also: -m between overrides; nobody else may read what was kept."""
    same = "hydra.sweep.dir=${paths.root}/sweeps/${now:%Y}"
    both = [begun(tmp_path, f"mechanism={name}", "-m", same) for name in ("length", "random")]
    for process in both:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    folders = sorted((tmp_path / "out" / "sweeps").iterdir())
    assert len(folders) == 2
    tables = [(folder / "comparison.csv").read_text() for folder in folders]
    assert sorted("random" in table for table in tables) == [False, True]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    ours = [path for path in files if path.name != "multirun.yaml"]  # Hydra's, in a folder of ours
    made = [tmp_path / "out", *folders, *ours]
    assert not [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]


@pytest.mark.parametrize(
    ("mechanism", "size", "file"),
    [("mi", "100k", "calls.sqlite"), ("length", "300k", "/figures/")],
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
    process = begun(tmp_path, f"mechanism={mechanism}", before=mount)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert file in said
    assert "no space is left on the disk. Make room there, or point paths.root=FOLDER" in said
    assert "\n" not in said.strip()
