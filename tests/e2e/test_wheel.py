"""The wheel in an environment that knows no checkout, in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from judgelab.store.fingerprint import code_digest
from tests.e2e.conftest import ROOT

KEPT = ("judgelab", "conf", "pyproject.toml", "setup.py", "README.md", "LICENSE")
QUICK = ("tracker=none", "limit=4")
FIGURE = ("sweep=tvd_mi_figure_2", "rehearsal=true", "mechanism=tvd_mi", "dataset=xsum", *QUICK)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console script in an environment of its own, beside our environment's other packages."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in KEPT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    built = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
    subprocess.run([*pip, *built], check=True, timeout=300)
    [wheel] = folder.glob("judgelab-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    files = [path for room in KEPT[:2] for path in (ROOT / room).rglob("*.*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts and path.suffix != ".md"]
    ours = [str(path.relative_to(ROOT)) for path in files]
    shipped = {re.sub("^conf/", "judgelab/conf/", one) for one in ours}
    assert len(shipped) > 300 and shipped <= {*names}, "code, configs, prompts, samples"
    shutil.rmtree(source)
    venv.create(folder / "env")
    [own] = (folder / "env").glob("lib/python*/site-packages")
    # a .pth adds the folder alone, not the editable checkout that a .pth within it names
    (own / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    given = ["--python", str(folder / "env/bin/python"), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, *given, "--ignore-installed", str(wheel)], check=True, timeout=300)
    return folder / "env/bin/judgelab"


def test_the_code_is_the_same_as_in_the_checkout(program: Path, tmp_path: Path) -> None:
    told = "from judgelab.store.fingerprint import code_digest; print(code_digest())"
    command = [str(program.with_name("python")), "-I", "-c", told]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == code_digest()


def carried_out(program: Path, folder: Path, *overrides: str) -> str:
    """What the command prints, without a fault."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUDGELAB"))}
    done = subprocess.run(
        [str(program), *overrides],
        cwd=folder,
        env=clean | {"WANDB_MODE": "offline"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.stdout


def test_the_wheel_runs_anywhere(program: Path, tmp_path: Path) -> None:
    carried_out(program, tmp_path, *FIGURE)
    assert list(tmp_path.glob("outputs/runs/*/DONE"))


def test_a_folder_of_ones_own_adds_options(program: Path, tmp_path: Path) -> None:
    option = tmp_path / "conf/attack/shouting.yaml"
    option.parent.mkdir(parents=True)
    option.write_text("_target_: judgelab.attack.pattern.Pattern\ntag: agent\n")
    carried_out(program, tmp_path, "mechanism=length", "attack=shouting", *QUICK)
    assert list(tmp_path.glob("outputs/runs/*-length-xsum-shouting-*/DONE"))
    said = carried_out(program, tmp_path, "--help")
    assert "shouting" in said and "judgelab mechanism=tvd_mi" in said


def test_settings_of_another_program_are_left_alone(program: Path, tmp_path: Path) -> None:
    """A folder conf/ of another Hydra program."""
    for name in ("config.yaml", "attack/shouting.yaml"):
        foreign = tmp_path / "conf" / name
        foreign.parent.mkdir(parents=True, exist_ok=True)
        foreign.write_text("# @package _global_\nlimit: 1\nsurprise: true\n")
    plan = ("study=plan", "study.r=.3", "study.sd=.25", "study.delta=.05", "tracker=none")
    carried_out(program, tmp_path, *plan)
    assert "shouting" not in carried_out(program, tmp_path, "--help")
