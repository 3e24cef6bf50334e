"""One-coin Dawid-Skene: crowd-kit's, known truth, and where real judges make it fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from judgelab.core.judgments import JudgmentTable
from judgelab.stats.trust.dawid_skene import chosen, one_coin, reports
from judgelab.stats.trust.peers import families, sides_with, vote, without_each
from tests.judgment_tables import ADVERSARIAL, NATURAL, llmbar, made_pairs


def crowd(verdicts: np.ndarray, levels: int) -> pd.DataFrame:
    """The long form of crowd-kit, each unit also with its answers renamed in a ring.

    Crowd-kit learns how frequent answers are; so all are equally frequent.
    """
    rows = []
    for turn in range(levels):
        for (judge, unit, _), value in np.ndenumerate(verdicts):
            if not np.isnan(value):
                rows.append((f"{unit} {turn}", judge, (int(value) + turn) % levels))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")
@pytest.mark.parametrize("levels", [2, 3])
def test_as_crowd_kit(levels: int) -> None:
    from crowdkit.aggregation import OneCoinDawidSkene

    rng = np.random.default_rng(levels)
    truth = rng.integers(0, levels, 40)
    right = rng.random((5, 40, 2)) < np.array([0.9, 0.8, 0.7, 0.6, 0.55])[:, None, None]
    verdicts = np.where(right, truth[:, None], (truth[:, None] + 1) % levels).astype(float)
    verdicts[rng.random(verdicts.shape) < 0.1] = np.nan
    verdicts[:, 0] = [[0, 1], *[[np.nan, np.nan]] * 4]
    wanted = OneCoinDawidSkene(n_iter=60, tol=1e-15).fit(crowd(verdicts, levels))
    found = one_coin(reports(verdicts, levels), tolerance=1e-12)
    assert found.settled
    assert found.right[0] == pytest.approx(wanted.skills_.sort_index().to_numpy(), abs=2e-5)
    answers = wanted.probas_.loc[[f"{k} 0" for k in range(40)], list(range(levels))]
    assert found.answers[0] == pytest.approx(answers.to_numpy(), abs=2e-4)


def test_independent_errors_are_found() -> None:
    accuracies = (0.95, 0.85, 0.75, 0.6, 0.4)
    table = made_pairs(3000, accuracies, seed=3)
    found = one_coin(reports(table.verdicts))
    assert found.right[0] == pytest.approx(accuracies, abs=0.025)
    assert float((chosen(found.answers[0]) == table.truth).mean()) > 0.95


def test_panels_are_apart_and_small_ones_say_nothing() -> None:
    table = made_pairs(1000, (0.9, 0.8, 0.7, 0.6), seed=5)
    counts = reports(table.verdicts)
    panels = np.array([[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]], np.bool_)
    found = one_coin(counts, panels)
    alone = one_coin(counts[1:])
    assert found.right[1, 1:] == pytest.approx(alone.right[0], abs=1e-5)
    assert found.right[1, 0] == pytest.approx(0.9, abs=0.05)  # by the others alone
    assert np.isnan(found.right[2]).all() and np.isnan(found.answers[2]).all()


def test_nothing_said_is_not_known() -> None:
    verdicts = made_pairs(50, (0.9, 0.8, 0.7, 0.7)).verdicts
    verdicts[3], verdicts[:, 7] = np.nan, np.nan
    found = one_coin(reports(verdicts))
    assert np.isnan(found.right[0, 3]) and np.isnan(found.answers[0, 7]).all()
    assert not np.isnan(found.right[0, :3]).any()
    assert np.isnan(chosen(found.answers)[0, 7])


def accuracy(table: JudgmentTable) -> np.ndarray:
    return (table.verdicts == table.truth[:, None]).mean(axis=(1, 2))


def rank(x: np.ndarray, y: np.ndarray) -> float:
    return round(float(spearmanr(x, y).statistic), 2)


@pytest.mark.parametrize(
    ("sets", "peers", "all_judges", "vanilla", "no_gpt4", "majority", "best", "sure"),
    [
        (NATURAL, 0.94, 0.98, 0.94, 0.90, 0.93, 0.96, (22, 1.0)),
        (ADVERSARIAL, -0.39, 0.99, -0.94, -0.89, 0.52, 0.84, (5, 0.2)),
    ],
    ids=["natural", "adversarial"],
)
def test_65_real_judges(
    shared_data: Path,
    sets: tuple[str, ...],
    peers: float,
    all_judges: float,
    vanilla: float,
    no_gpt4: float,
    majority: float,
    best: float,
    sure: tuple[int, float],
) -> None:
    """The same reading is right on one set, and upside down on the other."""
    table = llmbar(shared_data, sets)
    known, truth = accuracy(table), table.truth
    family = families([one.family for one in table.judges], table.names)
    counts = reports(table.verdicts)
    names, apart = without_each(family)
    own = apart[[names.index(one) for one in family]]
    assert len(table.judges) == 65 and round(float(known.max()), 2) == best
    assert rank(known, np.nanmean(sides_with(counts, own), axis=1)) == peers
    one_each = np.array([name.endswith("/Vanilla") for name in table.names])
    without = np.array([one != "GPT-4" for one in family])
    found = one_coin(counts, np.stack([np.ones(65, np.bool_), one_each, without]))
    assert found.settled
    assert rank(known, found.right[0]) == all_judges
    assert rank(known[one_each], found.right[1, one_each]) == vanilla
    assert rank(known[without], found.right[2, without]) == no_gpt4
    if sets == ADVERSARIAL:
        bias = (found.right[2] - known)[without].mean()
        assert round(float(bias), 2) == 0.26
    decided = np.where(counts[..., 1] == counts[..., 0], np.nan, counts[..., 1] > counts[..., 0])
    single = np.stack([decided == 0, decided == 1], axis=2).astype(float)
    share = single.mean(axis=0)
    right = (share[:, 1] > share[:, 0]) == (truth == 1)
    right &= share[:, 1] != share[:, 0]
    assert round(float(right.mean()), 2) == majority
    certain = share.max(axis=1) >= 0.9
    assert (int(certain.sum()), round(float(right[certain].mean()), 2)) == sure
    assert vote(counts, np.ones((1, 65), np.bool_)).shape == (1, len(truth), 2)
