"""Reports of real runs: what the command line prints and leaves on disk."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judgelab.report.__main__ import main
from judgelab.report.jobs import jobs
from tests.e2e.conftest import Command


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """``python -m judgelab.report FOLDER``."""

    def call(folder: Path) -> None:
        monkeypatch.setattr(sys, "argv", ["judgelab.report", str(folder)])
        main()

    return call


JOB = ("mechanism=mi", "dataset=xsum", "attack=case_flip", "tracker=none", "limit=4")


@pytest.mark.slow
def test_a_run_prints_its_figures_and_its_report_is_made_from_disk_alone(
    judgelab: Command,
    tmp_path: Path,
    rendered: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = judgelab(*JOB)
    assert done.returncode == 0, done.stderr
    run = next((tmp_path / "runs").iterdir())
    summary = json.loads((run / "result.json").read_text())["summary"]
    assert f"{summary['clean/auc']:.3f} [{summary['clean/auc_low']:.3f}" in done.stdout
    assert str(run / "report.html") in done.stdout.split()
    assert "synthetic" in done.stdout
    assert "\x1b" not in done.stdout
    page = (run / "report.html").read_bytes()
    assert b"http" not in page.replace(b"http-equiv", b"")
    assert b"<code>python run.py mechanism=mi dataset=xsum attack=case_flip limit=4</code>" in page
    drawings = {path: path.read_bytes() for path in (run / "figures").iterdir()}
    assert len(drawings) == 4
    (tmp_path / "cache" / "calls.sqlite").unlink()
    for path in [run / "report.html", *drawings]:
        path.unlink()
    rendered(run)
    assert capsys.readouterr().out.strip() == str(run / "report.html")
    assert {path: path.read_bytes() for path in drawings} == drawings
    assert (run / "report.html").read_bytes() == page


def test_a_folder_that_is_no_run_is_refused_in_a_sentence(
    tmp_path: Path, rendered: Callable[[Path], None]
) -> None:
    with pytest.raises(SystemExit, match=r"error: .*result.json cannot be read"):
        rendered(tmp_path)


@pytest.mark.slow
def test_a_sweep_over_mechanisms_attacks_and_seeds(
    judgelab: Command, tmp_path: Path, rendered: Callable[[Path], None]
) -> None:
    grid = ("mechanism=rouge,judge", "attack=none,padding", "seed=0,1")
    done = judgelab("-m", *grid, "tracker=none", "limit=4")
    assert done.returncode == 1, "four jobs failed"
    assert "Traceback" not in done.stderr
    sweep = next((tmp_path / "sweeps").iterdir())
    found = jobs(sweep)
    assert sum(job.error is not None for job in found) == 4
    axes = ("mechanism", "attack", "seed")
    cells = {tuple(job.settings[axis] for axis in axes): job.summary for job in found}
    clean, attacked = cells["rouge", "none", "1"], cells["rouge", "padding", "1"]
    assert clean["clean/auc"] == attacked["clean/auc"]
    repeat = "python run.py mechanism=judge attack=padding seed=1 tracker=none limit=4"
    assert repeat in [line.strip() for line in done.stdout.splitlines()]
    alone = judgelab(*shlex.split(repeat)[2:])
    assert alone.returncode == 1
    assert next(job.error for job in found if job.error) in alone.stderr
    page = (sweep / "report.html").read_text()
    assert page.count("failed: mechanism=judge needs") == 4
    assert page.count("<svg") == 2
    assert all((sweep / part.split('"')[0]).is_file() for part in page.split('<a href="')[1:])
    rendered(sweep)
    assert (sweep / "report.html").read_text() == page
