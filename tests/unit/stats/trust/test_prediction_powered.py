"""Means from labels and verdicts: as ppi_py has them, as identities demand, and as they cover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from judgelab.stats.trust.judge_shift import shift
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import estimate, judge_alone, people_alone

ppi = pytest.importorskip("ppi_py")


def drawn(
    n: int = 60, rest: int = 700, judges: int = 3, seed: int = 0, binary: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Truth with NaN after the first n, and values of judges of falling quality."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n + rest)
    f = np.stack([y + (0.5 + j) * rng.normal(size=n + rest) for j in range(judges)])
    if binary:
        y, f = (y > 0.5).astype(float), (f > 0.3).astype(float)
    return np.where(np.arange(n + rest) < n, y, np.nan), f


def pool(y: np.ndarray, f: np.ndarray) -> LabelledPool:
    return LabelledPool.of(y, f, np.arange(len(y)))


@pytest.mark.parametrize("binary", [False, True])
def test_points_are_those_of_ppi_py(binary: bool) -> None:
    y, f = drawn(binary=binary)
    n = 60
    for tuning, lam in (("full", 1.0), ("power", None)):
        found = estimate(pool(y, f), tuning)
        wanted = [
            float(np.squeeze(ppi.ppi_mean_pointestimate(y[:n], row[:n], row[n:], lam=lam)))
            for row in f
        ]
        assert found.value == pytest.approx(wanted, abs=1e-9)


def test_errors_are_those_of_ppi_py_but_for_degrees_of_freedom() -> None:
    """theirs: 1 / n and 1 / N with a normal quantile; ours: n / (n - 2) and t."""
    y, f = drawn(n=400, rest=4000)
    found = estimate(pool(y, f))
    for j, row in enumerate(f):
        low, high = ppi.ppi_mean_ci(y[:400], row[:400], row[400:], alpha=0.05)
        assert found.high[j] - found.low[j] == pytest.approx(
            float((high - low).squeeze()), rel=0.01
        )


def test_it_is_the_regression_estimator_on_the_pool_and_post_stratification() -> None:
    y, f = drawn(binary=True)
    found = estimate(pool(y, f), "unclipped")
    n = 60
    for j, row in enumerate(f):
        shares = [(row == k).mean() for k in (0, 1)]
        means = [y[:n][row[:n] == k].mean() for k in (0, 1)]
        ols = np.polyfit(row[:n], y[:n], 1)[0]
        by_strata = float(np.dot(shares, means))
        # Cov over the pool's variance stands for the OLS slope: equal up to their variances.
        ratio = row[:n].var() / row.var(ddof=1)
        slope = found.tuning[j] * len(row) / (len(row) - n)
        assert slope == pytest.approx(ols * ratio, rel=1e-9)
        exact = y[:n].mean() + ols * (row.mean() - row[:n].mean())
        assert exact == pytest.approx(by_strata, abs=1e-12)
        assert found.value[j] == pytest.approx(by_strata, abs=0.02)


def test_a_useless_judge_costs_nothing_and_people_alone_ignore_it() -> None:
    y, f = drawn()
    noise = np.random.default_rng(5).normal(size=f.shape)
    alone = estimate(pool(y, noise), "none")
    assert alone.value == pytest.approx(np.nanmean(y)) and (alone.tuning == 0).all()
    tuned, full = estimate(pool(y, noise)), estimate(pool(y, noise), "full")
    assert (tuned.error < 1.1 * alone.error).all() and (full.error > 1.2 * alone.error).all()


def test_units_of_a_cluster_count_once() -> None:
    y, f = drawn(n=40, rest=200)
    one = estimate(pool(y, f))
    twice = LabelledPool.of(np.tile(y, 2), np.tile(f, 2), np.tile(np.arange(len(y)), 2))
    both = estimate(twice)
    assert both.value == pytest.approx(one.value, abs=0.02 * one.error.min())
    assert both.error == pytest.approx(one.error, rel=0.05)
    assert (both.groups == 40).all()


@pytest.mark.parametrize("target", ["population", "pool"])
@pytest.mark.parametrize("share", [False, True])
def test_intervals_hold(target: str, share: bool) -> None:
    """1,000 samples of 60 labels among 400: within [.93, .97]."""
    rng, runs, n, size = np.random.default_rng(1), 1000, 60, 400
    y = rng.normal(size=(runs, size)) + 0.3
    f = y + rng.normal(size=(runs, size))
    if share:
        y, f = (y > 0).astype(float), (f > 0).astype(float)
    truth = y.mean(axis=1) if target == "pool" else np.full(runs, 0.6179 if share else 0.3)
    held = 0
    for one, said, wanted in zip(y, f, truth, strict=True):
        shown = np.where(np.arange(size) < n, one, np.nan)
        found = estimate(pool(shown, said[None]), target=target, share=share)  # type: ignore[arg-type]
        held += bool(found.low[0] <= wanted <= found.high[0])
    assert 0.93 <= held / runs <= 0.97


def test_intervals_of_skewed_grades_hold() -> None:
    """Grades of 0 to 3, mostly 0, 40 labels: Hall's ends hold where Student's t does not."""
    rng, runs, size = np.random.default_rng(2), 800, 440
    y = np.where(rng.random((runs, size)) < 0.15, rng.integers(1, 4, (runs, size)), 0).astype(float)
    f = y + rng.normal(size=(runs, size))
    held = np.zeros(3)
    for one, said in zip(y, f, strict=True):
        made = pool(np.where(np.arange(size) < 40, one, np.nan), said[None])
        for k, found in enumerate(
            (estimate(made, "scaled"), estimate(made, "scaled", skewed=True), people_alone(made))
        ):
            held[k] += found.low[0] <= 0.3 <= found.high[0]
    plain, hall, people = held / runs
    assert hall > plain + 0.01 and 0.925 <= hall <= 0.97 and 0.925 <= people <= 0.97


def test_labels_with_known_chances_are_weighted() -> None:
    """Items on which the truth is high are labelled four times as often."""
    rng, runs, found = np.random.default_rng(2), 300, []
    for _ in range(runs):
        y = rng.integers(0, 2, 500).astype(float)
        f = np.where(rng.random(500) < 0.8, y, 1 - y)[None]
        chance = np.where(y == 1, 0.4, 0.1)
        shown = np.where(rng.random(500) < chance, y, np.nan)
        pools = [LabelledPool.of(shown, f, np.arange(500), one) for one in (chance, None)]
        found.append([estimate(one).value[0] for one in pools])
    weighted, plain = np.mean(found, axis=0)
    assert weighted == pytest.approx(0.5, abs=0.02) and plain > 0.6


def test_what_a_judge_tells_within_clusters_does_not_widen_the_mean_of_clusters() -> None:
    """Three systems an item: the judge knows the system and nothing of the item."""
    rng, items = np.random.default_rng(3), 300
    level = np.tile([-2.0, 0.0, 2.0], items)
    y = level + np.repeat(rng.normal(size=items), 3)
    f = (level + np.repeat(rng.normal(size=items), 3))[None]
    cluster = np.repeat(np.arange(items), 3)
    shown = np.where(cluster < 60, y, np.nan)
    made = LabelledPool.of(shown, f, cluster)
    tuned, alone, full = (estimate(made, x) for x in ("power", "none", "full"))  # type: ignore[arg-type]
    assert tuned.tuning[0] < 0.3
    assert tuned.error[0] < 1.02 * alone.error[0] < full.error[0]


def test_cross_fitting_and_too_few_labels() -> None:
    y, f = drawn(n=50)
    near = estimate(pool(y, f), folds=5)
    assert near.value == pytest.approx(estimate(pool(y, f)).value, abs=0.1)
    few = estimate(pool(np.where(np.arange(len(y)) < 2, y, np.nan), f))
    assert np.isnan(few.value).all() and np.isnan(few.low).all()


def test_the_judge_alone_says_what_it_says() -> None:
    y, f = drawn()
    said = judge_alone(pool(y, f))
    assert said.value == pytest.approx(f.mean(axis=1))
    assert said.error == pytest.approx(f.std(axis=1, ddof=1) / np.sqrt(f.shape[1]))


def test_how_far_the_judge_is_off() -> None:
    """A judge that says yes too often by .15: the interval holds that."""
    rng, runs, held = np.random.default_rng(4), 1000, 0
    for _ in range(runs):
        y = (rng.random(300) < 0.5).astype(float)
        f = np.where(rng.random(300) < 0.3, 1.0, y)[None]
        found = shift(pool(np.where(np.arange(300) < 60, y, np.nan), f))
        held += bool(found.low[0] <= 0.15 <= found.high[0])
    assert 0.93 <= held / runs <= 0.97


def test_with_every_label_the_shift_is_the_difference_of_the_means() -> None:
    rng = np.random.default_rng(0)
    y, f = rng.normal(size=80), rng.normal(size=(2, 80))
    found = shift(pool(y, f))
    assert found.value == pytest.approx(f.mean(axis=1) - y.mean())
    error = (f - y).std(axis=1, ddof=1) / np.sqrt(80) * np.sqrt(79 / 78)
    assert found.error == pytest.approx(error)


def test_few_labels_that_differ_from_the_judge_do_not_show_that_it_is_right() -> None:
    """A judge that says no where people say yes 6 times in 100; of 40 labels few show it."""
    rng, runs, held, narrow = np.random.default_rng(7), 500, 0, 0
    for _ in range(runs):
        y = (rng.random(400) < 0.5).astype(float)
        f = np.where(rng.random(400) < 0.12, 0.0, y)[None]
        found = shift(pool(np.where(np.arange(400) < 40, y, np.nan), f), share=True)
        held += bool(found.low[0] <= -0.06 <= found.high[0])
        narrow += bool(found.low[0] >= -0.05 and found.high[0] <= 0.05)
    assert held / runs >= 0.93  # .99: exact where no label differs
    assert narrow == 0
    agreed = shift(pool(np.r_[np.ones(15), np.zeros(15)], np.r_[np.ones(15), np.zeros(15)][None]),
                   share=True)  # fmt: skip
    assert agreed.low[0] == -agreed.high[0] < -0.1


def test_a_hundred_judges_take_a_tenth_of_the_time_of_a_loop_over_ppi_py() -> None:
    """Mostly a twentieth; the best of some runs, as machines are shared."""
    from time import perf_counter

    y, f = drawn(n=200, rest=1000, judges=100, binary=True)

    def loop() -> None:
        for row in f:
            ppi.ppi_mean_ci(y[:200], row[:200], row[200:], alpha=0.05)

    def seconds(job: Callable[[], object]) -> float:
        started = perf_counter()
        job()
        return perf_counter() - started

    ours = min(seconds(lambda: estimate(pool(y, f))) for _ in range(15))
    assert min(seconds(loop) for _ in range(4)) > 10 * ours


def test_units_of_one_cluster_are_relied_on_as_far_as_their_sums_say() -> None:
    """Within clusters the judge knows all, between them nothing: b of single units does harm."""
    rng = np.random.default_rng(3)
    corrected, people = [], []
    for _ in range(300):
        own = rng.normal(size=(300, 4))
        own -= own.mean(axis=1, keepdims=True)
        truth = own + 0.7 * rng.normal(size=(300, 1))
        judge = own + 0.7 * rng.normal(size=(300, 1))
        known = np.where(np.arange(300)[:, None] < 60, truth, np.nan)
        cluster = np.repeat(np.arange(300), 4)
        pool = LabelledPool.of(known.ravel(), judge.reshape(1, -1), cluster)
        found = estimate(pool, "power")
        corrected.append((found.value[0], found.error[0]))
        people.append(estimate(pool, "none").value[0])
    values, errors = np.array(corrected).T
    assert values.std() < 1.05 * np.std(people)
    assert errors.mean() == pytest.approx(values.std(), rel=0.12)
