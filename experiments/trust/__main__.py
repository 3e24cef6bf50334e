"""All trials, one after the other: ``python -m experiments.trust --data DIR [--only NAME ...]``."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.trust import readme
from experiments.trust.results import RESULTS

NEEDS_DATA = {"false_trust": False} | dict.fromkeys(
    ("gates", "verdicts", "held_out", "saving", "promises", "intervals"), True
)
"""Trial -> whether it needs the recorded verdicts."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run them, and write the tables of the README where the results are the shipped ones."""
    parser = argparse.ArgumentParser(prog="python -m experiments.trust", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="+", choices=list(NEEDS_DATA), default=list(NEEDS_DATA))
    given = parser.parse_args(arguments)
    for name in given.only:
        start = time.perf_counter()
        data = ["--data", str(given.data)] if NEEDS_DATA[name] else []
        module = importlib.import_module(f"experiments.trust.{name}")
        module.main([*data, "--out", str(given.out)])
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    if given.out.resolve() == RESULTS.resolve():
        readme.main(["--write"])


if __name__ == "__main__":
    main()
