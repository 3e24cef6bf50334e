"""The tables of the TVD-MI paper from its authors' released data.

    python -m experiments.peer_prediction.tables --data DIR --out FILE.json

DIR is a clone of github.com/zrobertson466920/llm-peer-prediction or the parquet export of it.
Every domain found there is used. Prints paper | released code's definition | corrected | n |
unscored and writes the same as a JSON list of rows. definitions.txt says what each column is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.command import Table, explained, matches, run_tables
from experiments.peer_prediction.attacks import table4
from experiments.peer_prediction.compression import table_b1
from experiments.peer_prediction.conditions import table6
from experiments.peer_prediction.domain import Domain
from experiments.peer_prediction.effect_sizes import table2
from experiments.peer_prediction.pair_auc import table3, table5
from experiments.peer_prediction.release import list_domains, read_domain
from experiments.peer_prediction.rows import paper
from judgelab.core.errors import DataError


def compute(path: str | Path) -> list[Table]:
    """Every table from one folder of released data.

    Raises:
        DataError: the folder holds no release, no domain, or a damaged file.
    """
    keys = list_domains(path)
    if not keys:
        raise DataError(f"{path} holds no recorded scores: fetch the release again.")
    data = sorted((read_domain(path, *key) for key in keys), key=_position)
    clean = [each for each in data if each.attack is None]
    attacked = [each for each in data if each.attack is not None]
    tables = [
        table2(clean),
        table3(clean),
        table4(clean, attacked),
        table5(clean, attacked),
        table6(clean),
        table_b1(clean),
    ]
    return explained(tables, paper()["causes"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    data = "clone of the authors' repository, or export"
    return run_tables("peer_prediction", arguments, data, compute, matches)


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
