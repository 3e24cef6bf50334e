"""Every published table that the data in a folder allow: what ``make tables`` runs.

    python -m experiments.tables --data DIR --out FILE.json

DIR holds the data of one paper, or a folder for each (peer_prediction, gem, rose, auto_pre);
what is absent is said to be. FILE.json gets the rows of the TVD-MI paper's tables, and the
others lie beside it, named after their experiment.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Experiment:
    """Where an experiment's data lie.

    Attributes:
        name: its package.
        address: where its authors released the data.
        folder: by which a folder of several papers shows that they are there.
        whole: whether it wants the folder of several papers, and not its own.
        mark: a file by which a folder is known that holds its data alone.
    """

    name: str
    address: str
    folder: str
    whole: bool = False
    mark: str | None = None


FIRST = "peer_prediction"
EXPERIMENTS = (
    Experiment(FIRST, "github.com/zrobertson466920/llm-peer-prediction", FIRST),
    Experiment(
        "gem",
        "github.com/yx-lu/Benchmarking-LLMs--Judgments-with-No-Gold-Standard",
        "gem",
        mark="gem_iclr2023*.parquet",
    ),
    Experiment("ranking_confidence", "huggingface.co/datasets/Salesforce/rose", "rose", whole=True),
    Experiment(
        "auto_pre", "github.com/cjj826/Auto-PRE", "auto_pre", mark="verdict_pairwise.parquet"
    ),
)


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
    known = [one for one in EXPERIMENTS if find_spec(f"experiments.{one.name}")]
    below = [one for one in known if (data / one.folder).is_dir()]
    if below:
        for one in known:
            if one not in below:
                print(
                    f"{data} has no folder {one.folder}: the tables of {one.name} are left out "
                    f"(its data are from {one.address}).",
                    file=sys.stderr,
                )
        return {one.name: data if one.whole else data / one.folder for one in below}
    marked = [one.name for one in known if one.mark and any(data.glob(one.mark))]
    return {marked[0] if marked else FIRST: data}  # whose reader says what is amiss


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
