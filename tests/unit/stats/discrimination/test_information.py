"""f-mutual information, Lemma F.1 and Theorem 3.3, kappa, J and AUC: what holds, what does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]
    cohen_kappa_score,
    mutual_info_score,
    roc_auc_score,
)

from judgelab.stats.discrimination.information import (
    DIVERGENCES,
    ceiling,
    divergence,
    f_information,
    measures,
    over_items,
)

Array = NDArray[np.float64]
Generator = Callable[[Any], ArrayLike]
F = {name: one.f for name, one in DIVERGENCES.items()}
TABLE = np.array([[40.0, 10.0], [15.0, 85.0]])
every_generator = pytest.mark.parametrize("f", list(F.values()), ids=list(F))
COUNTS = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 20)).filter(lambda t: t.sum() > 0)
)
RATES = st.integers(0, 20).map(lambda v: v / 20)
PREVALENCE = st.integers(1, 19).map(lambda v: v / 20)


@every_generator
@given(table=COUNTS)
def test_information_is_non_negative_symmetric_and_zero_when_independent(
    f: Generator, table: NDArray[np.int64]
) -> None:
    value = f_information(table, f)
    assert value >= -1e-12
    assert f_information(table.T, f) == pytest.approx(value, abs=1e-12)
    assert f_information(7 * table, f) == pytest.approx(value, abs=1e-12)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    assert f_information(independent, f) == pytest.approx(0, abs=1e-12)


@given(COUNTS)
def test_named_members_of_the_family(table: NDArray[np.int64]) -> None:
    shannon = mutual_info_score(None, None, contingency=table)
    assert f_information(table, F["kl"]) == pytest.approx(shannon, abs=1e-9)
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    chi2 = stats.chi2_contingency(kept, correction=False).statistic / table.sum()
    assert f_information(table, F["chi2"]) == pytest.approx(chi2, abs=1e-9)
    joint = table / table.sum()
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    overlap = float(np.sqrt(joint * product).sum())
    assert f_information(table, F["hellinger"]) == pytest.approx(1 - overlap, abs=1e-9)


@every_generator
@pytest.mark.parametrize("mass", [1e-12, 1e-140, 1e-160, 1e-310])
def test_a_vanishing_outcome_neither_overflows_nor_makes_information_negative(
    f: Generator, mass: float
) -> None:
    found = f_information(np.diag([1.0, mass]), f)
    assert -1e-12 <= found <= f_information(np.eye(2), f) + 1e-12


@every_generator
@given(masses=st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any))
def test_lemma_f1_no_diagonal_coupling_beats_the_uniform_one(
    f: Generator, masses: list[int]
) -> None:
    size = len(masses)
    uniform = f_information(np.eye(size), f)
    at_size, at_zero = float(np.asarray(f(float(size)))), float(np.asarray(f(0.0)))
    assert uniform == pytest.approx(at_size / size + (1 - 1 / size) * at_zero, abs=1e-12)
    found = f_information(np.diag(masses), f)
    assert found <= uniform + 1e-9
    if f is F["chi2"]:
        support = sum(mass > 0 for mass in masses)
        assert found == pytest.approx(support - 1), "any coupling of full support ties"


@every_generator
def test_the_condition_of_lemma_f1_holds_for_the_named_generators(f: Generator) -> None:
    p = np.linspace(1e-3, 1, 4001)
    phi = p**2 * (np.asarray(f(1 / p)) - float(np.asarray(f(0.0))))
    bend = phi[:-2] - 2 * phi[1:-1] + phi[2:]
    assert bend.max() <= 1e-9
    if f is F["chi2"]:
        assert abs(bend).max() <= 1e-9


def cubic(t: Array) -> Array:
    return np.asarray(t, dtype=np.float64) ** 3 - 1


def hockey_stick(t: Array) -> Array:
    return np.maximum(np.asarray(t, dtype=np.float64) - 3, 0)


def test_lemma_f1_fails_for_other_convex_generators() -> None:
    skewed = np.diag([0.1, 0.9])
    assert f_information(skewed, cubic) == pytest.approx(10 + 10 / 9 - 1)
    assert f_information(np.eye(2), cubic) == pytest.approx(3)
    more = f_information(np.diag([1e-6, 1 - 1e-6]), cubic)
    assert more > 1e5, "unbounded on two points"
    assert f_information(skewed, hockey_stick) == pytest.approx(0.07)
    assert f_information(np.eye(2), hockey_stick) == 0


@given(st.integers(1, 50), st.integers(2, 5000))
def test_ceilings(k: int, n: int) -> None:
    size = 2 * k * n**2
    assert ceiling("tvd", k, n) == pytest.approx(1 - 1 / size, abs=1e-15)
    assert ceiling("kl", k, n) == pytest.approx(math.log(size))
    assert ceiling("chi2", k, n) == pytest.approx(size - 1)
    assert ceiling("hellinger", k, n) == pytest.approx(1 - 1 / math.sqrt(size))
    assert ceiling("jensen_shannon", k, n) < math.log(2)
    for name, f in F.items():
        assert ceiling(name, k, n) <= ceiling(name, k + 1, n + 1) + 1e-12
        assert ceiling(name, 2, 3) == pytest.approx(f_information(np.eye(36), f))


@given(PREVALENCE, RATES, RATES)
def test_measures_of_a_table_go_together(prevalence: float, tpr: float, tnr: float) -> None:
    """By sklearn and by hand: kappa = J exactly where balanced or unbiased."""
    absent = 1 - prevalence
    joint = np.array(
        [[prevalence * tpr, prevalence * (1 - tpr)], [absent * (1 - tnr), absent * tnr]]
    )
    found, j = measures(joint), tpr + tnr - 1
    assert math.isnan(measures([[0, 0], [3, 4]])["youden_j"])
    truth, decision = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    assert found["youden_j"] == pytest.approx(j)
    assert found["auc"] == pytest.approx(
        roc_auc_score(truth, decision, sample_weight=joint.ravel())
    )
    assert found["tvd"] == pytest.approx(found["tvd_from_j"], abs=1e-12)
    kappa = cohen_kappa_score(truth, decision, sample_weight=joint.ravel())
    assert found["kappa"] == pytest.approx(kappa, abs=1e-9)
    assert found["kappa_bound"] == pytest.approx(abs(kappa), abs=1e-9), "half of what is printed"
    assert found["kappa_bound_printed"] == pytest.approx(2 * found["kappa_bound"])
    said = float(joint[:, 0].sum())
    same = abs((said - prevalence) * (1 - 2 * prevalence) * j) < 1e-9
    assert (abs(kappa - j) <= 1e-6) == same


def test_divergences_of_a_test_s_outcomes() -> None:
    assert divergence(TABLE, "tvd") == pytest.approx(0.8 - 0.15)  # J of an accepting test
    p, q = TABLE / TABLE.sum(axis=1, keepdims=True)
    assert divergence(TABLE, "kl") == pytest.approx((p * np.log(p / q)).sum())
    assert divergence(TABLE, "chi2") == pytest.approx(((p - q) ** 2 / q).sum())
    never = [[30, 20], [0, 50]]  # the outcome never comes without the source
    assert math.isinf(divergence(never, "kl"))
    assert divergence(never, "tvd") == pytest.approx(0.6)
    assert divergence([[5, 0], [0, 5]], "jensen_shannon") == pytest.approx(math.log(2))
    assert all(math.isnan(divergence([[0, 0], [1, 2]], name)) for name in DIVERGENCES)


def test_items_without_a_decision_are_unscored_and_the_infinite_has_no_interval() -> None:
    counts = np.stack([TABLE, TABLE, TABLE + 1, np.zeros((2, 2))])
    found = over_items(counts, lambda c: f_information(c, F["tvd"]), 0.0, 1.0)
    assert (found.n, found.unscored) == (3, 1)
    assert 0 <= found.low < found.value < found.high
    endless = over_items(np.array([[[3, 2], [0, 5]]] * 4), lambda c: divergence(c, "kl"), 0.0, 1.0)
    assert math.isinf(endless.value)
    assert math.isnan(endless.low)
