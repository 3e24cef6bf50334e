"""judgelab.audit: the run of the command line, from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import judgelab
from judgelab.config.composing import composed
from judgelab.core.errors import DataError, JudgelabError
from judgelab.engine.run import carry_out
from tests.scripted_judges import write_panel


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


def test_what_is_no_data_is_refused(tmp_path: Path) -> None:
    import pandas as pd

    with pytest.raises(DataError, match="must be a pandas DataFrame or a path, not int"):
        judgelab.audit(3, dataset="jsonl")  # type: ignore[arg-type]
    odd = pd.DataFrame({"human": [1 + 2j]})
    with pytest.raises(DataError, match="cannot be written as a table"):
        judgelab.audit(odd, paths__root=str(tmp_path))
    nameless = pd.DataFrame({"agent": ["a", "b"], "human": [1, 2]})
    with pytest.raises(DataError, match="^The frame has no column 'id'"):
        judgelab.audit(nameless, paths__root=str(tmp_path))


def test_a_frame_as_pandas_makes_them(tmp_path: Path) -> None:
    """Ids in the index, cells of many types in one column, lists that mean nothing."""
    import pandas as pd

    frame = pd.DataFrame(
        {"id": range(8), "human": [1, "2", 3.0, None] * 2, "gpt": [1, 2, "no idea", 4] * 2}
    )
    frame["text"] = ["So it is."] * 8
    frame["tokens"] = [[1, 2]] * 8
    given: dict[str, Any] = {"paths__root": str(tmp_path), "dataset__columns__source": False}
    rouge = {"name": "rouge", "mechanism": "rouge_l"}
    with pytest.raises(JudgelabError, match=r"mechanism\.peers=true"):
        judgelab.audit(frame, judges=[rouge], **given)
    asked = [{"name": "n", "mechanism": "length"}, rouge | {"mechanism.peers": True}]
    found = judgelab.audit(frame.set_index("id"), asked, dataset__judges=["gpt"], **given)
    assert found is not None
    assert set(found.verdicts) == {"gpt", "n", "rouge"}  # a column, and those that are asked
    table = found.tables["judges"].set_index("judge")
    assert set(table["verdict"]) == {"not known yet"}
    assert table["without_verdict"].to_dict() == {"gpt": 2, "n": 0, "rouge": 8}


def test_a_dry_run_says_what_it_would_ask(panel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(panel, mechanism="gppm", dry_run=True) is None
    assert "Dry run of compression" in capsys.readouterr().out


def test_importing_judgelab_loads_nothing() -> None:
    heavy = {"numpy", "hydra", "judgelab.engine"}
    code = f"import sys, judgelab; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
