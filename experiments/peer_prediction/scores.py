"""Agent and pair scores of the recorded mechanisms, by the released and the corrected definition.

u is [items, agents], S is [items, agents, agents] and symmetric; NaN is unscored. M[i, j] is the
recorded array of a mechanism, W a judge's verdicts with i shown first. Means leave out j = i.

    mechanism  released                                 corrected
    MI         u = (mean_j M[i,j] + mean_j M[j,i]) / 2  the same
    GPPM       u = the released score, which divides    u = mean_j log P(j | i) per token of j
               by the token counts of another item
    TVD-MI     u = mean_j (M[i,j] + M[j,i]) / 2         the same, complete items only
    judges     u = mean_j W[i,j]: i shown first only,   u = (mean_j W[i,j] + mean_j 1 - W[j,i]) / 2
               failed calls lost                        complete items only

    S = (M + M') / 2 for MI, GPPM (log P) and TVD-MI; for judges min(q_i, q_j) with
    q_i = (W[i,R] + 1 - W[R,i]) / 2 against the Reference R alone (released; where there is no
    Reference the row mean) or the corrected u (corrected).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.releases.peer_prediction.domain import BoolArray, FloatArray, IntArray, ReleasedDomain
from judgelab.releases.peer_prediction.taxonomy import TAXONOMY
from judgelab.stats.intervals.arrays import row_means

GOOD_FAITH = ("Faithful", "Style")
PROBLEMATIC = ("Strategic", "Low Effort")
JUDGES = ("judge_with_context", "judge_without_context")


def agent_scores(data: ReleasedDomain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """u [items, agents], higher is better; None where the release lacks the mechanism."""
    pairs = data.pairs(mechanism)
    if pairs is None:
        return None
    if mechanism == "gppm":
        return _columns(pairs) if corrected else data.gppm_released
    if mechanism not in JUDGES:
        u = (row_means(pairs) + _columns(pairs)) / 2
    elif corrected:
        u = (row_means(pairs) + _columns(1 - pairs)) / 2
    else:
        u = row_means(pairs)
    return _only_complete(u, data, mechanism) if corrected else u


def one_order_scores(data: ReleasedDomain, mechanism: str) -> FloatArray | None:
    """A judge's released u (i shown first only), on complete items only."""
    u = agent_scores(data, mechanism, corrected=False)
    return None if u is None else _only_complete(u, data, mechanism)


def first_wins(data: ReleasedDomain, mechanism: str) -> FloatArray | None:
    """[items, 1] share of comparisons that the response shown first wins, complete items only."""
    pairs = data.pairs(mechanism)
    if pairs is None:
        return None
    share = row_means(pairs.reshape(len(pairs), -1))[:, None]
    return _only_complete(share, data, mechanism)


def pair_scores(data: ReleasedDomain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """S [items, agents, agents], symmetric; None where the release lacks the mechanism."""
    pairs = data.pairs(mechanism)
    if pairs is None:
        return None
    if mechanism not in JUDGES:
        symmetric = (pairs + np.swapaxes(pairs, 1, 2)) / 2
        return _only_complete(symmetric, data, mechanism) if corrected else symmetric
    if corrected:
        both_orders = agent_scores(data, mechanism, corrected=True)
        assert both_orders is not None
        # Equal win rates reached by other sums differ in the last bit: ties must stay ties.
        quality = np.round(both_orders, 12)
    else:
        quality = _against_reference(data, pairs)
    return np.minimum(quality[:, :, None], quality[:, None, :])


def group_mask(data: ReleasedDomain, groups: Sequence[str], *, corrected: bool) -> BoolArray:
    """Mask [agents] of the agents under test in these categories, for the effect sizes.

    The human reference is not under test. The released code drops the first agent instead,
    which is the Reference wherever there is one.
    """
    tested = [not agent.reference for agent in data.agents]
    if not corrected:
        tested[0] = False
    member = [agent.category in groups for agent in data.agents]
    return np.array(tested, dtype=np.bool_) & np.array(member, dtype=np.bool_)


def group_indices(data: ReleasedDomain, groups: Sequence[str]) -> IntArray:
    """Agents of these categories, for the AUC, in the order in which the released code pairs them.

    The order matters only for its random down-sampling. Names it does not know come last. The
    human reference is in where the release puts it in a category (ICLR: Faithful).
    """
    indices: list[int] = []
    for group in groups:
        names = TAXONOMY.get(data.task, {}).get(group, ())
        rank = {name: position for position, name in enumerate(names)}
        members = [i for i, agent in enumerate(data.agents) if agent.category == group]
        indices += sorted(members, key=lambda i: (rank.get(data.agents[i].name, len(rank)), i))
    return np.array(indices, dtype=np.int64)


def align(
    clean_ids: IntArray, clean: FloatArray, attacked_ids: IntArray, attacked: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both arrays on the items of either, in order of id; NaN rows where one lacks the item."""
    ids = np.union1d(clean_ids, attacked_ids)
    return _placed(ids, clean_ids, clean), _placed(ids, attacked_ids, attacked)


def _placed(ids: IntArray, own: IntArray, values: FloatArray) -> FloatArray:
    placed = np.full((len(ids), *values.shape[1:]), np.nan)
    placed[np.searchsorted(ids, own)] = values
    return placed


def _columns(pairs: FloatArray) -> FloatArray:
    return row_means(np.swapaxes(pairs, 1, 2))


def _only_complete(values: FloatArray, data: ReleasedDomain, mechanism: str) -> FloatArray:
    kept = values.copy()
    kept[~data.complete(mechanism)] = np.nan
    return kept


def _against_reference(data: ReleasedDomain, wins: FloatArray) -> FloatArray:
    reference = [index for index, agent in enumerate(data.agents) if agent.reference]
    if not reference:
        return row_means(wins)
    quality = (wins[:, :, reference[0]] + 1 - wins[:, reference[0], :]) / 2
    # The released code reads the unmeasured diagonal as 0, so the Reference ties with itself.
    quality[:, reference[0]] = 0.5
    return quality
