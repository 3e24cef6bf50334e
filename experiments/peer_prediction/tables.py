"""The tables of the TVD-MI paper from its authors' released data.

    python -m experiments.peer_prediction.tables --data DIR --out FILE.json

DIR is a clone of github.com/zrobertson466920/llm-peer-prediction or the parquet export of it.
Every domain found there is used. Prints paper | released code's definition | corrected | n |
unscored and writes the same as a JSON list of rows. DEFINITIONS says what each column is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import run_tables, tables_parser
from experiments.peer_prediction.attacks import table4
from experiments.peer_prediction.compression import table_b1
from experiments.peer_prediction.conditions import table6
from experiments.peer_prediction.domain import Domain
from experiments.peer_prediction.effect_sizes import table2
from experiments.peer_prediction.pair_auc import table3, table5
from experiments.peer_prediction.release import list_domains, read_domain
from experiments.peer_prediction.rows import Table, paper, summary
from judgelab.core.errors import DataError

DEFINITIONS = """\
paper      the printed number (with its half width).
released   what the released code computes from the released scores; match: it rounds to the
           printed number. Failed calls are stored as 0 and taken at face value. +- is half of the
           95 % item-bootstrap interval.
corrected  the same question without the faults named below, with its 95 % interval over items
           (from what each item adds); n and unscored count its items (fits: domains), "n
           released" those of released. Of the critic's and the judges' failed calls an item has
           the number, but not the cells: its cells are divided by its share of completed calls,
           which leaves the failed ones out if failing does not depend on the result. Items with
           less than half of their calls are unscored.
worst, best  corrected with the failed calls (anywhere among the zeros) decided against and for
           Good Faith: exact bounds of d; of an AUC its values in the two cases that are worst
           and best for the difference of the groups' means.

GF = Faithful and Style agents, PR = Strategic and Low Effort agents, by the released code's
categories. The human Reference is everybody's peer, but is not itself an agent under test.

Table 2    d = mean / SD over items of (mean u of GF - mean u of PR): paired, so it grows when
           items are alike. u by mechanism:
             MI      mean of both directions of log P(i|j) - log P(i) per token; the same.
             GPPM    released: the log-probabilities divided by token counts of another item, the
                     first that the worker process handled. corrected: mean log P(j|i) per token.
             TVD-MI  mean of both directions.
             judges  released: share of wins when shown first, so position bias is in it.
                     corrected: mean over both orders.
           Baseline  released: pooled d over agents of corpus BLEU (translation) or ROUGE-1 on
                     sets of words. corrected: the paired d of the other columns, of sentence BLEU
                     or standard ROUGE-1 (rouge-score tokens, no stemming).
Table 3    AUC per item of GF-GF pairs against GF-PR pairs, mean over items. ICLR counts its
           Reference as Faithful here. Pair score: mean of both directions (MI, GPPM, TVD-MI).
           released: the larger class of each item is down-sampled with the item's id as seed;
           judges by the comparisons with the Reference alone, a pair being its worse member.
           corrected: all pairs; judges by the win rate over all peers and both orders, a pair
           being its worse member.
           The text defines positives as Faithful-Faithful pairs, the code as GF-GF; corrected
           keeps GF-GF, as the paper's two-category argument and its other tables do. The literal
           reading, all pairs and not down-sampled, has columns of its own: "(Faithful only)".
Table 4    Reddit TIFU, attacked minus clean. delta: mean over items of the mean u of all agents,
           Reference included. delta d: of Table 2's d; released: d = 0 where nothing was scored.
           The printed +-0.050 is a constant of the code, that of the average row the SD over the
           four attacks (so is released there).
           corrected: items scored in both runs. Over both orders a judge's mean u is 1/2 by
           construction, so its corrected delta is 0 and its p 1: the printed one is a change of
           position bias, shown as "position bias delta". "one order" is the released delta d
           without the failed calls.
Table 5    Table 3 on attacked responses. The released rows of the attacks use all pairs, that of
           no attack is Table 3's.
Table 6    mean u of five agents; the paper's domain has no released scores, so every other.
B.1        |d| on the paper's compression ratios, line against parabola, F(1, n-3): on Table 2 as
           printed, on Table 2 with d of the OPUS run at hand (the release's is an earlier one
           than the paper's), and on the domains at hand.
"""


def compute(path: str | Path) -> list[Table]:
    """Every table from one folder of released data.

    Raises:
        DataError: the folder holds no release, no domain, or a damaged file.
    """
    found = list_domains(path)
    if not found:
        raise DataError(f"{path} holds no recorded scores: fetch the release again.")
    data = sorted((read_domain(path, *key) for key in found), key=_position)
    clean = [each for each in data if each.attack is None]
    attacked = [each for each in data if each.attack is not None]
    return [
        table2(clean),
        table3(clean),
        table4(clean, attacked),
        table5(clean, attacked),
        table6(clean),
        table_b1(clean),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    chosen = tables_parser(
        "peer_prediction",
        "Recompute the tables of the TVD-MI paper from its released data.",
        "clone of the authors' repository, or export",
    ).parse_args(arguments)
    causes = paper()["causes"]
    return run_tables(
        chosen.out, DEFINITIONS, lambda: compute(chosen.data), lambda made: summary(made, causes)
    )


def _position(data: Domain) -> tuple[int, str, int, str]:
    """The paper's order of domains and attacks; what it does not have comes last, by name."""
    domains, attacks = list(paper()["compression"]), ["", *paper()["attacks"]]
    attack = data.attack or ""
    return (
        domains.index(data.domain) if data.domain in domains else len(domains),
        data.domain,
        attacks.index(attack) if attack in attacks else len(attacks),
        attack,
    )


if __name__ == "__main__":
    sys.exit(main())
