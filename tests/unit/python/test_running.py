"""judgelab.run: the run of the command line, from Python."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.version import getbase

import judgelab
from judgelab import __main__ as command_line
from judgelab.core.errors import ConfigError, DataError, JudgelabError, PartialRunError
from judgelab.python.results import RunResult
from tests.servers.process import scripted
from tests.unit.python.frames import graded


@pytest.fixture(scope="module", autouse=True)
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all tests: runs that were made before are found again."""
    folder = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGELAB_ROOT", str(folder))
        yield folder


def found(*words: str, **given: Any) -> judgelab.python.RunResult:
    """Of a run that is no dry run."""
    result = judgelab.run(*words, **given)
    assert result is not None
    return result


@pytest.fixture
def _fresh_hydra() -> Iterator[None]:
    """Without what an earlier Hydra job left in this process, and leaves."""
    GlobalHydra.instance().clear()
    HydraConfig.instance().cfg = None
    yield
    GlobalHydra.instance().clear()
    HydraConfig.instance().cfg = None


@pytest.mark.usefixtures("_fresh_hydra")
def test_it_is_the_run_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "mechanism=length attack=padding attack.on=problematic dataset=samsum limit=2"
    mine = found(words)
    assert capsys.readouterr().out == "", "what was found is returned, not printed"
    assert mine.path.name.startswith("discrimination-length-samsum-padding-")
    monkeypatch.setattr(sys, "argv", ["run.py", *words.split(), "tracker=none"])
    command_line.main()
    shown = capsys.readouterr().out
    assert f"Finished before, nothing to do (force=true repeats it): {mine.path}" in shown
    given: dict[str, Any] = {"mechanism": "length", "attack": "padding", "dataset": "samsum"}
    again = found("'seed=0'", "limit=2", **given, attack__on="problematic", bootstrap=2000)
    assert again.path == mine.path, "also where Hydra has left its state behind"
    manifest = yaml.safe_load((mine.path / "manifest.json").read_text())
    assert manifest["overrides"] == [*words.split(), "tracker=none"]
    assert manifest["choices"]["attack"] == "padding"
    assert words in (mine.path / "report.html").read_text()


def test_a_run_that_somebody_altered_is_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    words = "mechanism=length dataset=samsum limit=3"
    first = found(words)
    before = (first.path / "result.json").read_bytes()
    (first.path / "result.json").write_bytes(before.replace(b"0.", b"0.9", 1))
    record = next((first.path / "records").glob("*.parquet"))
    record.unlink()
    again = found(words)
    assert f"records/{record.name} and result.json in" in capsys.readouterr().out
    assert again.path == first.path and (again.path / "result.json").read_bytes() == before
    assert record.is_file()
    found(words)
    assert "changed since" not in capsys.readouterr().out


def test_a_table_in_memory_is_kept_under_its_content(root: Path) -> None:
    table = graded(2)
    one, two = (found("mechanism=length", data=frame) for frame in (table, table.copy()))
    assert one.path == two.path
    assert one.path.name.startswith("discrimination-length-table-none-")
    (file,) = (root / "data").rglob("*.parquet")
    assert file.stem == "table", "which is what the dataset is called"
    assert found("mechanism=length", data=file).path == one.path
    found("mechanism=length", data=table.assign(text=table["text"] + "!"))
    assert len([*(root / "data").rglob("*.parquet")]) == 2, "other content, another file"


def test_another_programs_hydra_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text("a: 1")
    with initialize_config_dir(str(tmp_path), version_base="1.2"):
        base = getbase()
        name = found("mechanism=length", data=graded(2)).path.name
        assert name.startswith("discrimination-length-table-none-")
        assert compose("main").a == 1
        assert getbase() == base


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["mechanism=mii"], {}, "mechanism=mii does not exist. Did you mean 'mi'?"),
        (["mechanism=mi,gppm"], {}, "judgelab.run makes one run: call it once for each value"),
        (["-m mechanism=mi"], {}, "-m is for the command line"),
        (["mechanism='mi"], {}, "a quotation mark is not closed"),
        ([], {"limt": 3}, "limt is no setting of study=discrimination. Did you mean 'limit'?"),
        ([], {"data": 3}, "data must be a pandas DataFrame or a path, not int"),
        (["dataset.path=a.csv"], {"data": "b.csv"}, "leave one of them out"),
        ([], {"judges": [{"name": "a"}]}, "study=discrimination asks no judges"),
    ],
)
def test_mistakes_are_one_sentence(words: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(JudgelabError) as caught:
        judgelab.run(*words, **given)
    assert said in str(caught.value)
    assert isinstance(caught.value, ConfigError | DataError)


def test_calls_go_out_below_a_notebooks_loop_and_an_outage_is_continued(tmp_path: Path) -> None:
    lm = {"evaluation_lm": "openai", "evaluation_lm__model": "m", "mechanism": "judge"}
    lm |= {"evaluation_lm__api_key_env": None, "evaluation_lm__limits__breaker": None}

    async def cell(**more: Any) -> Any:
        return judgelab.run(data=graded(2), **lm, **more)

    with scripted(tmp_path / "server") as server:
        lm["evaluation_lm__base_url"] = server.url
        with pytest.raises(PartialRunError, match="PARTIAL: ") as stopped:
            asyncio.run(cell(budget={"max_calls": 5}))
        assert stopped.value.run is not None
        half = judgelab.load(stopped.value.run)
        assert half.partial.startswith("PARTIAL: ")
        assert half.partial in half._repr_html_()
        whole = asyncio.run(cell())
        assert whole.partial == "" and whole.path == half.path
        assert max(server.seen().values()) == 1, "no call is paid twice"


def test_a_table_without_texts_is_refused(tmp_path: Path) -> None:
    """Nothing was scored, and nobody was told."""
    rows = [{"id": k, "source": "It rained.", "agent": a} for k in range(3) for a in "ab"]
    data = pd.DataFrame(rows).assign(human=3)
    with pytest.raises(JudgelabError, match=r"No response has a text.*dataset\.columns\.text"):
        judgelab.run("mechanism=length", data=data, paths__root=str(tmp_path))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    root = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGELAB_ROOT", str(root))
        words = {"length": "length", "capped": "length limit=3", "rouge": "rouge"}
        given = (f"mechanism={one}" for one in words.values())
        with ThreadPoolExecutor(3) as pool:
            found = pool.map(partial(judgelab.run, data=graded(4)), given)
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


def test_a_notebook_shows_hostile_text_as_text(runs: dict[str, Any], tmp_path: Path) -> None:
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
    beside = judgelab.compare([runs["length"], tmp_path])
    assert [job.run for job in beside.jobs[1:]] == [run.path for run in runs.values()]
