"""The gate lets no judge through by chance, at any look, and still lets good judges through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from judgelab.stats.trust.betting import (
    betting_p,
    gate_p,
    growth,
    holm,
    label_order,
    labels_more,
    log_wealth,
)
from tests.judgment_tables import ADVERSARIAL, llmbar


def by_the_book(gains: list[float]) -> list[float]:
    """The wealth of Waudby-Smith & Ramdas, one bet at a time."""
    wealth, made, seen = 1.0, [], []
    for g in gains:
        mean, square = sum(seen) / (len(seen) + 1), (0.25 + sum(x * x for x in seen))
        bet = min(max(mean / (square / (len(seen) + 1)), 0.0), 0.75)
        wealth *= 1 + bet * g
        seen.append(g)
        made.append(wealth)
    return made


def test_wealth_is_that_of_one_bet_at_a_time() -> None:
    gains = np.random.default_rng(1).choice([-1, -0.5, 0, 0.5, 1], 60, p=[0.1, 0.1, 0.2, 0.4, 0.2])
    found = log_wealth(gains)
    assert np.exp(found) == pytest.approx(by_the_book(list(gains)))
    assert betting_p(gains) == pytest.approx(1 / max(1, *by_the_book(list(gains))))
    with_gap = np.insert(gains, 7, np.nan)
    assert betting_p(with_gap) == pytest.approx(betting_p(gains))
    assert betting_p(np.empty((2, 0))).tolist() == [1, 1]
    with pytest.raises(ValueError, match="lie in"):
        log_wealth([1.2])


@pytest.mark.parametrize("gains", [([0.5, -0.5], [0.5, 0.5]), ([0.5, 0, -1], [0.4, 0.4, 0.2])])
def test_judges_that_only_equal_a_control_pass_in_less_than_five_percent(
    gains: tuple[list[float], list[float]],
) -> None:
    """Ten judges of gain 0, looked at after each of 100 labels; a t test at each look fails this.

    Method note of trust, section 9: .02 where a t test with Holm has .05 to .40.
    """
    drawn = np.random.default_rng(2).choice(gains[0], (400, 10, 1, 100), p=gains[1])
    false = (gate_p(drawn) <= 0.05).any(axis=1).mean()
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_power_on_real_judges_is_that_of_the_method_note(shared_data: Path) -> None:
    """65 judges, LLMBar Adversarial: .40, .63, .72 of the 28 good ones pass at n = 50, 100, 200."""
    table = llmbar(shared_data, ADVERSARIAL)
    said, truth = np.nan_to_num(table.verdicts, nan=-1), table.truth
    credit = (said == truth[None, :, None]).mean(axis=2)
    gains = (credit - 0.5)[:, None]
    good = credit.mean(axis=1) > 0.5
    assert good.sum() == 28
    rng, power = np.random.default_rng(0), {50: 0.40, 100: 0.63, 200: 0.72}
    for n, wanted in power.items():
        passed = [gate_p(gains[:, :, rng.permutation(319)[:n]]) <= 0.05 for _ in range(40)]
        assert np.mean([one[good].mean() for one in passed]) == pytest.approx(wanted, abs=0.05)
        assert not any(one[~good].any() for one in passed)


def test_a_judge_has_to_beat_every_control() -> None:
    better, worse = np.full(80, 0.5), np.full(80, -0.5)
    p = gate_p(np.array([[better, better], [better, worse]]))
    assert p[0] < 0.01
    assert p[1] == 1
    assert gate_p(np.empty((2, 0, 5))).tolist() == [1, 1]


def test_holm_is_that_of_statsmodels() -> None:
    p = np.random.default_rng(4).random((3, 9)) ** 3
    wanted = [multipletests(row, method="holm")[1] for row in p]
    assert holm(p) == pytest.approx(np.array(wanted))
    assert holm([0.04, np.nan, 0.01]) == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)


def test_growth_is_the_best_constant_bet() -> None:
    gains = np.array([0.5] * 13 + [-0.5] * 7)
    bets = np.linspace(0, 0.75, 3001)
    wanted = np.log1p(bets[:, None] * gains).mean(axis=1).max()
    assert growth(gains) == pytest.approx(wanted, abs=1e-7)
    assert growth(-gains) == pytest.approx(0, abs=1e-6)


def test_labels_more_are_those_after_which_judges_pass() -> None:
    rng = np.random.default_rng(3)
    whole = rng.choice([0.5, -0.5], (60, 1, 1, 900), p=[0.65, 0.35])
    kept = []
    for panel in whole:
        more = labels_more(panel[..., :60], 0.05)[0]
        if 0 < more < 840:
            kept.append(gate_p(panel[..., : 60 + int(more)])[0] <= 0.05)
    assert len(kept) > 30
    assert np.mean(kept) > 0.5
    assert labels_more(np.full((1, 1, 200), 0.5), 0.05).tolist() == [0]
    assert labels_more(np.full((1, 1, 200), -0.5), 0.05).tolist() == [np.inf]


def test_order_is_by_turn_and_does_not_depend_on_the_file() -> None:
    names = [f"item {k}" for k in range(50)]
    turn = np.array([k % 3 for k in range(50)], float)
    turn[7] = np.nan
    order = label_order(names, turn)
    assert np.all(np.diff(turn[order][:-1]) >= 0)
    assert order[-1] == 7
    assert order.tolist() != sorted(order, key=lambda k: (turn[k], k))
    back = label_order(names[::-1], turn[::-1])
    assert [names[k] for k in order] == [names[::-1][k] for k in back]
