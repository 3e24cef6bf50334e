"""How large the house is, room by room, against the budget of each: what ``make size`` prints.

    python -m experiments.size [ROOT]

Lines are all lines of Python, YAML or words of Markdown; a test holds the budgets (budgets.yaml).
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = Path(__file__).with_name("budgets.yaml")


@dataclass(frozen=True)
class Size:
    """Of one room.

    Attributes:
        lines: of Python; of YAML in conf/; words in docs/.
        files, classes, functions, comments: of Python (files of any kind elsewhere).
    """

    lines: int
    files: int
    classes: int = 0
    functions: int = 0
    comments: int = 0


def size(folder: Path) -> Size:
    """Of all that lies in a folder, or of one file."""
    if folder.name == "docs":
        pages = list(folder.rglob("*.md"))
        return Size(sum(len(page.read_text("utf-8").split()) for page in pages), len(pages))
    ending = "yaml" if folder.name == "conf" else "py"
    files = [folder] if folder.is_file() else list(folder.rglob(f"*.{ending}"))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    if ending == "yaml":
        return Size(lines, len(files))
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    classes = sum(isinstance(node, ast.ClassDef) for node in nodes)
    functions = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
    return Size(lines, len(files), classes, functions, sum(map(_comments, files)))


def _comments(file: Path) -> int:
    with file.open("rb") as text:
        return sum(one.type == tokenize.COMMENT for one in tokenize.tokenize(text.readline))


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
    print(
        f"{'room':24}{'lines':>8}{'budget':>8}{'files':>7}{'classes':>9}{'functions':>11}{'#':>6}"
    )
    for name, one, budget in rooms(root):
        print(
            f"{name:24}{one.lines:8,}{budget or '':>8}{one.files:7}{one.classes:9}"
            f"{one.functions:11}{one.comments:6}"
        )


if __name__ == "__main__":
    main()
