"""The page of items in headless Chromium: search, order, folding, hostile texts, 5,000 rows."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.report import page
from judgelab.report.__main__ import main
from judgelab.report.jobs import jobs
from tests.browser import looked_at, script
from tests.e2e.conftest import Command
from tests.unit.report.item_records import scored_run
from tests.unit.report.report_results import HOSTILE

HURTS = (
    "</script><img src=x onerror=\"document.title='owned'\"><svg onload=\"document.title='owned'\">"
    "<script>document.title='owned'</script><a href=\"javascript:alert(1)\">x</a>"
)
ITEMS, AGENTS = 1_250, 4
LONG = " ".join(f"Sentence number {k} of a long text." for k in range(60))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """5,000 texts; the score turns people's order round on item 7, and one text is an attack."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    labels, sources = [], {}
    for k in range(ITEMS):
        sources[f"q{k}"] = f"Source {k} about harbours. {LONG if k == 7 else ''}"
        for j in range(AGENTS):
            text = f"Response {j} on {k}. " + " ".join(rng.choice(["fog", "mast", "keel"], 40))
            row = {"item": f"q{k}", "agent": f"m{j}", "text": text, "score": 10.0 * j + 0.5}
            rows.append(row)
            grade = float(4 - j if k == 7 else 1 + j)
            labels += [(f"q{k}", f"m{j}", rater, grade) for rater in ("ana", "ben")]
    rows[7 * AGENTS]["text"] = f"{HURTS} {HOSTILE}"
    rows[9 * AGENTS]["score"] = float("nan")
    reply = {"item": "q9", "agent": "m0", "reply": f"I will not say. {HURTS}", "reason": "no grade"}
    run = scored_run(tmp_path_factory.mktemp("big"), rows, sources, labels, [reply])
    page.write(run)
    return run.path / "items.html"


def test_5000_rows_open_at_once_and_can_be_searched_and_sorted(big: Path) -> None:
    """Times are the page's own clock: what a reader waits for."""
    found = looked_at(big, script("items_search"))
    assert found["rows"] == 25
    assert found["count"] == "5,000 rows of 5,000"
    assert found["opened"] < 5_000
    assert found["first"][:2] == ["q7 · m0", "q7 · m3"]
    assert found["numbers"].splitlines()[1].split() == ["mi", "0.500", "1"]
    assert [word in found["numbers"] for word in ("ana", "ben", "mean of people")] == [True] * 3
    assert found["searching"] < 3_000
    assert found["found"] == ["1 row of 5,000", "q1249 · m3"]
    assert [mark.lower() for mark in found["marks"]] == ["1249", "response", "3", "1249"]
    assert "q=RESPONSE" in found["hash"]
    assert found["highest"] == ["q0 · m3", "q1 · m3", "q2 · m3"]
    assert found["lowest"] == ["q0 · m0", "q1 · m0", "q2 · m0"]
    assert found["agent"] == ["1,250 rows of 5,000", "q0 · m2", "q1 · m2", "q2 · m2"]
    assert found["lost"][0] == "1 row of 5,000"
    for words in ("unscored", "no grade", "I will not say."):
        assert words in found["lost"][1]
    assert found["more"] == [50, True]


def test_hostile_texts_stay_texts_and_a_phone_holds_the_page(big: Path) -> None:
    """400 px; an item by its address; long texts unfold by a button that the keyboard reaches."""
    found = looked_at(big, script("items_phone"), width=400, address="#item=q7")
    assert found["count"] == "4 rows of 5,000, of item q7 alone · all items"
    assert found["wide"] == [400, 0]
    assert HURTS in found["text"] and HOSTILE in found["text"]
    assert found["focus"] and found["reached"] and found["slash"]
    assert found["unfolded"] == [True, "true"]
    assert "owned" not in found["title"]
    assert found["tags"] == [0, 0, 0]
    assert set(found["links"]) == {"report", "#item=", "#"}


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """``python -m judgelab.report FOLDER``."""

    def call(folder: Path) -> None:
        monkeypatch.setattr(sys, "argv", ["judgelab.report", str(folder)])
        main()

    return call


JOB = ("mechanism=mi", "dataset=xsum", "attack=case_flip", "tracker=none", "limit=4")


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
