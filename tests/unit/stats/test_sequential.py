"""Ends and orders that hold at every look: against the authors' package, exactly, and by trial."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t as student

from judgelab.stats.intervals.means import holm
from judgelab.stats.sequential import (
    FIRST,
    betting_ends,
    betting_p,
    standing,
    t_above_p,
    t_sequence_ends,
)

# Computed by confseq.betting.betting_cs (github.com/gostevehoward/confseq, commit 70b1ef3), the
# authors' own package, on a grid of 4000: (items, low, high) of ``BETA``.
GOLDEN = [(5, 0.216, 0.9345), (10, 0.3518, 0.8485), (20, 0.4653, 0.7833), (60, 0.6043, 0.741)]
BETA = np.round(np.random.default_rng(7).beta(4, 2, 60), 3)


def test_the_ends_are_those_of_the_authors_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which cuts all bets off at 1 / 2."""
    monkeypatch.setattr("judgelab.stats.sequential.CAP", (0.5, 0.5))
    for n, low, high in GOLDEN:
        assert betting_ends(BETA[:n]) == pytest.approx((low, high), abs=4e-4)


def test_no_coin_is_excluded_at_any_of_twelve_looks_more_often_than_promised() -> None:
    """Every sequence of 12 throws with its probability: exact, no sampling."""
    throws = np.array(list(product([0.0, 1.0], repeat=12)))
    low, high = betting_ends(throws, level=0.8)
    for chance in (0.1, 0.35, 0.5, 0.8, 0.95):
        weight = np.prod(np.where(throws == 1, chance, 1 - chance), axis=1)
        missed = weight[(low > chance) | (high < chance)].sum()
        assert missed <= 0.2
    assert high.min() < 0.6  # and it does exclude something


def test_unscored_items_change_nothing_and_values_outside_are_refused() -> None:
    gap = np.insert(BETA[:30], 10, np.nan)
    assert betting_ends(gap) == pytest.approx(betting_ends(BETA[:30]))
    with pytest.raises(ValueError, match="within"):
        betting_ends([1.2])


def mixture(t: float, n: int) -> float:
    """The likelihood ratio of t by numbers: noncentral t over effects drawn from N(0, 1 / 16)."""
    from scipy.stats import nct

    effects = np.linspace(-3, 3, 4001)
    weight = np.exp(-8 * effects**2)
    density = nct.pdf(t, n - 1, effects * np.sqrt(n))
    return float((weight * density).sum() / weight.sum() / student.pdf(t, n - 1))


def test_the_ratio_of_t_is_the_integral_over_noncentral_t() -> None:
    x = np.random.default_rng(3).normal(0.5, 1, FIRST)
    t = float(x.mean() / x.std(ddof=1) * np.sqrt(FIRST))
    assert t_above_p(x) == pytest.approx(1 / mixture(t, FIRST), rel=1e-3)
    assert t_above_p(-x) == 1


def test_an_end_is_where_the_ratio_is_one_over_alpha() -> None:
    x = np.random.default_rng(4).normal(3, 1, FIRST)
    low, _ = t_sequence_ends(x, 0.95)
    assert t_above_p(x - low) == pytest.approx(0.05, rel=1e-6)


LAWS = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "skewed": (lambda rng, size: rng.exponential(size=size) - expit(rng.normal(size=size)), 0.5),
}


@pytest.mark.parametrize("law", LAWS)
def test_t_holds_at_all_of_200_looks(law: str) -> None:
    """A t interval of one look misses in .2 to .4 of these; skewed as differences of scores are."""
    draw, mean = LAWS[law]
    x = draw(np.random.default_rng(5), (600, 200))
    low, high = t_sequence_ends(x)
    missed = np.mean((low > mean) | (high < mean))
    assert missed <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 600)
    n = np.arange(20, 201)
    m = np.cumsum(x, axis=1)[:, 19:] / n
    s = np.sqrt(np.maximum(np.cumsum(x**2, axis=1)[:, 19:] / n - m**2, 0))
    often = np.mean((np.abs(m - mean) > 1.96 * s / np.sqrt(n)).any(axis=1))
    assert often > 0.15


def by_the_book(gains: list[float]) -> list[float]:
    """The wealth of Waudby-Smith & Ramdas, one bet at a time."""
    wealth, path, seen = 1.0, [], []
    for g in gains:
        mean, square = sum(seen) / (len(seen) + 1), (0.25 + sum(x * x for x in seen))
        wealth *= 1 + min(max(mean / (square / (len(seen) + 1)), 0.0), 0.75) * g
        seen.append(g)
        path.append(wealth)
    return path


def test_wealth_is_that_of_one_bet_at_a_time() -> None:
    gains = np.random.default_rng(1).choice([-1, -0.5, 0, 0.5, 1], 60, p=[0.1, 0.1, 0.2, 0.4, 0.2])
    wanted = by_the_book(list(gains))
    for k in (1, 7, 30, 60):
        assert betting_p(gains[:k]) == pytest.approx(1 / max(1, *wanted[:k]))


@pytest.mark.parametrize("gains", [([0.5, -0.5], [0.5, 0.5]), ([0.5, 0, -1], [0.4, 0.4, 0.2])])
def test_gains_of_nothing_are_called_some_in_less_than_five_percent(
    gains: tuple[list[float], list[float]],
) -> None:
    """Ten judges of gain 0, looked at after each of 100 labels: .02, where t with Holm has .40."""
    drawn = np.random.default_rng(2).choice(gains[0], (400, 10, 100), p=gains[1])
    false = np.mean([(holm(p) <= 0.05).any() for p in betting_p(drawn)])
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def race(rng: np.random.Generator, chances: list[float], items: int) -> np.ndarray:
    return (rng.random((items, len(chances))) < chances).astype(float)


def test_sure_orders_are_holm_over_both_directions_of_all_pairs() -> None:
    scores = race(np.random.default_rng(1), [0.9, 0.5, 0.45], 120)
    found = standing(scores, 0.95, (0, 1))
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    p = holm([betting_p(scores[:, i] - scores[:, j]) for i, j in pairs])
    assert [found.above[pair] for pair in pairs] == (p <= 0.05).tolist()
    assert found.above.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert found.rank_low.tolist() == [1, 2, 2]
    assert found.rank_high.tolist() == [1, 3, 3]
    assert not found.open_pairs(1).any()
    assert found.open_pairs(None).sum() == 2


def test_two_who_are_surely_the_best_two_need_no_order() -> None:
    scores = race(np.random.default_rng(6), [0.9, 0.9, 0.2, 0.2], 120)
    found = standing(scores, 0.95, (0, 1))
    assert found.open_pairs(None).sum() == 4
    assert not found.open_pairs(2).any()
    assert found.open_pairs(1).sum() == 2
    assert found.open_pairs(3).sum() == 2


def test_what_follows_is_sure() -> None:
    """A above B by early items, B above C by later ones: A above C, though they never met."""
    scores = np.full((80, 3), np.nan)
    scores[:40, 0], scores[:40, 1] = 1.0, 0.0
    scores[40:, 1], scores[40:, 2] = 1.0, 0.0
    found = standing(scores, 0.95, (0, 1))
    assert found.above[0, 2]
    assert found.rank_low.tolist() == [1, 2, 3]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), None])
def test_equal_competitors_are_told_apart_in_one_of_twenty_at_most(
    bounds: tuple[float, float] | None,
) -> None:
    """Five that are the same, looked at after each ten of 100 items (running p: one call)."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(150):
        scores = rng.random((100, 5)) if bounds else rng.normal(size=(100, 5))
        wrong += bool(standing(scores, 0.95, bounds).above.any())
    assert wrong / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def test_who_dropped_out_keeps_what_was_known() -> None:
    scores = race(np.random.default_rng(4), [0.95, 0.1, 0.5], 60)
    early = standing(scores[:30], 0.95, (0, 1))
    scores[30:, 1] = np.nan
    late = standing(scores, 0.95, (0, 1))
    assert late.above[early.above].all()
