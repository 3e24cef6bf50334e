"""What docs/howto/notebook.md shows runs as it stands, from a user's folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import judgelab
from tests.e2e.conftest import ROOT
from tests.unit.python.frames import graded

DOCS = (ROOT / "docs" / "howto" / "notebook.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_code_of_the_docs_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGELAB_ROOT", raising=False)
    graded(3).to_csv("labels.csv", index=False)
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE):
        exec(block, names)
    said = capsys.readouterr().out
    assert "astray" in said and "rouge" in said
    assert len(list(Path("outputs/runs").iterdir())) == 2
    rows = re.findall(r"^\| (`.*?) \|", DOCS, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(?:judgelab\.)?(\w+)", row)}
    assert set(judgelab.__all__) - {"JudgelabError", "__version__"} == named
