"""MI and GPPM against their formulas, written out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgelab.core.errors import DataError
from judgelab.core.panel import folds
from judgelab.mechanism.gppm import Gppm
from judgelab.mechanism.logprob import measure_logprob
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.tvd_mi import partners
from tests.scripted import ScriptedLogProb, panel_of

TEXTS = [["one two", "one two three", "five"], ["six six", "seven", "six seven nine ten"]]


def rule(context: str, target: str) -> float:
    """Any function of the two texts will do for the arithmetic."""
    shared = len(set(context.split()) & set(target.split()))
    return -3.0 * len(target.split()) + 1.7 * shared - 0.1 * len(context)


def by_hand(row: list[str], i: int, j: int) -> float:
    base = rule("Summaries:\n", row[i])
    given = rule(f"Summaries:\n{row[j]}\n", row[i])
    return (given - base) / len(row[i].split())


@pytest.mark.parametrize("per", ["token", "sum"])
def test_mi_is_the_mean_of_both_directions(per: str) -> None:
    mechanism, lm = Mi(per=per), ScriptedLogProb(rule)  # type: ignore[arg-type]
    scores = mechanism.score(mechanism.measure(panel_of(TEXTS), lm, seed=0))
    assert len(lm.seen) == len(set(lm.seen)) == 2 * (3 * 2 + 3), "each is asked once"
    for k, row in enumerate(TEXTS):
        scale = [1.0 if per == "token" else len(t.split()) for t in row]
        for i in range(3):
            peers = [j for j in range(3) if j != i]
            out = np.mean([by_hand(row, i, j) * scale[i] for j in peers])
            into = np.mean([by_hand(row, j, i) * scale[j] for j in peers])
            assert scores.agent.values[k, i] == pytest.approx((out + into) / 2)
    assert scores.pair is not None
    assert np.isnan(scores.pair.values[:, [0, 1, 2], [0, 1, 2]]).all()
    np.testing.assert_allclose(scores.pair.values, np.swapaxes(scores.pair.values, 1, 2))


def test_gppm_pays_for_predicting_the_peers() -> None:
    mechanism = Gppm()
    data = mechanism.measure(panel_of(TEXTS), ScriptedLogProb(rule), seed=0)
    scores = mechanism.score(data)
    for k, row in enumerate(TEXTS):
        for i in range(3):
            shown, peers = f"Summaries:\n{row[i]}\n", [row[j] for j in range(3) if j != i]
            expected = np.mean([rule(shown, peer) / len(peer.split()) for peer in peers])
            assert scores.agent.values[k, i] == pytest.approx(expected)
    with pytest.raises(DataError, match="experiments/peer_prediction"):  # in recorded data alone
        mechanism.score(data, "released")


def test_absent_texts_are_unscored_and_do_not_disturb_the_others() -> None:
    texts = [["one two", None, "five one"], ["six six", "seven", "six seven nine ten"]]
    mechanism = Mi()
    scores = mechanism.score(mechanism.measure(panel_of(texts), ScriptedLogProb(rule), seed=0))
    assert np.isnan(scores.agent.values[0, 1])
    alone = [["one two", "five one"], ["six six", "six seven nine ten"]]
    pair = mechanism.score(mechanism.measure(panel_of(alone), ScriptedLogProb(rule), seed=0))
    np.testing.assert_allclose(scores.agent.values[0, [0, 2]], pair.agent.values[0])


def test_negatives_pair_a_text_with_the_peers_text_on_the_partner_item() -> None:
    partner = np.array([[1], [0]])
    data = measure_logprob(panel_of(TEXTS), ScriptedLogProb(rule), partner)
    assert data["negative"].dims == ("item", "agent", "peer", "draw")
    assert data["negative"].values[0, 2, 1, 0] == rule(f"Summaries:\n{TEXTS[1][1]}\n", TEXTS[0][2])
    assert math.isnan(data["negative"].values[0, 1, 1, 0])


def test_partners_stay_in_the_fold_and_are_never_the_item_itself() -> None:
    ids = [f"item {k}" for k in range(11)]
    fold = folds(ids, 3, seed=5)
    assert sorted(np.bincount(fold).tolist()) == [3, 4, 4]
    chosen = partners(ids, fold, 2, seed=5)
    for k, row in enumerate(chosen):
        assert k not in row
        assert len(set(row)) == 2
        assert (fold[row] == fold[k]).all()
    np.testing.assert_array_equal(chosen, partners(ids, fold, 2, seed=5))
    assert (chosen != partners(ids, fold, 2, seed=6)).any()


def test_folds_and_partners_do_not_depend_on_the_order_of_the_items() -> None:
    ids = [f"item {k}" for k in range(9)]
    back = ids[::-1]
    there, again = folds(ids, 2, seed=1), folds(back, 2, seed=1)
    assert dict(zip(ids, there, strict=True)) == dict(zip(back, again, strict=True))
    first, second = partners(ids, there, 2, seed=1), partners(back, again, 2, seed=1)
    named = {i: {ids[k] for k in row} for i, row in zip(ids, first, strict=True)}
    assert named == {i: {back[k] for k in row} for i, row in zip(back, second, strict=True)}
