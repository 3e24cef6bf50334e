"""Writes the tables of the README from the result files.

python -m experiments.stopping.readme --write
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.trust.readme import markdown
from experiments.trust.results import read

HERE = Path(__file__).parent
README, RESULTS = HERE / "README.md", HERE / "results"
TABLES = ("orders", "widths", "truth")
COMMAND = "python -m experiments.stopping.readme --write"


def page(text: str, folder: Path = RESULTS) -> str:
    """The page with every table made anew.

    Raises:
        ValueError: the page lacks a table's marks.
    """
    for name in TABLES:
        first, last = f"<!-- begin {name}: made by `{COMMAND}` -->", f"<!-- end {name} -->"
        before, opened, rest = text.partition(first)
        _, closed, after = rest.partition(last)
        if not (opened and closed):
            raise ValueError(f"README.md lacks the marks {first!r} and {last!r}.")
        table = markdown(read(name, folder)[0])
        text = f"{before}{first}\n\n{table}\n\n{last}{after}"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or say that the page is stale."""
    parser = argparse.ArgumentParser(description="Tables of experiments/stopping/README.md.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    old = README.read_text(encoding="utf-8")
    new = page(old)
    if write:
        README.write_text(new, encoding="utf-8")
    elif old != new:
        print(f"README.md is stale: {COMMAND}", file=sys.stderr)
    return 0 if write else int(old != new)


if __name__ == "__main__":
    sys.exit(main())
