"""The tables of the GEM paper, as far as its print and its released reviews allow.

    python -m experiments.gem.tables [--data DIR] --out FILE.json

DIR is a clone of the authors' repository (three human reviews of each of 300 papers), or the
reviews as one parquet file gem_iclr2023*.parquet, or the folder of it. Without DIR the tables come
that follow from the print (experiments/gem/printed): all but Tables 3 and 3/8. No model is asked.
Prints paper | what the paper does | corrected | n | unscored and writes the same as a JSON list of
rows, with the keys of experiments.peer_prediction. DEFINITIONS says what each column is. A cell
that does not match is a finding and no failure of the command; its cause is printed last.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import run_tables, tables_parser
from experiments.gem import checks, deletion, leaderboards
from experiments.gem.printed import read_printed, tables
from experiments.peer_prediction.rows import Table, summary
from experiments.repositories import GEM

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
3/8        GEM and GEM-S under degradation, half widths scaled to 1.96 and to clustering by paper;
           d itself cannot be computed anew.
4          how many manipulations raise a metric significantly, by the printed intervals.
"""


def compute(path: str | Path | None = None) -> list[Table]:
    """Every table from one folder; without it those that need no reviews.

    Raises:
        DataError: the folder holds no reviews, or a file is damaged.
    """
    folder = None if path is None else Path(path).expanduser()
    if folder is not None and GEM.layout(folder) is None:
        folder = next(iter(GEM.below(folder)), folder)
    printed = read_printed()
    scored = None if folder is None else deletion.score(folder)
    return [
        checks.sizes_behind_p(printed),
        leaderboards.table5(printed),
        leaderboards.consistency(printed, "A.2"),
        leaderboards.consistency(printed, "A.3"),
        leaderboards.sizes(printed),
        leaderboards.table7(printed),
        *([] if scored is None else [deletion.table3(printed, scored)]),
        checks.copied_cells(printed),
        checks.constant_ratio(printed),
        checks.symmetric_intervals(printed),
        *([] if scored is None else [checks.significance(printed, deletion.widening(scored))]),
        checks.resistance(printed),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    chosen = tables_parser(
        "gem",
        "Recompute what can be of the tables of the GEM paper.",
        "clone of the authors' repository, or their reviews as parquet; without it no Table 3",
        required=False,
    ).parse_args(arguments)
    causes = tables()["causes"]
    return run_tables(
        chosen.out, DEFINITIONS, lambda: compute(chosen.data), lambda made: summary(made, causes)
    )


if __name__ == "__main__":
    sys.exit(main())
