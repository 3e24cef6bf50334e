"""Every published table that the data in a folder allow: what ``make tables`` runs.

    python -m experiments.tables --data DIR --out FILE.json

DIR holds the data of one paper, or one folder for each (peer_prediction, gem); a folder that is
absent is said to be. FILE.json gets the rows of the TVD-MI paper's tables, and the others lie
beside it, named after their experiment.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

FIRST = "peer_prediction"
MARKS = {"gem": "gem_iclr2023*.parquet"}
"""Experiment -> a file by which its data are known where DIR holds one paper's alone."""

EXPERIMENTS = (FIRST, "gem")


def commands(data: Path, out: Path) -> Iterator[list[str]]:
    """The modules to run, with their arguments."""
    for name, folder in _found(data).items():
        file = out if name == FIRST else out.with_name(f"{name}_{out.name}")
        yield [f"experiments.{name}.tables", "--data", str(folder), "--out", str(file)]
        if name == FIRST:
            tags = out.with_name("tags.json")
            yield [f"experiments.{name}.tags", "--data", str(folder), "--out", str(tags)]


def _found(data: Path) -> dict[str, Path]:
    """Experiment -> folder of its data."""
    below = {name: data / name for name in EXPERIMENTS if (data / name).is_dir()}
    if below:
        for name in sorted(set(EXPERIMENTS) - below.keys()):
            print(f"{data} has no folder {name}: its tables are left out.", file=sys.stderr)
        return below
    known = [name for name, mark in MARKS.items() if any(data.glob(mark))]
    return {known[0] if known else FIRST: data}  # whose reader says what is amiss


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each; 1 where one of them could not."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tables")
    parser.add_argument("--data", required=True, type=Path, help="released data")
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    chosen = parser.parse_args(arguments)
    codes = [
        subprocess.run([sys.executable, "-m", *command], check=False).returncode
        for command in commands(chosen.data, chosen.out)
    ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
