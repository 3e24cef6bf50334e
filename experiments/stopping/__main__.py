"""All replays, one after the other: ``python -m experiments.stopping --data DIR``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.stopping import orders, readme, truth, widths


def main(arguments: Sequence[str] | None = None) -> None:
    """Run them, and write the tables of the README."""
    parser = argparse.ArgumentParser(prog="python -m experiments.stopping", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args(arguments)
    for one in (orders, widths):
        one.main(["--data", str(given.data)])
    truth.main([])
    readme.main(["--write"])


if __name__ == "__main__":
    main()
