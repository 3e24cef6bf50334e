"""The tables of the Auto-PRE paper from its authors' released annotations and verdicts.

    python -m experiments.auto_pre.tables --data DIR --out FILE.json

DIR is a clone of the authors' repository (github.com/cjj826/Auto-PRE), the parquet export of it
(verdict_pairwise.parquet and others), or a folder with such a folder (Auto-PRE or auto_pre). Every
dataset found there is used. No model is asked. Prints paper | released recipe | the same,
corrected | stated recipe, corrected, and writes the same as a JSON list of rows. A cell that does
not match is a finding and no failure of the command; its cause is printed last.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.auto_pre import bias, exams, methods
from experiments.auto_pre.bench import Bench
from experiments.auto_pre.printed import recipes
from experiments.auto_pre.release import list_datasets, read_dataset
from experiments.command import Table, explained, matches, run_tables
from experiments.repositories import AUTO_PRE
from judgelab.core.errors import DataError

ORDER = ("XSum", "NF_CATS", "DailyDialog")


def compute(path: str | Path) -> list[Table]:
    """Every table from one folder.

    Raises:
        DataError: the folder does not hold the release, or a table is damaged.
    """
    place = Path(path).expanduser()
    folder = next(filter(AUTO_PRE.layout, AUTO_PRE.folders(place)), None)
    if folder is None:
        raise DataError(
            f"{place} is no clone of {AUTO_PRE.address} and holds no verdict_pairwise.parquet made "
            f"of one: give the release's folder."
        )
    names = sorted(list_datasets(folder), key=lambda name: (*[name != o for o in ORDER], name))
    benches = [Bench(read_dataset(folder, name)) for name in names]
    tables = [
        methods.table3(benches),
        methods.differences(benches),
        methods.table4(benches),
        bias.table5(benches),
        methods.table6(benches),
        exams.table9(benches),
        exams.table10(benches),
        exams.table11(benches),
    ]
    return explained((table for table in tables if table.rows), recipes()["misses"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    data = f"a clone of {AUTO_PRE.address}, or its parquet export"
    return run_tables("auto_pre", arguments, data, compute, matches)


if __name__ == "__main__":
    sys.exit(main())
