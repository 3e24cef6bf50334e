"""The commands of README.md and docs/, and which test runs each."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^ *```bash\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)

TABLE = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
ELSEWHERE: dict[str, tuple[str, str]] = {
    command: (f"tests/{file}", part) for command, (file, part) in TABLE["elsewhere"].items()
}
"""What test_readme does not run: another test does, or it needs what is not here."""
COMPOSED: list[str] = TABLE["composed"]


def commands(page: Path) -> list[str]:
    """Every command of a page, without the comment behind it."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    lines = (re.sub(r"\s+# .*", "", line).strip() for code in blocks for line in code.splitlines())
    return [line for line in lines if line]


ANSWER = re.compile(r"```bash\n([^`]+)\n```\n(?:(?!```).){,700}?```text\n(.*?)```", re.DOTALL)
SHOWN = {
    said.splitlines()[-1]: answer
    for page in PAGES
    for said, answer in ANSWER.findall(page.read_text(encoding="utf-8"))
}
"""Command -> the part of what it prints that its page shows."""
COMMANDS = list(dict.fromkeys(command for page in PAGES for command in commands(page)))
