"""judgelab.audit: the run of the command line, from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

import judgelab
from judgelab.command.verbs import for_programs
from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError, DataError, JudgelabError
from judgelab.core.result import verdicts
from judgelab.engine.run import carry_out
from judgelab.python import RunResult
from judgelab.store.run_dir import RunDir
from tests.failing_lm import FailingLM
from tests.scripted_judges import write_panel

Capture = pytest.CaptureFixture[str]
PLACES = ("writer_lm", "study.judges.x", "study.judges.x.evaluation_lm", "agents.models.x")


@pytest.fixture
def panel(tmp_path: Path) -> Path:
    path = tmp_path / "panel.jsonl"
    write_panel(path, 6)
    return path


def audited(panel: Path, **settings: Any) -> Any:
    given = {"dataset": "jsonl", "paths__root": str(panel.parent)} | settings
    return judgelab.audit(panel, **given)


def test_it_is_the_run_of_the_command_line(panel: Path) -> None:
    """Whether judges are a file or a list."""
    file = panel.with_name("judges.yaml")
    file.write_text("- {name: half, mechanism: length}\n- {name: words, mechanism: length}")
    found = audited(panel, judges=file, seed=3, rules={"minimum": 0.8})
    assert found.about["study"] == "audit"
    assert set(found.verdicts) == {"half", "words"}
    assert found.verdict.splitlines()[0] == found.content["title"]
    entries = [{"name": name, "mechanism": "length"} for name in ("half", "words")]
    assert audited(panel, judges=entries, seed=3, rules={"minimum": 0.8}).path == found.path
    words = ["study=audit", "dataset=jsonl", f"dataset.path={panel}", f"study.judges={file}"]
    words += ["seed=3", "study.rules.minimum=.8", f"paths.root={panel.parent}"]
    carry_out(composed([*words, "tracker=none"]))
    assert [found.path] == list((panel.parent / "runs").glob("*")), "recognised, not run again"


def carried_out(panel: Path, place: str, rate: int, *words: str) -> RunDir:
    """An audit where an LM of which 1 of so many calls fails stands at a place of the config."""
    lm = f"+{place}={{_target_: tests.failing_lm.FailingLM, rate: {rate}}}"
    words = ("study=audit", "dataset=jsonl", f"dataset.path={panel}", "tracker=none", *words, lm)
    run = carry_out(composed([*words, f"paths.root={panel.parent}"]), trusted_packages=["tests"])
    assert run is not None
    return run


def test_a_judge_whose_calls_fail_keeps_its_verdict(panel: Path, capsys: Capture) -> None:
    """The table of reasons stood first: programs had no verdict, and the console had no judge."""
    run = carried_out(panel, "study.judges.x", 8, "mechanism=pairwise")
    found = RunResult.read(run.path)
    told, shown = for_programs(run, found.content), capsys.readouterr().out
    assert told["verdicts"] == found.verdicts == {"x": "not known yet"}
    assert [row["judge"] for row in told["judges"]] == ["x"] and "\nThe judges\n" in shown
    assert "have no result" in told["notes"][0] and shown.startswith(told["notes"][0][:60])
    rows = [{"criterion": "tone", **row} for row in told["judges"]]
    assert verdicts({"tables": [{"rows": rows}]}) == {"tone: x": "not known yet"}


@pytest.mark.parametrize("place", PLACES)
def test_a_run_whose_lm_moved_is_made_again(
    panel: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """On a branch of the Hub; of judges and candidates nobody looked."""
    agents = "candidates" if place.startswith("agents") else "recorded"
    before, out_of_reach = FailingLM.identity, property(Mock(side_effect=ConfigError("No Hub.")))
    for identity in (before, before, "failing, moved", out_of_reach):
        monkeypatch.setattr(FailingLM, "identity", identity)
        carried_out(panel, place, 10**9, "mechanism=length", f"agents={agents}")
    shown = capsys.readouterr().out
    assert shown.count("Finished before") == 2 and shown.count("report   ") == 4


def test_what_is_no_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must be a pandas DataFrame or a path, not int"):
        judgelab.audit(3, dataset="jsonl")  # type: ignore[arg-type]
    columns: dict[str, Any] = {"cannot be written as a table": {"human": [1 + 2j]}}
    columns["^The frame has no column 'id'"] = {"agent": ["a", "b"], "human": [1, 2]}
    for said, odd in columns.items():
        with pytest.raises(DataError, match=said):
            judgelab.audit(pd.DataFrame(odd), paths__root=str(tmp_path))


def test_a_frame_as_pandas_makes_them(tmp_path: Path) -> None:
    """Ids in the index, cells of many types in one column, lists that mean nothing."""
    frame = pd.DataFrame({"id": range(8), "human": [1, "2", 3.0, None] * 2})
    frame["gpt"], frame["text"] = [1, 2, "no idea", 4] * 2, ["So it is."] * 8
    frame["tokens"] = [[1, 2]] * 8
    given: dict[str, Any] = {"paths__root": str(tmp_path), "dataset__columns__source": False}
    rouge = {"name": "rouge", "mechanism": "rouge_l"}
    with pytest.raises(JudgelabError, match=r"mechanism\.peers=true"):
        judgelab.audit(frame, judges=[rouge], **given)
    asked: list[Any] = [{"name": "n", "mechanism": "length"}, rouge | {"mechanism.peers": True}]
    found = judgelab.audit(frame.set_index("id"), asked, dataset__judges=["gpt"], **given)
    assert found is not None
    assert set(found.verdicts) == {"gpt", "n", "rouge"}  # a column, and those that are asked
    table = found.tables["judges"].set_index("judge")
    assert set(table["verdict"]) == {"not known yet"}
    assert table["without_verdict"].to_dict() == {"gpt": 2, "n": 0, "rouge": 8}


def test_a_dry_run_says_what_it_would_ask(panel: Path, capsys: Capture) -> None:
    assert audited(panel, mechanism="gppm", dry_run=True) is None
    assert "Dry run of compression" in capsys.readouterr().out


def test_importing_judgelab_loads_nothing() -> None:
    heavy = {"numpy", "hydra", "judgelab.engine"}
    code = f"import sys, judgelab; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
