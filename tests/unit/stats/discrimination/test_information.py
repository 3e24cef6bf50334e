"""f-mutual information, Lemma F.1 and Theorem 3.3, kappa, J and AUC: what holds, what does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import (  # type: ignore[import-untyped, unused-ignore]
    cohen_kappa_score,
    mutual_info_score,
    roc_auc_score,
)

from judgelab.stats.discrimination.information import (
    Generator,
    auc_from_youden,
    ceiling,
    chi2_generator,
    f_mutual_information,
    failure_probability,
    hellinger_generator,
    informativeness_from_auc,
    jensen_shannon_generator,
    kappa,
    kappa_bound,
    kl_generator,
    tvd,
    tvd_generator,
    youden_j,
)

Array = NDArray[np.float64]
GENERATORS: dict[str, Generator] = {
    "tvd": tvd_generator,
    "kl": kl_generator,
    "chi2": chi2_generator,
    "hellinger": hellinger_generator,
    "jensen_shannon": jensen_shannon_generator,
}
every_generator = pytest.mark.parametrize("f", list(GENERATORS.values()), ids=list(GENERATORS))
COUNTS = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 20)).filter(lambda t: t.sum() > 0)
)
SQUARE = st.integers(2, 5).flatmap(
    lambda c: arrays(np.int64, (c, c), elements=st.integers(0, 20)).filter(lambda t: t.sum() > 0)
)
RATES = st.integers(0, 20).map(lambda v: v / 20)
PREVALENCE = st.integers(1, 19).map(lambda v: v / 20)


def agreement(table: NDArray[np.int64]) -> tuple[float, float]:
    joint = table / table.sum()
    return float(np.trace(joint)), float(joint.sum(axis=1) @ joint.sum(axis=0))


def decision_joint(prevalence: float, tpr: float, tnr: float) -> Array:
    """Rows: truth 0, 1; columns: decision 0, 1."""
    absent = 1 - prevalence
    return np.array(
        [[absent * tnr, absent * (1 - tnr)], [prevalence * (1 - tpr), prevalence * tpr]]
    )


# --- generators and f-mutual information ---------------------------------------------------


@every_generator
@given(s=st.floats(0, 50), t=st.floats(0, 50), weight=st.floats(0, 1))
def test_generators_are_convex_and_zero_at_one(
    f: Generator, s: float, t: float, weight: float
) -> None:
    assert float(np.asarray(f(1.0))) == 0
    mixed = float(np.asarray(f(weight * s + (1 - weight) * t)))
    chord = weight * float(np.asarray(f(s))) + (1 - weight) * float(np.asarray(f(t)))
    assert mixed <= chord + 1e-9


@every_generator
def test_value_at_zero_is_the_right_limit(f: Generator) -> None:
    assert float(np.asarray(f(0.0))) == pytest.approx(float(np.asarray(f(1e-14))), abs=1e-6)


@every_generator
@given(table=COUNTS)
def test_information_is_non_negative_symmetric_and_zero_when_independent(
    f: Generator, table: NDArray[np.int64]
) -> None:
    value = f_mutual_information(table, f)
    assert value >= -1e-12
    assert f_mutual_information(table.T, f) == pytest.approx(value, abs=1e-12)
    assert f_mutual_information(7 * table, f) == pytest.approx(value, abs=1e-12)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    assert f_mutual_information(independent, f) == pytest.approx(0, abs=1e-12)


@given(COUNTS)
def test_named_members_of_the_family(table: NDArray[np.int64]) -> None:
    assert f_mutual_information(table, tvd_generator) == pytest.approx(tvd(table), abs=1e-12)
    shannon = mutual_info_score(None, None, contingency=table)
    assert f_mutual_information(table, kl_generator) == pytest.approx(shannon, abs=1e-9)
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    chi2 = stats.chi2_contingency(kept, correction=False).statistic / table.sum()
    assert f_mutual_information(table, chi2_generator) == pytest.approx(chi2, abs=1e-9)
    joint = table / table.sum()
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    overlap = float(np.sqrt(joint * product).sum())
    assert f_mutual_information(table, hellinger_generator) == pytest.approx(1 - overlap, abs=1e-9)


@every_generator
@given(table=COUNTS, data=st.data())
def test_data_processing_never_raises_information(
    f: Generator, table: NDArray[np.int64], data: st.DataObject
) -> None:
    outputs = data.draw(st.integers(1, 5))
    shape = (table.shape[1], outputs)
    channel = data.draw(arrays(np.int64, shape, elements=st.integers(0, 9)))
    assume((channel.sum(axis=1) > 0).all())
    garbled = (table / table.sum()) @ (channel / channel.sum(axis=1, keepdims=True))
    assert f_mutual_information(garbled, f) <= f_mutual_information(table, f) + 1e-9


@every_generator
@given(table=COUNTS, data=st.data())
def test_renaming_reports_loses_nothing(
    f: Generator, table: NDArray[np.int64], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(table.shape[1])))
    assert f_mutual_information(table[:, order], f) == pytest.approx(
        f_mutual_information(table, f), abs=1e-12
    )


@every_generator
@pytest.mark.parametrize("mass", [1e-12, 1e-140, 1e-160, 1e-310])
def test_a_vanishing_outcome_neither_overflows_nor_makes_information_negative(
    f: Generator, mass: float
) -> None:
    found = f_mutual_information(np.diag([1.0, mass]), f)
    assert -1e-12 <= found <= f_mutual_information(np.eye(2), f) + 1e-12


@pytest.mark.parametrize("bad", [[[1.0, -1.0]], [[0.0, 0.0]], [1.0, 2.0], [[math.nan, 1.0]]])
def test_what_is_no_distribution_is_refused(bad: list[list[float]]) -> None:
    for call in (tvd, lambda joint: f_mutual_information(joint, kl_generator), kappa):
        with pytest.raises(ValueError, match="joint distribution"):
            call(bad)


# --- Lemma F.1 and Theorem 3.3 -------------------------------------------------------------


@every_generator
@given(masses=st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any))
def test_lemma_f1_no_diagonal_coupling_beats_the_uniform_one(
    f: Generator, masses: list[int]
) -> None:
    size = len(masses)
    uniform = f_mutual_information(np.eye(size), f)
    at_size, at_zero = float(np.asarray(f(float(size)))), float(np.asarray(f(0.0)))
    assert uniform == pytest.approx(at_size / size + (1 - 1 / size) * at_zero, abs=1e-12)
    found = f_mutual_information(np.diag(masses), f)
    assert found <= uniform + 1e-9
    if f is chi2_generator:
        support = sum(mass > 0 for mass in masses)
        assert found == pytest.approx(support - 1), "any coupling of full support ties"


@every_generator
@given(table=COUNTS)
def test_joints_off_the_diagonal_stay_below_the_uniform_coupling_of_their_cells(
    f: Generator, table: NDArray[np.int64]
) -> None:
    cells = int(np.count_nonzero(table))
    uniform = f_mutual_information(np.eye(cells), f)
    assert f_mutual_information(table, f) <= uniform + 1e-9


@every_generator
def test_the_condition_of_lemma_f1_holds_for_the_named_generators(f: Generator) -> None:
    p = np.linspace(1e-3, 1, 4001)
    phi = p**2 * (np.asarray(f(1 / p)) - float(np.asarray(f(0.0))))
    bend = phi[:-2] - 2 * phi[1:-1] + phi[2:]
    assert bend.max() <= 1e-9
    if f is chi2_generator:
        assert abs(bend).max() <= 1e-9


def cubic(t: Array) -> Array:
    return np.asarray(t, dtype=np.float64) ** 3 - 1


def hockey_stick(t: Array) -> Array:
    return np.maximum(np.asarray(t, dtype=np.float64) - 3, 0)


def test_lemma_f1_fails_for_other_convex_generators() -> None:
    skewed = np.diag([0.1, 0.9])
    assert f_mutual_information(skewed, cubic) == pytest.approx(10 + 10 / 9 - 1)
    assert f_mutual_information(np.eye(2), cubic) == pytest.approx(3)
    more = f_mutual_information(np.diag([1e-6, 1 - 1e-6]), cubic)
    assert more > 1e5, "unbounded on two points"
    assert f_mutual_information(skewed, hockey_stick) == pytest.approx(0.07)
    assert f_mutual_information(np.eye(2), hockey_stick) == 0


@given(st.integers(1, 50), st.integers(2, 5000))
def test_ceiling_for_named_generators(k: int, n: int) -> None:
    size = 2 * k * n**2
    assert ceiling(tvd_generator, k, n) == pytest.approx(1 - 1 / size, abs=1e-15)
    assert ceiling(kl_generator, k, n) == pytest.approx(math.log(size))
    assert ceiling(chi2_generator, k, n) == pytest.approx(size - 1)
    assert ceiling(hellinger_generator, k, n) == pytest.approx(1 - 1 / math.sqrt(size))
    assert ceiling(jensen_shannon_generator, k, n) < math.log(2)
    for f in GENERATORS.values():
        assert ceiling(f, k, n) <= ceiling(f, k, n + 1) + 1e-12
        assert ceiling(f, k, n) <= ceiling(f, k + 1, n) + 1e-12


@every_generator
def test_ceiling_is_the_information_of_the_uniform_coupling(f: Generator) -> None:
    assert ceiling(f, k=2, n=3) == pytest.approx(f_mutual_information(np.eye(36), f))


def test_certifying_more_nats_costs_exponentially_many_samples() -> None:
    gain = ceiling(kl_generator, 10, 271_828) - ceiling(kl_generator, 10, 100_000)
    assert gain == pytest.approx(2, abs=1e-5), "e times the samples buy two nats, whatever n"
    assert ceiling(tvd_generator, 10, 2) == pytest.approx(0.9875)


def test_ceiling_accepts_plain_functions_and_refuses_what_the_theorem_excludes() -> None:
    assert ceiling(lambda t: abs(t - 1) / 2, 1, 2) == pytest.approx(0.875)
    with pytest.raises(ValueError, match="finite at 0"):
        ceiling(lambda t: math.inf if t == 0 else -math.log(t), 1, 2)
    for k, n in ((0, 5), (1, 1)):
        with pytest.raises(ValueError, match="k >= 1 and n >= 2"):
            ceiling(tvd_generator, k, n)


def test_failure_probability() -> None:
    assert failure_probability(0.05, 20) == pytest.approx(0.1)
    assert failure_probability(0.5, 1) == 1
    with pytest.raises(ValueError, match="delta"):
        failure_probability(-0.1, 2)
    with pytest.raises(ValueError, match="delta"):
        failure_probability(0.1, 0)


# --- kappa ---------------------------------------------------------------------------------


@given(SQUARE)
def test_kappa_equals_sklearn_and_its_bounds(table: NDArray[np.int64]) -> None:
    observed, by_chance = agreement(table)
    assume(by_chance < 1 - 1e-9)
    found = kappa(table)
    first, second = np.nonzero(np.ones_like(table))
    expected = cohen_kappa_score(first, second, sample_weight=table.ravel())
    assert found == pytest.approx(expected, abs=1e-9)
    variation = tvd(table)
    assert variation >= abs(observed - by_chance) - 1e-12, "twice what the paper prints"
    assert abs(found) <= kappa_bound(variation, by_chance) / 2 + 1e-9
    if len(table) == 2:
        assert abs(found) == pytest.approx(kappa_bound(variation, by_chance) / 2, abs=1e-9)


def test_kappa_edges() -> None:
    assert kappa(np.eye(3)) == 1
    assert kappa([[0, 1], [1, 0]]) == -1
    assert math.isnan(kappa([[5, 0], [0, 0]]))
    with pytest.raises(ValueError, match="square"):
        kappa([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(ValueError, match="p_e"):
        kappa_bound(0.1, 1.0)


# --- Youden's J and AUC --------------------------------------------------------------------


@given(PREVALENCE, RATES, RATES)
def test_tvd_of_truth_and_decision_is_twice_the_prevalence_variance_times_j(
    prevalence: float, tpr: float, tnr: float
) -> None:
    joint = decision_joint(prevalence, tpr, tnr)
    j = youden_j(tpr, tnr)
    assert tvd(joint) == pytest.approx(2 * prevalence * (1 - prevalence) * abs(j), abs=1e-12)
    assert tvd(decision_joint(0.5, tpr, tnr)) == pytest.approx(abs(j) / 2, abs=1e-12)


@given(PREVALENCE, RATES, RATES)
def test_kappa_is_j_exactly_when_balanced_or_unbiased(
    prevalence: float, tpr: float, tnr: float
) -> None:
    joint = decision_joint(prevalence, tpr, tnr)
    j = youden_j(tpr, tnr)
    said = float(joint[:, 1].sum())
    balanced = kappa(decision_joint(0.5, tpr, tnr))
    assert balanced == pytest.approx(j, abs=1e-12)
    defect = (said - prevalence) * (1 - 2 * prevalence) * j
    if abs(defect) < 1e-9:
        assert kappa(joint) == pytest.approx(j, abs=1e-6)
    else:
        assert abs(kappa(joint) - j) > 1e-6


@given(RATES, RATES)
def test_auc_of_one_decision_is_half_of_one_plus_j(tpr: float, tnr: float) -> None:
    truth, decision = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    weights = decision_joint(0.5, tpr, tnr).ravel()
    auc = roc_auc_score(truth, decision, sample_weight=weights)
    j = youden_j(tpr, tnr)
    assert auc_from_youden(j) == pytest.approx(auc, abs=1e-9)
    assert informativeness_from_auc(auc) == pytest.approx(j, abs=1e-9)


def test_a_symmetric_roc_does_not_make_j_the_informativeness_of_the_auc() -> None:
    best_j = 2 * stats.norm.cdf(0.5) - 1
    auc = float(stats.norm.cdf(1 / math.sqrt(2)))
    assert best_j == pytest.approx(0.383, abs=5e-4)
    assert informativeness_from_auc(auc) == pytest.approx(0.520, abs=1e-3)


def test_rates_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="A rate lies between 0 and 1"):
        youden_j(1.2, 0.5)
    with pytest.raises(ValueError, match="A rate lies between 0 and 1"):
        youden_j(0.2, -0.5)
    with pytest.raises(ValueError, match="An AUC"):
        informativeness_from_auc(-0.1)
    with pytest.raises(ValueError, match="Youden's J lies between -1 and 1"):
        auc_from_youden(1.5)
    with pytest.raises(ValueError, match="tvd >= 0"):
        kappa_bound(-0.1, 0.5)
