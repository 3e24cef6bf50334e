"""People with each other and judges with people, by hand and against packages."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from judgelab.stats.trust.ceiling import (
    STRATA,
    grade_agreement,
    krippendorff_alpha,
    label_agreement,
    spread,
    spread_strata,
)
from tests.judgment_tables import made_raters


def test_by_hand() -> None:
    labels = np.array([[1, 1, 0], [1, np.nan, np.nan], [0, 0, np.nan]], float)
    verdicts = np.array([[[1, 1], [1, 1], [1, 0]]], float)
    people, judge = label_agreement(verdicts, np.ones(verdicts.shape, bool), labels, False)
    np.testing.assert_allclose(people, [1 / 3, np.nan, 1])
    np.testing.assert_allclose(judge, [[2 / 3, np.nan, 0.5]])


def test_a_judge_that_is_one_more_person_agrees_as_people_do() -> None:
    table = made_raters(20_000, (0.8, 0.8, 0.8), (0.8,))
    people, judge = label_agreement(table.verdicts, table.asked, table.labels, False)
    assert people.mean() == pytest.approx(0.8**2 + 0.2**2, abs=0.01)
    assert judge.mean() == pytest.approx(people.mean(), abs=0.01)
    # Held against the majority, the same judge looks better than people do with each other.
    majority = (table.labels.mean(axis=1) > 0.5) == (table.verdicts[0, :, 0] == 1)
    assert majority.mean() > people.mean() + 0.05


def test_grades_of_one_more_person_agree_as_people_do() -> None:
    rng = np.random.default_rng(2)
    items = np.repeat(np.arange(1500), 4)
    truth = rng.normal(size=len(items))
    said = np.round(2 * (truth[:, None] + rng.normal(0, 1, (len(items), 4))))
    people, judge = grade_agreement(
        said[:, 3][None], np.ones((1, len(items)), bool), said[:, :3], items, items, 1500
    )
    assert judge[0].mean() == pytest.approx(people.mean(), abs=0.01)
    assert 0.5 < people.mean() < 0.8


def test_krippendorff_s_alpha_is_the_package_s_and_its_interval_holds_it() -> None:
    labels = made_raters(150).labels.copy()
    labels[:20, 0] = np.nan
    found = krippendorff_alpha(labels, "nominal", np.arange(150))
    wanted = krippendorff.alpha(labels.T, level_of_measurement="nominal")
    assert found.value == pytest.approx(wanted) and found.low < wanted < found.high
    assert np.isnan(krippendorff_alpha(np.ones((5, 2)), "nominal", np.arange(5)).value)


def test_units_are_parted_by_how_much_people_differ() -> None:
    labels = np.array([[1, 1, 1], [1, 1, 0], [1, 2, 0], [1, np.nan, np.nan]], float)
    assert spread_strata(spread(labels, grades=False)) == [STRATA[0], STRATA[1], STRATA[2], ""]
    grades = np.array([[3.1, 3.1], [3, 3.5], [1, 5]], float)
    assert spread_strata(spread(grades, grades=True)) == list(STRATA)
