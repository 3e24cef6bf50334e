"""What a marker made from the source adds to a score, apart from what the texts say.

    python -m experiments.peer_prediction.tags --data DIR --out FILE.json

The released format and pattern attacks put md5(source) into every text of an item. Here the same
texts are attacked with a marker made from the source, from the agent, and with a constant one, and
scored by the offline compression LM. Only the first kind tells which texts share a source: the gap
between it and the others is information that the attack brought in.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from experiments.peer_prediction.release import list_domains, read_domain
from experiments.peer_prediction.rows import Row, Table
from judgelab.attack.format import Format
from judgelab.attack.pattern import Pattern
from judgelab.attack.protocol import Attack, Tag
from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.stats.discrimination.auc import item_auc
from judgelab.stats.discrimination.effect_size import auc_delta, score_delta
from judgelab.study.common.groups import groups

Floats = NDArray[np.float64]
SEED, DRAWS = 0, 2000


def attacked_panel(data: str, items: int) -> Panel:
    """The first items of the domain that the authors attacked (else of the first with texts).

    Raises:
        DataError: no domain of the folder has responses.
    """
    found = list_domains(data)
    order = [domain for domain, attack in found if attack] + [domain for domain, _ in found]
    for domain in dict.fromkeys(order):
        panel = read_domain(data, domain).panel(items)
        if panel.agents:
            return panel
    raise DataError(f"{data} holds no responses, so nothing can be attacked anew.")


def table(panel: Panel, lm: EvaluationLM) -> Table:
    """Change of mean score and of the agent-level AUC under each attack and marker."""
    attacks: list[tuple[str, Attack]] = [
        (f"{kind.name} tag={tag}", kind(tag=tag))
        for kind in (Format, Pattern)
        for tag in get_args(Tag)
    ]
    mechanisms: dict[str, Mechanism] = {
        "MI (sum)": Mi(per="sum"),
        "TVD-MI": TvdMi(Prompt("tvd_mi.txt")),
    }
    rows = []
    for column, mechanism in mechanisms.items():
        clean = _scores(mechanism, panel, lm)
        for name, attack in attacks:
            after = _scores(mechanism, attack.apply(panel, lm, seed=SEED), lm)
            delta = score_delta(clean[0], after[0], DRAWS, SEED)
            rows.append(Row("tags", name, f"{column} delta", corrected=delta))
            change = auc_delta(clean[1], after[1], DRAWS, SEED)
            rows.append(Row("tags", name, f"{column} delta AUC", corrected=change))
    note = (
        f"{panel.provenance.get('domain')}, first {len(panel.items)} items, {lm.identity}. "
        "TVD-MI rises only where the marker tells which texts share a source, which the texts do "
        "not tell. MI rises with any shared marker: the marginal pays for it, the conditional not."
    )
    return Table(
        "tags", "the same attack with markers that do and do not leak", tuple(rows), (note,)
    )


def _scores(mechanism: Mechanism, panel: Panel, lm: EvaluationLM) -> tuple[Floats, Floats]:
    values = mechanism.score(mechanism.measure(panel, lm, seed=SEED)).agent.values
    group = groups(panel, "corrected")
    return values, item_auc(values, group.good, group.bad)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence where the data are not right."""
    parser = argparse.ArgumentParser(prog="python -m experiments.peer_prediction.tags")
    parser.add_argument("--data", required=True, help="clone of the authors' repository, or export")
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    parser.add_argument("--items", type=int, default=8)
    parser.add_argument("--cache", type=Path, default=Path("outputs/cache/calls.sqlite"))
    chosen = parser.parse_args(arguments)
    try:
        lm = Cached(Compression(), CallCache(chosen.cache))
        try:
            made = table(attacked_panel(chosen.data, chosen.items), lm)
        finally:
            lm.close()
    except JudgelabError as cause:
        print(cause, file=sys.stderr)
        return 1
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([row.as_dict() for row in made.rows], indent=1, allow_nan=False)
    chosen.out.write_text(text + "\n", encoding="utf-8")
    print(made.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
