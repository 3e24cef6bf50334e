"""The notebooks run as they stand, and what is committed is what they print."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import ROOT, process

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RENEW = "if the new outputs are right: python -m tests.notebooks"
LARGEST = 100_000  # bytes
FINGERPRINT = re.compile(r"-[0-9a-f]{12}\b")  # of a run: changes with any line of judgelab
PRIVATE = re.compile(
    r"(?<![\w.])/(?:home|root|tmp|var|usr|opt|work|mnt|Users)/|\b[A-Z]:\\"  # a machine's folders
    r"|\b0x[0-9a-f]{6,}|\b[0-9a-f]{8}-[0-9a-f]{4}-"  # addresses and random ids
    r"|\b20\d\d-\d\d-\d\d[T_ ]\d\d"  # times
)

Notebook = dict[str, Any]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Notebook]:
    """Every notebook from a fresh kernel; in a process of its own, as its sockets warn."""
    folder = tmp_path_factory.mktemp("notebooks")
    before = _tree()
    command = [sys.executable, "-m", "tests.notebooks", "--into", str(folder)]
    done = process(folder, command, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr[-4000:]
    assert _tree() == before, "a notebook leaves nothing in the checkout"
    return {path.name: json.loads((folder / path.name).read_text()) for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_outputs_are_fresh(path: Path, executed: dict[str, Notebook]) -> None:
    committed = json.loads(path.read_text(encoding="utf-8"))
    fresh = executed[path.name]
    for old, new in zip(committed["cells"], fresh["cells"], strict=True):
        assert _said(old) == _said(new), f"{path.name}: {RENEW}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebooks_are_small_and_hold_nothing_of_a_machine(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    book = json.loads(path.read_text(encoding="utf-8"))
    assert 10 <= len(book["cells"]) <= 25
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not any(cell["metadata"] for cell in book["cells"])
    outputs = [output for cell in book["cells"] for output in _said(cell)[1]]
    texts = [[one] if isinstance(one, str) else one.values() for one in outputs]
    assert PRIVATE.search("\n".join(text for part in texts for text in part)) is None


def _said(cell: Notebook) -> list[Any]:
    """What a cell shows as text; of pictures only that they are there."""
    shown = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            shown.append(_plain(output["text"]))
        else:
            data = output["data"]
            shown.append({k: "image" if k == "image/png" else _plain(v) for k, v in data.items()})
    return [cell["source"], shown]


def _plain(text: str | list[str]) -> str:
    return FINGERPRINT.sub("-FINGERPRINT", "".join(text))


def _tree() -> list[Path]:
    """What lies open at the top of the checkout, but for installations, and in notebooks/."""
    installing = ("build", "judgelab.egg-info")
    top = [x for x in ROOT.iterdir() if not x.name.startswith(".") and x.name not in installing]
    return sorted([*top, *(ROOT / "notebooks").rglob("*")])
