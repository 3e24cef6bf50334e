"""The tables of the Auto-PRE paper from its authors' released annotations and verdicts.

    python -m experiments.auto_pre.tables --data DIR --out FILE.json

DIR is a clone of the authors' repository (github.com/cjj826/Auto-PRE), the parquet export of it
that ``python -m experiments.auto_pre.release`` makes, or a folder with such a folder (Auto-PRE or
auto_pre). Every dataset found there is used. No model is asked. Prints
paper | released recipe | the same, corrected | stated recipe, corrected, and writes the same as a
JSON list of rows. A cell that does not match is a finding and no failure of the command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.auto_pre import bias, exams, methods
from experiments.auto_pre.bench import Bench
from experiments.auto_pre.printed import cause, read_printed
from experiments.auto_pre.release import absent, is_release, list_datasets, read_dataset
from experiments.auto_pre.rows import Table, summary
from experiments.command import run_tables, tables_parser
from experiments.repositories import AUTO_PRE, instead
from judgelab.core.errors import DataError

DEFINITIONS = """\
paper      the printed number.
released   what the recipe behind the printed number gives (recipes.yaml: judges, weights and
           counting differ from cell to cell). match: it rounds to the printed number.
corrected  the same judges and weights without the faults of counting: files aligned (Table 5),
           both orders merged into one vote everywhere, Spearman's rho signed, votes that tie up to
           rounding are ties, replies in which nothing could be read left out. In brackets the 95 %
           interval over resampled items.
stated     the recipe that the paper states, counted like that. Auto-PRE: judges above the mean in
           P_c and in P_p and with P_s = 1, weighted with the mean of the three. PRE (Auto-Exam):
           P_c > .55. PRE (Human Filter): accuracy on the pairs of three models' answers > .6,
           weighted with it (DailyDialog: not known whose). Where an exam is not released, Table 6
           says who passed it.

n, unscored of released/corrected/stated, where they differ: pairs (items in Table 4, answers in 9
           to 11), and those without a decision on which people have a preference.

Gold       median of the grades; where medians tie, the net preference; undecided pairs are left
           out. None is held out: the human exam's pairs are part of the test.
Credit     right 1, tie 1/2. Averages are over pairs; over items, on DailyDialog, of each item's.
Table 3    single judges: released counts each order by itself, ChatEval's orders merged (except
           on DailyDialog). Human-exam weights of graded formats leave out a misspelt model on
           NF_CATS. Auto-PRE, XSum pairwise: judges of PRE (Auto-Exam), weights of the human exam,
           exact ties counted as wins by rounding.
Table 4    rho is 0 where it is undefined. released on DailyDialog: the mean of |rho|.
Table 5    released on XSum: item t is held against the verdicts of item t + 1.
Table 9    P_p; 10 and 11: confidence on the easy set (GPT-4, RWKV) and the hard (GPT-4, Claude).
"""

ORDER = ("XSum", "NF_CATS", "DailyDialog")


def compute(path: str | Path) -> list[Table]:
    """Every table from one folder.

    Raises:
        DataError: the folder does not hold the release, or a table is damaged.
    """
    given = Path(path).expanduser()
    places = [place for place in (given, *AUTO_PRE.below(given)) if is_release(place)]
    if not places:
        raise DataError(
            f"{given} is no clone of {AUTO_PRE.address} and holds no verdict_pairwise.parquet made "
            f"of one: give the release's folder.{instead(given, AUTO_PRE)}"
        )
    folder = places[0]
    printed = read_printed()
    found = sorted(list_datasets(folder), key=lambda name: (*[name != o for o in ORDER], name))
    benches = [Bench(read_dataset(folder, name), printed) for name in found]
    tables = [
        methods.table3(benches),
        methods.differences(benches),
        methods.without_faulty_answers(benches),
        methods.table4(benches),
        bias.table5(benches),
        methods.table6(benches),
        exams.passes(benches),
        exams.table9(benches),
        exams.table10(benches),
        exams.table11(benches),
    ]
    made = [explained(table) for table in tables if table is not None and table.rows]
    first = made[0]
    return [replace(first, notes=(*first.notes, *absent(folder))), *made[1:]]


def explained(table: Table) -> Table:
    """The table with the cause of every cell that does not match, in its row and below it."""
    rows = tuple(
        replace(row, cause=cause(row.table, row.row, row.column) or "not known")
        if row.match is False
        else row
        for row in table.rows
    )
    said = dict.fromkeys(f"NO, {row.row}, {row.column}: {row.cause}." for row in rows if row.cause)
    return replace(table, rows=rows, notes=(*table.notes, *said))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    chosen = tables_parser(
        "auto_pre",
        "Recompute the tables of the Auto-PRE paper from its released data.",
        "a clone of github.com/cjj826/Auto-PRE, or its parquet export",
    ).parse_args(arguments)
    return run_tables(chosen.out, DEFINITIONS, lambda: compute(chosen.data), summary)


if __name__ == "__main__":
    sys.exit(main())
