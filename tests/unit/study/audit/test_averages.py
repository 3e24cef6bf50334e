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
    assert row["judge_alone"] == pytest.approx(0.8) == row["best_estimate"]


def test_what_is_off_is_corrected_where_the_judge_saves_labels() -> None:
    """Passes half of the failures; of 120 labels it is not known yet, of 480 it is."""
    table = made_classes([[14, 13], [5, 88]], unlabelled=[60, 340])
    assert average(table, sampled=True)["report"] == "not known"
    assert "not known" in str(average(table)["because"]), "nobody said that labels are random"
    row = average(made_classes([[56, 52], [20, 352]], unlabelled=[240, 1360]), sampled=True)
    assert row["report"] == "with labels"
    assert row["judge_alone"] == pytest.approx((52 + 352 + 1360) / 2080)
    assert row["best_estimate_from"] == "labels and verdicts"
    # for two answers the corrected share is post-stratification
    said = np.array([316, 1764]) / 2080
    assert row["best_estimate"] == pytest.approx(said @ [20 / 76, 352 / 404], abs=0.002)


def test_a_judge_that_tells_nothing_adds_nothing() -> None:
    row = average(made_classes([[100, 100], [300, 300]], unlabelled=[500, 500]), sampled=True)
    assert row["report"] == "people alone"


def test_a_rare_class_has_the_interval_of_people_alone_and_a_margin_of_a_fifth() -> None:
    """Below five labels of a class Wilson's; five points are no tolerance at .02. The bias was the
    judge's less another number, by PPI++, than the one that was shown."""
    table = made_classes([[2, 1], [6, 191]], ("unsafe", "safe"), "unsafe", [200, 1800])
    found = audited(table, sampled=True)
    (row,) = rows(found, "averages")
    low, high = proportion_confint(3, 200, method="wilson")
    ends = row["best_estimate_low"], row["best_estimate_high"]
    assert (row["best_estimate"], *ends) == pytest.approx((0.015, low, high), abs=0.003)
    assert row["bias"] == pytest.approx(208 / 2200 - 0.015)
    own, most = proportion_confint(208, 2200, method="wilson")
    far = np.hypot(208 / 2200 - own, high - 0.015), np.hypot(most - 208 / 2200, 0.015 - low)
    ends = row["bias"] - row["bias_low"], row["bias_high"] - row["bias"]  # type: ignore[operator]
    assert ends == pytest.approx(far, abs=0.003)
    assert (row["report"], row["best_estimate_from"]) == ("people alone", "labels alone")
    assert "people's labels say 1.5 % (0.5 to 4.4 %). Report" in dict(found.answer)["Its average"]
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
        levels = tuple(np.roll(["a", "b", "c"], k))
        row = average(made_classes(counts, levels, "", unlabelled), sampled=True)
        reports.add(row["report"])
        savings.add(round(float(row["labels_saved"]), 6))  # type: ignore[arg-type]
    assert len(reports) == len(savings) == 1


def test_of_several_classes_word_and_figures_are_of_one() -> None:
    """Of a and b the judge knows next to nothing, so people alone; c, which it knows, is farthest
    off, and its figures, .5 of the labels saved, stood beside that word. Nobody calls a text d."""
    counts = [[105, 105, 20, 1], [105, 105, 20, 0], [1, 1, 58, 0], [0, 0, 0, 0]]
    row = average(made_classes(counts, tuple("abcd"), "", [900, 700, 400, 0]), sampled=True)
    assert (row["number"], row["report"]) == ("share of 'b'", "people alone")
    assert row["labels_saved_high"] < 0.1  # type: ignore[operator]


def test_grades_on_another_scale_and_labels_of_other_strata_are_no_average() -> None:
    table = made_grades(80, 1, (0.5,))
    assert average(table)["number"] == "mean grade"
    grades, k = table.verdicts, np.arange(80)[:, None]
    for other in (grades * 20, grades * 2, grades / 5, np.where(k < 4, 0, grades), (k > 0) * 1.0):
        made = replace(table, verdicts=np.broadcast_to(other, grades.shape))
        assert "another scale" in str(average(made)["because"])
    for stray in (0.0, 9.0):  # one slip withheld the average
        made = replace(table, verdicts=np.where(k == 7, stray, grades))
        assert "another scale" not in str(average(made)["because"])
        gaps = [len(rows(audited(x), "disagreements")) for x in (table, made)]
        assert gaps[1] - gaps[0] in (0, 1)  # by points still, not by ranks
    units = replace(table.units, stratum=np.repeat(["web", "mail"], 40).astype(object))
    labels = np.where(np.arange(80)[:, None] < 40, table.labels, np.nan)
    unseen = replace(table, units=units, labels=labels)
    assert "mail" in str(average(unseen, sampled=True)["because"])


def test_places_are_no_systems_and_have_no_win_rate() -> None:
    table = made_pairs(100, (0.9,))
    assert average(table)["number"] == "win rate of 'a'"
    names = (np.full(100, name, dtype=object) for name in ("first", "second"))
    units = replace(table.units, **dict(zip(("first", "second"), names, strict=True)))
    assert not rows(audited(replace(table, units=units)), "averages")


def test_strata_that_were_sampled_unevenly_are_weighed_and_no_stop_forgets_it() -> None:
    """Right on 9 of 10 of the common, on 5 of 10 of the rare, which was labelled more often."""
    right = np.array([True] * 90 + [False] * 10 + [True] * 50 + [False] * 50 + [True] * 800)
    n = len(right)
    label = np.arange(n) % 2.0
    said = np.where(right, label, 1 - label)
    labelled = np.arange(n) < 200
    strata = ["common"] * 100 + ["rare"] * 100 + ["common"] * 800
    units = Units.of([f"i{k}" for k in range(n)], [""] * n, stratum=strata)
    labels, table = np.where(labelled, label, np.nan)[:, None], made_classes([[n, 0], [0, 0]])
    table = replace(table, units=units, labels=labels, verdicts=said[None, :, None])
    ways: tuple[Any, ...] = (True, "strata")
    plain, weighed = (rows(audited(table, sampled=way), "judges")[0] for way in ways)
    assert plain["agreement"] == pytest.approx(0.7)
    assert weighed["agreement"] == pytest.approx(0.9 * 0.9 + 0.1 * 0.5)
    assert 0 < weighed["agreement_low"] < weighed["agreement"] < weighed["agreement_high"] < 1  # type: ignore[operator]
    none: Any = None
    with pytest.raises(ConfigError, match="cannot weigh strata"):
        Audit(none, Bars(), sampled="strata", stop=Stop(width=0.1))
