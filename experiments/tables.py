"""Every published table that the data in a folder allow: what ``make tables`` runs.

    python -m experiments.tables --data DIR --out FILE.json

DIR holds the authors' repositories as git clones them, or our exports of them (peer_prediction,
gem, auto_pre), or both, and RoSE's and SummEval's annotations (rose, summeval); or it is one
clone or one export itself. Where a paper has a clone and an export there, the clone is read and
the export is not: nothing is mixed, and what was read is said. GEM and ranking_confidence have
tables that follow from the print (experiments/*/printed), which come without data too. FILE.json
gets the rows of the TVD-MI paper's tables; the others lie beside it, named after their experiment.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.repositories import AUTO_PRE, GEM, PEER_PREDICTION, Repository


@dataclass(frozen=True)
class Experiment:
    """An experiment and its data."""

    name: str  # its package
    release: Repository | None  # the authors' repository; None: the data are others' annotations
    printed: bool = False  # whether some of its tables need no data

    @property
    def contents(self) -> str:
        """What a folder would have to hold."""
        if self.release is None:
            return "rose (huggingface.co/datasets/Salesforce/rose)"
        return (
            f"{self.release.name} (a clone of {self.release.address}) or {self.release.export[0]}"
        )

    def folders(self, data: Path) -> list[Path]:
        """Where its data lie below a folder; the first is read."""
        if self.release is None:
            return [data] if (data / "rose").is_dir() else []
        return self.release.folders(data)


FIRST = "peer_prediction"
EXPERIMENTS = (
    Experiment(FIRST, PEER_PREDICTION),
    Experiment("gem", GEM, printed=True),
    Experiment("ranking_confidence", None, printed=True),
    Experiment("auto_pre", AUTO_PRE),
)


def commands(data: Path, out: Path) -> Iterator[list[str]]:
    """The modules to run, with their arguments."""
    for name, folder in _folders(data).items():
        file = out if name == FIRST else out.with_name(f"{name}_{out.name}")
        data_option = [] if folder is None else ["--data", str(folder)]
        yield [f"experiments.{name}.tables", *data_option, "--out", str(file)]


def _folders(data: Path) -> dict[str, Path | None]:
    """Experiment -> folder of its data; None: its printed tables alone."""
    for one in EXPERIMENTS:
        if one.release is not None and (layout := one.release.layout(data)):
            _say(f"{one.name}: reads {data} ({layout}).")
            return {one.name: data}
    folders = {one: one.folders(data) for one in EXPERIMENTS}
    if not any(folders.values()):
        return {FIRST: data}  # whose reader says what is amiss
    result: dict[str, Path | None] = {}
    for one, places in folders.items():
        if places:
            other = f"; {places[1]} is not read" if len(places) > 1 else ""
            _say(f"{one.name}: reads {places[0]}{other}.")
            result[one.name] = places[0]
        elif one.printed:
            _say(f"{one.name}: {data} has no {one.contents}; its tables that need none follow.")
            result[one.name] = None
        else:
            _say(f"{one.name}: {data} has no {one.contents}; its tables are left out.")
    return result


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each; 1 where one of them could not."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tables")
    parser.add_argument("--data", required=True, type=Path, help="clones, exports, or one of them")
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    options = parser.parse_args(arguments)
    codes = [
        subprocess.run([sys.executable, "-m", *command], check=False).returncode
        for command in commands(options.data.expanduser(), options.out)
    ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
