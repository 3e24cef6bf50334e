"""Sets with verdicts and without labels: told, unless chance alone may have missed them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from judgelab.study.audit.conclusion import facts
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.unseen import unseen_strata
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
