"""Exam, exact test and verdicts on blocks of known truth."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from judgelab.stats.screen import verdicts
from judgelab.stats.screen.exam import SourceExam, centre, deal, match_effect
from judgelab.stats.screen.verdicts import false_discoveries, merge, permutation_p, screen

M = 6


def panel(informed: list[float], blocks: int = 10, seed: int = 0) -> np.ndarray:
    """Scores [blocks, agents, peers, m, m]: two texts of one item share the product of what their
    agents are informed of; each text has a level of its own, as its length would give it."""
    rng = np.random.default_rng(seed)
    known = np.array(informed)
    n = len(known)
    scores = rng.normal(0, 1, (blocks, n, n, M, M))
    level = rng.normal(0, 3, (blocks, n, M))
    scores += level[:, :, None, :, None] + level[:, None, :, None, :]
    return scores + 3 * (known[:, None] * known)[None, :, :, None, None] * np.eye(M)


def screened(scores: np.ndarray, group: list[int] | None = None):
    blocks = deal([f"{k:03d}" for k in range(M * len(scores))], M)
    even = centre(scores)
    groups = np.arange(scores.shape[1]) if group is None else np.array(group)
    return screen(merge([even], blocks, ["one"]), blocks, groups)


def test_effect_is_matched_less_mismatched_where_texts_are_missing() -> None:
    cells = np.random.default_rng(1).normal(size=(1, 1, 1, M, M))
    cells[..., 4, :] = cells[..., :, 2] = np.nan
    both = (cells + cells.transpose(0, 2, 1, 4, 3)) / 2
    rows = [k for k in range(M) if k not in (2, 4)]
    part = both[0, 0, 0][np.ix_(rows, rows)]
    plain = np.trace(part) / 4 - part[~np.eye(4, dtype=bool)].mean()
    there = np.isin(range(M), rows)
    part = np.where(there[:, None] & there, both, np.nan)
    assert np.nanmean(match_effect(centre(part)[:, 0, 0])) == pytest.approx(plain)


def test_the_test_is_that_of_all_orders() -> None:
    cells = np.random.default_rng(3).normal(size=(2, 4, 4)) + 0.8 * np.eye(4)
    sums = [
        sum(block[list(order), range(4)].sum() for block, order in zip(cells, orders, strict=True))
        for orders in product(permutations(range(4)), repeat=2)
    ]
    exact = np.mean(np.array(sums) >= np.einsum("kii->", cells) - 1e-9)
    assert permutation_p(cells, 20_000) == pytest.approx(exact, abs=0.006)


def test_p_does_not_depend_on_levels_nor_the_order_of_agents() -> None:
    scores = panel([1, 1, 0.4, 0])
    order = [2, 0, 3, 1]
    turned = scores[:, order][:, :, order]
    first, second = screened(scores), screened(turned)
    assert first.p[order] == pytest.approx(second.p)
    assert [first.verdict[k] for k in order] == list(second.verdict)
    assert first.share.value[order] == pytest.approx(second.share.value)
    blocks = deal([f"{k:03d}" for k in range(M * len(scores))], M)
    exams = [SourceExam.of(one, blocks) for one in (scores, turned)]
    for part in ("auc", "hits", "rejections", "orders"):
        assert getattr(exams[0], part) == pytest.approx(getattr(exams[1], part)), part


@pytest.mark.parametrize(
    ("honest", "informed", "word"),
    [(4, 1.0, "something"), (4, 0.35, "much less"), (4, 0.0, "nothing"), (2, 0.0, "nothing")],
)
def test_words(honest: int, informed: float, word: str) -> None:
    found = screened(panel([*[1] * honest, informed], blocks=10 * honest, seed=1))
    assert list(found.verdict) == ["something"] * honest + [word]


def test_weak_critics_accuse_nobody() -> None:
    found = screened(panel([0.2, 0.2, 0.2, 0.2, 0.0], blocks=4))
    assert not {"nothing", "much less"} & {*found.verdict}


def test_null_agents_are_alarmed_at_most_as_often_as_said() -> None:
    p = [screened(panel([1, 1, 1, 0], blocks=5, seed=seed)).p[3] for seed in range(100)]
    assert np.mean(np.array(p) <= 0.05) <= 0.106  # 2.6 standard errors above .05
    assert np.mean(p) == pytest.approx(0.5, abs=0.1)


def test_copies_of_each_other_do_not_vouch_for_each_other() -> None:
    scores = panel([1, 1, 1, 0, 0], blocks=30)
    scores[:, [3, 4], [4, 3]] += 9 * np.eye(M)
    assert list(screened(scores, [0, 1, 2, 3, 3]).verdict[3:]) == ["nothing"] * 2
    assert list(screened(scores).verdict[3:]) == ["something"] * 2


def test_agents_with_few_texts_are_not_known_and_no_measure_of_others() -> None:
    scores = panel([1, 1, 1, 0, 1, 1, 1], blocks=10)
    scores[1:, 4:] = scores[:, 4:, :, 1:] = np.nan  # one text of each of the last three
    scores[1:, :, 4:] = scores[:, :, 4:, :, 1:] = np.nan
    found = screened(scores)
    assert list(found.verdict) == ["something"] * 3 + ["nothing"] + ["not known"] * 3
    assert found.share.value[:3] == pytest.approx(1.3, abs=0.4)
    effect = np.random.default_rng(0).normal(1, 0.1, (40, 4))
    effect[:15, 1:] = np.nan
    share = verdicts.shares_of_median(effect, np.arange(4))[0]
    assert (share.n == 25).all() and (share.unscored == 15).all(), "items that both wrote of"


def test_attacks_that_do_nothing_are_said_to_work_in_at_most_one_panel_of_twenty() -> None:
    # 200 panels of 8 systems under 6 attacks, on 30 items
    panels = np.random.default_rng(0).normal(verdicts.RISES, 0.5, (200, 48, 30))
    low = np.stack([verdicts.attack_gains(one).low for one in [*panels, panels[0] + 1]])
    assert (low[:-1] > verdicts.RISES).any(axis=1).mean() <= 0.09  # 2.6 standard errors above .05
    assert (low[-1] > verdicts.RISES).all()


def test_exam_is_cross_fitted_and_uniform_of_noise() -> None:
    blocks = deal([f"{k:03d}" for k in range(M * 60)], M)
    good, noise = (SourceExam.of(panel([x] * 4, 60), blocks) for x in (1.0, 0.0))
    assert good.estimates["auc"].low > 0.9 and good.lead(noise).low > 0
    perfect = SourceExam(np.ones(10), np.ones(10), np.ones(10), 1.0)
    assert perfect.lead(None).low == pytest.approx(0.5 - (1 - 0.025**0.1))
    assert good.weight > 0.7 and noise.weight < 0.05
    assert noise.estimates["auc"].low < 0.5 < noise.estimates["auc"].high


def test_false_discoveries_leave_out_what_was_not_tested() -> None:
    assert list(false_discoveries(np.array([0.001, np.nan, 0.04, 0.9]))) == [1, 0, 0, 0]
