"""Means from labels and verdicts: as ppi_py has them, as identities demand, and as they cover."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.trust.prediction_powered import (
    Corrected,
    LabelledPool,
    by_stratum,
    estimate,
    people_alone,
    shift,
)

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


def pool(y: np.ndarray, f: np.ndarray, labels: int | None = None) -> LabelledPool:
    """Labels of the first so many units."""
    known = np.arange(len(y)) < (len(y) if labels is None else labels)
    return LabelledPool(np.where(known, y, np.nan), f, np.arange(len(y)))


def holds(found: Corrected, wanted: float) -> bool:
    return bool(found.low[0] <= wanted <= found.high[0])


@pytest.mark.parametrize("binary", [False, True])
def test_points_are_those_of_ppi_py(binary: bool) -> None:
    y, f = drawn(binary=binary)
    for value, row in zip(estimate(pool(y, f)).value, f, strict=True):
        wanted = ppi.ppi_mean_pointestimate(y[:60], row[:60], row[60:])
        assert value == pytest.approx(float(np.squeeze(wanted)), abs=1e-9)


def test_errors_are_those_of_ppi_py_but_for_degrees_of_freedom() -> None:
    """theirs: 1 / n and 1 / N with a normal quantile; ours: n / (n - 2) and t."""
    y, f = drawn(n=400, rest=4000)
    found = estimate(pool(y, f))
    for j, row in enumerate(f):
        low, high = ppi.ppi_mean_ci(y[:400], row[:400], row[400:], alpha=0.05)
        wanted = float((high - low).squeeze())
        assert found.high[j] - found.low[j] == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("share", [False, True])
def test_intervals_hold(share: bool) -> None:
    """1,000 samples of 60 labels among 400: within [.93, .97]."""
    rng, runs, n, size = np.random.default_rng(1), 1000, 60, 400
    y = rng.normal(size=(runs, size)) + 0.3
    f = y + rng.normal(size=(runs, size))
    if share:
        y, f = (y > 0).astype(float), (f > 0).astype(float)
    held = 0
    for one, said in zip(y, f, strict=True):
        held += holds(estimate(pool(one, said[None], n), share=share), 0.6179 if share else 0.3)
    assert 0.93 <= held / runs <= 0.97


def test_intervals_of_skewed_grades_hold() -> None:
    """Grades of 0 to 3, mostly 0, 40 labels: Hall's ends hold where Student's t does not."""
    rng, runs, size = np.random.default_rng(2), 800, 440
    y = np.where(rng.random((runs, size)) < 0.15, rng.integers(1, 4, (runs, size)), 0).astype(float)
    f = y + rng.normal(size=(runs, size))
    held = np.zeros(3)
    for one, said in zip(y, f, strict=True):
        made = pool(one, said[None], 40)
        found = [estimate(made, "scaled"), estimate(made, "scaled", skewed=True)]
        held += [holds(each, 0.3) for each in (*found, people_alone(made))]
    plain, hall, people = held / runs
    assert hall > plain + 0.01 and 0.925 <= hall <= 0.97 and 0.925 <= people <= 0.97


def test_a_judge_that_runs_backwards_is_not_relied_on_and_two_labels_are_too_few() -> None:
    y, f = drawn(n=50)
    backwards, alone = estimate(pool(y, -f)), estimate(pool(y, -f), "none")
    assert (backwards.value == alone.value).all()
    assert alone.value == pytest.approx(np.nanmean(y))
    few = estimate(pool(y, f, 2))
    assert np.isnan(few.value).all() and np.isnan(few.low).all()


def test_few_labels_that_differ_from_the_judge_do_not_show_that_it_is_right() -> None:
    """A judge that says no where people say yes 6 times in 100; of 40 labels few show it."""
    rng, runs, held, narrow = np.random.default_rng(7), 500, 0, 0
    for _ in range(runs):
        y = (rng.random(400) < 0.5).astype(float)
        f = np.where(rng.random(400) < 0.12, 0.0, y)[None]
        found = shift(pool(y, f, 40), share=True)
        held += holds(found, -0.06)
        narrow += bool(found.low[0] >= -0.05 and found.high[0] <= 0.05)
    assert held / runs >= 0.93 and narrow == 0  # .99: exact where no label differs
    alike = np.repeat([1.0, 0.0], 15)
    agreed = shift(pool(alike, alike[None]), share=True)
    assert agreed.low[0] == -agreed.high[0] < -0.1


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
        made = LabelledPool(known.ravel(), judge.reshape(1, -1), np.repeat(np.arange(300), 4))
        found = estimate(made)
        corrected.append((found.value[0], found.error[0]))
        people.append(estimate(made, "none").value[0])
    values, errors = np.array(corrected).T
    assert values.std() < 1.05 * np.std(people)
    assert errors.mean() == pytest.approx(values.std(), rel=0.12)


def test_strata_are_weighed_by_the_pool_and_hold() -> None:
    """Half of the labels from a stratum of a fifth of the pool, with another mean."""
    rng, runs, held, values = np.random.default_rng(6), 400, 0, []
    stratum = np.repeat([0, 1], [80, 320])
    for _ in range(runs):
        y = rng.normal(size=400) + 2.0 * (stratum == 0)
        f = (y + rng.normal(size=400))[None]
        shown = np.where(np.isin(np.arange(400), [*range(40), *range(80, 120)]), y, np.nan)

        def chosen(mask: np.ndarray, shown: np.ndarray = shown, f: np.ndarray = f) -> LabelledPool:
            return LabelledPool(shown[mask], f[:, mask], np.arange(mask.sum()))

        found = by_stratum(chosen, estimate, stratum)
        held += holds(found, 0.4)
        values.append(found.value[0])
    assert np.mean(values) == pytest.approx(0.4, abs=0.02)
    assert 0.92 <= held / runs <= 0.98 and (found.n[0], found.pool[0]) == (80, 400)
