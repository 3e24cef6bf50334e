"""Sets with verdicts and without labels: told, unless chance alone may have missed them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from judgelab.study.audit.agreement import Agreement
from judgelab.study.audit.conclusion import facts
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.unseen import unseen_strata, with_chances
from tests.judgment_tables import audit_case, made_pairs


def test_a_small_set_may_be_missed_by_chance_and_a_large_one_not() -> None:
    stratum = np.array(["news"] * 90 + ["web"] * 10, dtype=object)
    judged = np.ones(100, bool)
    assert unseen_strata(stratum, judged, np.arange(100) < 60) == ("web",)  # .9^60 = .002
    assert unseen_strata(stratum, judged, np.arange(100) < 40) == ()  # .9^40 = .015
    assert unseen_strata(stratum, np.arange(100) < 90, np.arange(100) < 60) == ()
    assert unseen_strata(stratum, judged, np.arange(100) > 30) == ()


def test_labels_of_one_set_make_no_verdict_and_no_corrected_number_for_two(tmp_path: Path) -> None:
    table = made_pairs(200, (0.9,), labelled=100)
    stratum = np.array(["news"] * 100 + ["web"] * 100, dtype=object)
    table = replace(table, units=replace(table.units, stratum=stratum))
    case = audit_case(table, tmp_path, sampled=True)
    assert facts(case)["judge 0"]["unseen"] == ("web",)
    (row,) = CorrectedMean().run(case).tables[0].rows
    assert row["use"] != "corrected" and "'web'" in str(row["why"])


def test_strata_that_were_labelled_less_weigh_as_much(tmp_path: Path) -> None:
    """Right in .95 here and .55 there; 200 of 500 labels here, 30 of 500 there."""
    rng, n = np.random.default_rng(0), 1000
    table = made_pairs(n, (1.0,))
    here = np.arange(n) < n // 2
    right = rng.random(n) < np.where(here, 0.95, 0.55)
    verdicts = np.where(right[:, None], table.verdicts[0], 1 - table.verdicts[0])[None]
    drawn = rng.random(n) < np.where(here, 0.4, 0.06)
    labels = np.where(drawn[:, None], table.labels, np.nan)
    units = replace(table.units, stratum=np.where(here, "news", "web").astype(object))
    uneven = replace(table, units=units, labels=labels, verdicts=verdicts)
    assert with_chances(uneven, None) is uneven
    for sampled in (None, True):
        case = audit_case(with_chances(uneven, sampled), tmp_path)
        found = Agreement().run(case).evidence["judge 0"]["agreement"]
        assert (found.low <= right.mean() <= found.high) == bool(sampled)
