"""The tables of the GEM paper, as far as its print and its released reviews allow.

    python -m experiments.gem.tables --data DIR --out FILE.json

DIR holds paper_tables.json (the printed tables and the authors' spreadsheet of benchmarks) and
gem_iclr2023_300x3_reviews.parquet (three human reviews of each of 300 papers), or a folder gem
with both. No model is asked. Prints paper | what the paper does | corrected | n | unscored and
writes the same as a JSON list of rows, with the keys of experiments.peer_prediction. DEFINITIONS
says what each column is. A cell that does not match is a finding and no failure of the command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import run_tables, tables_parser
from experiments.gem import checks, deletion, leaderboards
from experiments.gem.printed import read_printed
from experiments.peer_prediction.rows import Table, summary

DEFINITIONS = """\
paper      the printed number (with its half width).
released   the number as the paper must have got it; match: it rounds to the printed one.
corrected  the same question without the faults named below, with its 95 % interval.

Table 1    which n gives the printed p for the printed correlation with grades.
Table 5    GRE-bench (Table 6) against other benchmarks, over the models that have both.
           released: Pearson, which is what is printed as Spearman. corrected: Spearman, with a
           bootstrap over models.
A.2, A.3   GRE-bench under another evaluation LM, and after another preprocessing LM: the same.
6/7        score against number of parameters, Pearson and Spearman.
7          printed scores beside the spreadsheet's.
Table 3    d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) of ROUGE-L (rouge-score, stemmed) and BLEU
           (sacrebleu's tokens, 4-grams, no smoothing; the authors' are NLTK's tokens).
           released: sentences deleted as the authors' code does, 1.645 standard errors over 600
           rows. corrected: the interval over the 300 papers, two rows each.
           "the paper's wording": no sentence ends inside a number or a word, and layout stays.
           "half width / SE": the printed half width in standard errors of several kinds; a 95 %
           interval would have 1.96.
3=4        GEM-raw in Table 3 beside Table 4.
raw/recall d of GEM-raw over d of BARTScore-recall. log P(y) cancels in the difference, so the
           ratio is one constant; brackets are what rounding leaves open.
+-         how far the printed intervals are from symmetric about d.
3/8        GEM and GEM-S under degradation, half widths scaled to 1.96 and to clustering by paper.
4          how many manipulations raise a metric significantly, by the printed intervals.
"""


def compute(path: str | Path) -> list[Table]:
    """Every table from one folder.

    Raises:
        DataError: the folder lacks a file, or one is damaged.
    """
    folder = Path(path).expanduser()
    if (folder / "gem").is_dir():
        folder = folder / "gem"
    printed = read_printed(folder)
    scored = deletion.score(folder)
    return [
        checks.sizes_behind_p(printed),
        leaderboards.table5(printed),
        leaderboards.consistency(printed, "A.2"),
        leaderboards.consistency(printed, "A.3"),
        leaderboards.sizes(printed),
        leaderboards.table7(printed),
        deletion.table3(printed, scored),
        checks.copied_cells(printed),
        checks.constant_ratio(printed),
        checks.symmetric_intervals(printed),
        checks.significance(printed, deletion.widening(scored)),
        checks.resistance(printed),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    chosen = tables_parser(
        "gem",
        "Recompute what can be of the tables of the GEM paper.",
        "folder of the printed tables and reviews",
    ).parse_args(arguments)
    return run_tables(chosen.out, DEFINITIONS, lambda: compute(chosen.data), summary)


if __name__ == "__main__":
    sys.exit(main())
