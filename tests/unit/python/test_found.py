"""What a run found: the numbers of its result.json, as DataFrames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgelab
from judgelab.core.errors import DataError
from judgelab.python.results import RunResult
from tests.unit.python.frames import graded


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    root = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGELAB_ROOT", str(root))
        words = {
            "length": "mechanism=length",
            "capped": "mechanism=length limit=3",
            "rouge": "mechanism=rouge",
        }
        with ThreadPoolExecutor(3) as pool:
            found = pool.map(partial(judgelab.run, data=graded(4)), words.values())
        yield dict(zip(words, found, strict=True))


def test_runs_of_several_threads_do_not_disturb_each_other(runs: dict[str, Any]) -> None:
    made = [(one.about["mechanism"], one.summary.loc["items", "value"]) for one in runs.values()]
    assert made == [("length", 4), ("length", 3), ("rouge", 4)]
    assert [one.path.name.split("-")[1] for one in runs.values()] == ["length", "length", "rouge"]


def test_every_number_of_the_result_is_in_a_frame(runs: dict[str, Any]) -> None:
    one = runs["rouge"]
    flat = json.loads((one.path / "result.json").read_text())["summary"]
    for key in one.summary.index:
        for part in ("low", "high", "n", "unscored"):
            cell, told = one.summary.loc[key, part], flat.get(f"{key}_{part}")
            assert (pd.isna(cell) and told is None) or cell == told
        assert one.summary.loc[key, "value"] == flat[key]
    assert one.about["study"] == "discrimination" and one.about["mechanism"] == "rouge"
    assert not set(one.about) & set(one.summary.index)
    with pytest.raises(KeyError, match="no table is called 'agent'. Did you mean 'agents'?"):
        one.tables["agent"]
    agents = one.tables["agents"]
    assert sorted(agents["agent"]) == ["astray", "good", "lead"]
    assert not (agents["low"] > agents["value"]).any() and (agents["n"] == 4).all()
    scores = one.records["clean_scores"]
    mean = scores.groupby("agent")["score"].mean()
    np.testing.assert_allclose(agents.set_index("agent")["value"], mean[agents["agent"]])


def test_a_notebook_shows_the_answer_and_a_hostile_text_stays_text(
    runs: dict[str, Any], tmp_path: Path
) -> None:
    one = runs["length"]
    shown = one._repr_html_()
    assert one.verdict.splitlines()[0] in shown
    assert "<script" not in shown and len(shown) < 10_000
    bad = {**one.content, "notes": ["<script>alert(1)</script>"], "answer": [["<b>", "<i>x</i>"]]}
    shown = RunResult(tmp_path, bad)._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "&lt;i&gt;x" in shown
    assert str(one.path / "report.html") in repr(one)


def test_a_run_is_read_from_its_folder(runs: dict[str, Any], tmp_path: Path) -> None:
    one = runs["length"]
    again = judgelab.load(one.path)
    assert again == one and again.summary.equals(one.summary)
    with pytest.raises(DataError, match="is no run: give a folder of outputs/runs"):
        judgelab.load(tmp_path)
    (tmp_path / "config.yaml").write_text("a: 1")
    with pytest.raises(DataError, match="has not finished"):
        judgelab.load(tmp_path)


def test_runs_stand_side_by_side_by_what_differs(runs: dict[str, Any]) -> None:
    one, two, three = runs.values()
    found = judgelab.compare([one, two.path, three])
    assert list(found.summary["mechanism"]) == ["length", "length", "rouge"]
    assert list(found.summary["limit"]) == ["null", "3", "null"]
    assert list(found.summary["items"]) == [4, 3, 4]
    assert list(found.summary["run"]) == [one.path.name, two.path.name, three.path.name]
    assert "3 runs: mechanism × limit" in found._repr_html_()
    with pytest.raises(DataError, match="Give runs in a list"):
        judgelab.compare([])


def test_a_sweep_is_read_as_its_comparison(runs: dict[str, Any], tmp_path: Path) -> None:
    for number, (name, run) in enumerate(runs.items()):
        (tmp_path / str(number)).mkdir()
        word = {"overrides": [f"mechanism={name}"], "choices": {"mechanism": name}}
        note = json.dumps(word | {"status": "done", "run": str(run.path)})
        (tmp_path / str(number) / "job.json").write_text(note)
    assert list(judgelab.load(tmp_path).summary["mechanism"]) == list(runs)
