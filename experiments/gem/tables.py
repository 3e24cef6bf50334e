"""The tables of the GEM paper, as far as its print and its released reviews allow.

    python -m experiments.gem.tables [--data DIR] --out FILE.json

DIR is a clone of the authors' repository (three human reviews of each of 300 papers), or the
reviews as one parquet file gem_iclr2023*.parquet, or the folder of it. Without DIR the tables come
that follow from the print (experiments/gem/printed): all but Table 3. No model is asked.
Prints paper | what the paper does | corrected | n | unscored and writes the same as a JSON list of
rows, with the keys of experiments.peer_prediction. definitions.txt says what each column is. A cell
that does not match is a finding and no failure of the command; its cause is printed last.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import Table, explained, matches, run_tables
from experiments.gem import checks, deletion, leaderboards
from experiments.gem.printed import read_printed
from experiments.repositories import GEM


def compute(path: str | Path | None = None) -> list[Table]:
    """Every table from one folder; without it those that need no reviews.

    Raises:
        DataError: the folder holds no reviews, or a file is damaged.
    """
    printed, of_reviews = read_printed(), list[Table]()
    if path is not None:
        place = Path(path).expanduser()
        folder = next(iter(GEM.folders(place)), place)
        of_reviews = [deletion.table3(printed, deletion.score(folder))]
    tables = [
        leaderboards.table5(printed),
        leaderboards.consistency(printed, "A.2"),
        leaderboards.consistency(printed, "A.3"),
        leaderboards.table7(printed),
        *of_reviews,
        checks.copied_cells(printed),
        checks.resistance(printed),
    ]
    return explained(tables, printed.raw["causes"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    data = "clone of the authors' repository, or their reviews as parquet; without it no Table 3"
    return run_tables("gem", arguments, data, compute, matches, required=False)


if __name__ == "__main__":
    sys.exit(main())
