"""Long tables of what judges said and pools decided."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgelab.core.panel import Panel
from judgelab.study.qualification.case import Case
from judgelab.study.qualification.judge_responses import Hearing


def verdict_records(panel: Panel, hearing: Hearing) -> pd.DataFrame:
    """One row per judge, item and pair (both orders), or per judge, item and answer."""
    names = np.array([agent.name for agent in panel.agents])
    items = np.array([item.id for item in panel.items])
    judges = np.array(hearing.judges)
    if hearing.verdicts is None:
        assert hearing.grades is not None
        shape = hearing.grades.shape
        j, i, a = (grid.ravel() for grid in np.indices(shape))
        columns = {"judge": judges[j], "item": items[i], "agent": names[a]}
        return pd.DataFrame({**columns, "grade": hearing.grades.ravel()})
    j, i, p = (grid.ravel() for grid in np.indices(hearing.verdicts.shape[:3]))
    pair = names[hearing.pairs]
    columns = {"judge": judges[j], "item": items[i], "first": pair[p, 0], "second": pair[p, 1]}
    shown = {"first_wins": hearing.verdicts[..., 0].ravel()}
    return pd.DataFrame(
        {**columns, **shown, "first_wins_shown_second": hearing.verdicts[..., 1].ravel()}
    )


def decision_records(panel: Panel, case: Case) -> pd.DataFrame:
    """One row per pool, item and pair: the decision (1 first, -1 second, 0 tie) and people's."""
    names = np.array(case.agents)[case.hearing.pairs]
    items = np.array([item.id for item in panel.items])
    parts = []
    for pool in case.pools:
        sign = pool.decision.sign
        sign = sign if sign.ndim == 2 else sign.mean(axis=-1)
        i, p = (grid.ravel() for grid in np.indices(sign.shape))
        parts.append(
            pd.DataFrame(
                {
                    "pool": pool.name,
                    "item": items[i],
                    "first": names[p, 0],
                    "second": names[p, 1],
                    "decision": sign.ravel(),
                    "people": case.gold.ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
