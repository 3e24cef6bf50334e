"""The number that is reported from a judge: as it is, with labels, from people alone, unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from judgelab.core.errors import ConfigError
from judgelab.core.judgments import Units
from judgelab.core.result import Row
from judgelab.study.audit import Audit
from judgelab.study.audit.design import Bars
from judgelab.study.common.stopping import Stop
from tests.judgment_tables import audited, made_classes, made_grades, made_pairs, rows


def average(table: Any, **settings: Any) -> Row:
    (row,) = rows(audited(table, **settings), "averages")
    return row


def test_what_is_right_may_be_reported_as_it_is() -> None:
    row = average(made_classes([[195, 5], [5, 795]]))
    assert (row["number"], row["report"]) == ("pass rate", "as it is")
    assert row["judge_alone"] == pytest.approx(0.8) == row["corrected"]


def test_what_is_off_is_corrected_where_the_judge_saves_labels() -> None:
    """Passes half of the failures; of 120 labels it is not known yet, of 480 it is."""
    table = made_classes([[14, 13], [5, 88]], unlabelled=[60, 340])
    assert average(table, sampled=True)["report"] == "not known"
    assert "not known" in str(average(table)["because"]), "nobody said that labels are random"
    row = average(made_classes([[56, 52], [20, 352]], unlabelled=[240, 1360]), sampled=True)
    assert row["report"] == "with labels"
    assert row["judge_alone"] == pytest.approx((52 + 352 + 1360) / 2080)
    assert float(row["corrected"]) < float(row["judge_alone"])  # type: ignore[arg-type]
    # for two answers the corrected share is post-stratification
    said = np.array([316, 1764]) / 2080
    assert row["corrected"] == pytest.approx(said @ [20 / 76, 352 / 404], abs=0.002)


def test_a_judge_that_tells_nothing_adds_nothing() -> None:
    row = average(made_classes([[100, 100], [300, 300]], unlabelled=[500, 500]), sampled=True)
    assert row["report"] == "people alone"


def test_a_rare_class_has_the_interval_of_people_alone_and_a_margin_of_a_fifth() -> None:
    """Below five labels of a class Wilson's; five points are no tolerance at .02."""
    row = average(made_classes([[2, 1], [6, 191]], ("unsafe", "safe"), "unsafe"))
    low, high = proportion_confint(3, 200, method="wilson")
    assert row["corrected"] == pytest.approx(0.015)
    assert (row["corrected_low"], row["corrected_high"]) == pytest.approx((low, high), abs=0.003)
    rare = average(made_classes([[38, 62], [20, 1880]], ("unsafe", "safe"), "unsafe"))
    assert rare["tolerated_bias"] == pytest.approx(0.05 / 5, abs=0.001)
    assert rare["report"] != "as it is"
    many = average(made_classes([[97, 3], [57, 1843]], ("unsafe", "safe"), "unsafe"))
    assert many["judge_alone"] == pytest.approx(0.077) and many["report"] != "as it is"


def test_no_answer_hangs_on_which_class_is_named() -> None:
    """Savings were those of the class that comes first in the alphabet."""
    counts = [[30, 4, 6], [8, 140, 2], [1, 9, 50]]
    unlabelled = [200, 800, 300]
    reports, savings = set(), set()
    for k in range(3):
        turn = np.roll(np.arange(3), k)
        levels = tuple(np.array(["a", "b", "c"])[turn])
        row = average(made_classes(counts, levels, "", unlabelled), sampled=True)
        reports.add(row["report"])
        savings.add(round(float(row["labels_saved"]), 6))  # type: ignore[arg-type]
    assert len(reports) == len(savings) == 1


def test_grades_on_another_scale_and_labels_of_other_strata_are_no_average() -> None:
    table = made_grades(80, 1, (0.5,))
    assert average(table)["number"] == "mean grade"
    other = replace(table, verdicts=table.verdicts * 20)
    assert "another scale" in str(average(other)["because"])
    units = replace(table.units, stratum=np.repeat(["web", "mail"], 40).astype(object))
    labels = np.where(np.arange(80)[:, None] < 40, table.labels, np.nan)
    unseen = replace(table, units=units, labels=labels)
    assert "mail" in str(average(unseen, sampled=True)["because"])


def test_places_are_no_systems_and_have_no_win_rate() -> None:
    table = made_pairs(100, (0.9,))
    assert average(table)["number"] == "win rate of 'a'"
    units = table.units
    names = np.full((2, 100), "first", dtype=object)
    names[1] = "second"
    units = replace(units, first=names[0], second=names[1])
    assert not rows(audited(replace(table, units=units)), "averages")


def test_strata_that_were_sampled_unevenly_are_weighed_and_no_stop_forgets_it() -> None:
    """Right on 9 of 10 of the common, on 5 of 10 of the rare, which was labelled more often."""
    right = np.array([True] * 90 + [False] * 10 + [True] * 50 + [False] * 50 + [True] * 800)
    n = len(right)
    label = np.arange(n) % 2.0
    said = np.where(right, label, 1 - label)
    labelled = np.arange(n) < 200
    table = made_classes([[n, 0], [0, 0]])
    units = Units.of(
        [f"i{k}" for k in range(n)],
        [""] * n,
        stratum=["common"] * 100 + ["rare"] * 100 + ["common"] * 800,
    )
    table = replace(
        table,
        units=units,
        labels=np.where(labelled, label, np.nan)[:, None],
        verdicts=said[None, :, None],
    )
    plain, weighed = (
        rows(audited(table, sampled=sampled), "judges")[0] for sampled in (True, "strata")
    )
    assert plain["agreement"] == pytest.approx(0.7)
    assert weighed["agreement"] == pytest.approx(0.9 * 0.9 + 0.1 * 0.5)
    assert 0 < weighed["agreement_low"] < weighed["agreement"] < weighed["agreement_high"] < 1  # type: ignore[operator]
    none: Any = None
    with pytest.raises(ConfigError, match="cannot weigh strata"):
        Audit(none, Bars(), sampled="strata", stop=Stop(width=0.1))
