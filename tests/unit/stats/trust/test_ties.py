"""Pairs of grades with calibrated ties, against a brute force over the definition."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from judgelab.stats.intervals.bootstrap import item_draws, item_weights
from judgelab.stats.trust.ties import (
    FOLDS,
    folds,
    gaps,
    pair_credit,
    pair_credits,
    pairs_within,
    resampled_agreement,
    tie_thresholds,
)
from tests.judgment_tables import frank


def accuracy(scores: np.ndarray, truth: np.ndarray, items: np.ndarray, threshold: float) -> float:
    """acc_eq of 2305.14324, (C + T_hm) / all pairs, averaged over items; by loops."""
    found = []
    for item in np.unique(items):
        here, right, pairs = np.flatnonzero(items == item), 0, 0
        for a, b in itertools.combinations(here, 2):
            tie = abs(scores[a] - scores[b]) <= threshold
            people = np.sign(truth[a] - truth[b])
            said = 0 if tie else np.sign(scores[a] - scores[b])
            right, pairs = right + (said == people), pairs + 1
        if pairs:
            found.append(right / pairs)
    return float(np.mean(found))


def brute_threshold(scores: np.ndarray, truth: np.ndarray, items: np.ndarray) -> float:
    """The candidate (an observed gap, or 0) of the largest accuracy; the smallest of equal ones."""
    pairs = [
        p for k in np.unique(items) for p in itertools.combinations(np.where(items == k)[0], 2)
    ]
    candidates = sorted({0.0, *(abs(scores[a] - scores[b]) for a, b in pairs)})
    found = [accuracy(scores, truth, items, c) for c in candidates]
    return candidates[next(k for k, x in enumerate(found) if x >= max(found) - 1e-9)]


def made(items: int = 25, systems: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grades in two steps by people, finer ones by a judge: many ties on one side alone."""
    rng = np.random.default_rng(3)
    truth = (rng.random(items * systems) < 0.25) * 1.0
    scores = np.round(10 * (truth + rng.normal(0, 0.6, len(truth))))
    return scores, truth, np.repeat(np.arange(items), systems)


def test_the_threshold_is_that_of_a_brute_force_on_the_other_folds() -> None:
    scores, truth, items = made()
    one, other = pairs_within(items, np.ones(len(items), bool))
    gap, people = scores[one] - scores[other], truth[one] - truth[other]
    found = tie_thresholds(np.round(gap, 12), people, items[one], folds(items)[one])
    for fold in range(FOLDS):
        kept = folds(items) != fold
        assert np.isclose(found[fold], brute_threshold(scores[kept], truth[kept], items[kept]))
    assert found.min() > 0


def test_credits_of_pairs_are_those_of_the_definition_at_the_fold_s_threshold() -> None:
    scores, truth, items = made()
    pairs = pairs_within(items, np.ones(len(items), bool))
    credit, threshold = pair_credits(
        scores[None], np.ones((1, len(items)), bool), truth, pairs, items
    )
    by_fold, widths = [], []
    for fold in range(FOLDS):
        kept = folds(items) != fold
        width = brute_threshold(scores[kept], truth[kept], items[kept])
        by_fold.append(accuracy(scores[~kept], truth[~kept], items[~kept], width))
        widths.append(width)
    assert np.isclose(credit.mean(), np.mean(by_fold))
    assert np.isclose(threshold[0], np.median(widths))


def test_a_missing_grade_earns_nothing_and_one_never_asked_for_does_not_count() -> None:
    scores, truth, items = made(items=10, systems=3)
    scores[0], asked = np.nan, np.ones((1, 30), bool)
    pairs = pairs_within(items, np.ones(30, bool))
    in_pair = (pairs[0] == 0) | (pairs[1] == 0)
    credit, _ = pair_credits(scores[None], asked, truth, pairs, items)
    assert (credit[0, in_pair] == 0).all() and in_pair.sum() == 2
    asked[0, 0] = False
    credit, _ = pair_credits(scores[None], asked, truth, pairs, items)
    assert np.isnan(credit[0, in_pair]).all() and not np.isnan(credit[0, ~in_pair]).any()


def test_steps_of_a_tenth_are_ties_whatever_their_rounding() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.8])
    truth, items = np.zeros(6), np.repeat([0, 1, 2], 2)
    pairs = pairs_within(items, np.ones(6, bool))
    credit, _ = pair_credits(values[None], np.ones((1, 6), bool), truth, pairs, items)
    assert (credit == 1).all()


def test_every_metric_of_frank_bbc_calibrates_to_calling_all_a_tie(shared_data: Path) -> None:
    table = frank(shared_data)
    truth = table.truth
    pairs = pairs_within(table.clusters, np.ones(len(truth), bool))
    people, item = gaps(truth, *pairs), table.clusters[pairs[0]]
    for values in table.verdicts[:, :, 0]:
        gap = gaps(values, *pairs)
        known = ~np.isnan(gap)
        one_fold = np.zeros(known.sum(), int)  # all other folds are fitted on every item
        width = tie_thresholds(gap[known], people[known], item[known], one_fold)[1]
        best = pair_credit(gap[known], people[known], width)
        always = people[known] == 0
        weight = 1 / np.bincount(item[known])[item[known]]
        assert np.isclose((weight * best).sum(), (weight * always).sum(), atol=1e-12)


def test_resamples_fit_thresholds_anew_with_copies_of_an_item_in_one_fold() -> None:
    scores, truth, items = made(17)
    scores[[4, 11]] = np.nan
    asked = np.ones((1, len(scores)), bool)
    asked[0, 11] = False
    pairs = pairs_within(items, np.ones(len(items), bool))
    times = item_weights(17, 5, 3)
    found = resampled_agreement(scores[None], asked, truth, pairs, items, times)
    for drawn, value in zip(item_draws(17, 5, 3), found[:, 0], strict=True):
        units = np.concatenate([np.flatnonzero(items == k) for k in drawn])
        copies = np.repeat(FOLDS * np.arange(17) + folds(drawn), 5)  # names that keep the fold
        again = pairs_within(copies, np.ones(len(units), bool))
        credit, _ = pair_credits(scores[None, units], asked[:, units], truth[units], again, copies)
        by_item = [np.nanmean(credit[0][copies[again[0]] == name]) for name in np.unique(copies)]
        assert abs(value - np.mean(by_item)) < 1e-9
