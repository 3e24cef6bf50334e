"""How large the house is, room by room, against the budget of each: what ``make size`` prints.

    python -m experiments.size [ROOT]

Lines are all lines of Python, YAML or words of Markdown; a test holds the budgets (budgets.yaml).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = Path(__file__).with_name("budgets.yaml")


@dataclass(frozen=True)
class Size:
    """Of one room: lines of Python (of YAML in conf/, words in docs/), and files."""

    lines: int
    files: int


def size(folder: Path) -> Size:
    """Of all that lies in a folder, or of one file."""
    ending = {"docs": "md", "conf": "yaml"}.get(folder.name, "py")
    files = [folder] if folder.is_file() else list(folder.rglob(f"*.{ending}"))
    texts = [file.read_text("utf-8") for file in files]
    parts = [text.split() if ending == "md" else text.splitlines() for text in texts]
    return Size(sum(map(len, parts)), len(files))


def rooms(root: Path = ROOT) -> Iterator[tuple[str, Size, int]]:
    """(room, its size, its budget); a budget of 0 is none of its own."""
    budgets: dict[str, int] = yaml.safe_load(BUDGETS.read_text("utf-8"))["lines"]
    for name, budget in budgets.items():
        yield name, size(root / name), budget
    for folder in sorted((root / "judgelab").iterdir()):
        name = f"judgelab/{folder.name}"
        if folder.is_dir() and name not in budgets and any(folder.glob("*.py")):
            yield name, size(folder), 0


def main() -> None:
    """Print the table."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    rows = (f"{room:24}{one.lines:8,}{top or '':>8}{one.files:7}" for room, one, top in rooms(root))
    print("\n".join([f"{'room':24}{'lines':>8}{'budget':>8}{'files':>7}", *rows]))


if __name__ == "__main__":
    main()
