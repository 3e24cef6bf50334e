"""What the number is: who holds, who is refused, and why; on made truth and real judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.study import _sampled
from tests.judgment_tables import ADVERSARIAL, audit_case, frank, llmbar, made_pairs


def found(
    table: JudgmentTable, folder: Path, sampled: bool | None = True, **settings: Any
) -> Findings:
    return CorrectedMean(**settings).run(audit_case(table, folder, sampled=sampled))


def rows(table: JudgmentTable, folder: Path, sampled: bool | None = True, **settings: Any) -> Any:
    made = found(table, folder, sampled, **settings).tables[0].rows
    return {(str(row["judge"]), str(row["number"])): row for row in made}


def labels_of(table: JudgmentTable, n: int, seed: int = 0) -> JudgmentTable:
    """The table with labels of so many clusters drawn at random, and no probabilities."""
    names = list(dict.fromkeys(table.units.cluster))
    chosen = set(np.random.default_rng(seed).permutation(np.array(names, object))[:n])
    kept = np.array([name in chosen for name in table.units.cluster])
    units = replace(table.units, chance=np.full(len(kept), np.nan))
    return replace(table, units=units, labels=np.where(kept[:, None], table.labels, np.nan))


def test_a_good_judge_narrows_and_its_own_interval_misses(tmp_path: Path) -> None:
    table = made_pairs(2000, (0.9, 0.9), first=0.0, labelled=150)
    biased = table.verdicts.copy()
    biased[1] = np.where(np.random.default_rng(1).random(biased[1].shape) < 0.3, 1.0, biased[1])
    made = rows(replace(table, verdicts=biased), tmp_path)
    truth = 0.5  # of the population
    for judge in ("judge 0", "judge 1"):
        row = made[judge, "a is better"]
        assert row["use"] == "corrected" and "more labels" in row["why"]
        assert row["corrected_low"] <= truth <= row["corrected_high"]
        wide = row["people_alone_high"] - row["people_alone_low"]
        assert row["corrected_high"] - row["corrected_low"] < 0.8 * wide
    assert made["judge 1", "a is better"]["judge_alone_low"] > truth + 0.05
    shift = found(replace(table, verdicts=biased), tmp_path).evidence["judge 1"]["shift"]
    assert shift.low > 0.05


@pytest.mark.parametrize(
    ("sampled", "use", "why"),
    [(None, "none", "nobody said"), (False, "from_error_rates", "errs as often")],
)
def test_labels_that_are_not_known_to_be_random(
    sampled: bool | None, use: str, why: str, tmp_path: Path
) -> None:
    row = rows(made_pairs(800, (0.9,), labelled=100), tmp_path, sampled)["judge 0", "a is better"]
    assert row["use"] == use and why in row["why"] and np.isnan(row["corrected"])
    assert "shift" not in found(
        made_pairs(800, (0.9,), labelled=100), tmp_path, sampled
    ).evidence.get("judge 0", {})


def test_a_judge_at_chance_has_no_error_rates_to_go_by(tmp_path: Path) -> None:
    row = rows(made_pairs(800, (0.5,), labelled=100), tmp_path, False)["judge 0", "a is better"]
    assert row["use"] == "none" and "no better than chance" in row["why"]
    assert row["tells_apart_low"] <= 0


def test_few_labels_and_rare_kinds_are_left_to_people(tmp_path: Path) -> None:
    few = rows(made_pairs(500, (0.9,), labelled=20), tmp_path)["judge 0", "a is better"]
    assert few["use"] == "people_alone" and "fewer than 30" in few["why"]
    table = made_pairs(500, (0.9,), labelled=100)
    rare = replace(table, labels=np.where(np.arange(500)[:, None] < 3, 1.0, table.labels * 0))
    row = rows(rare, tmp_path)["judge 0", "a is better"]
    assert row["use"] == "people_alone" and "rarer kind (3)" in row["why"]
    assert 0 < row["people_alone_low"] < 0.03 < row["people_alone_high"]


def test_labels_of_other_strata_do_not_carry_over(shared_data: Path, tmp_path: Path) -> None:
    """trust.md: labels on one data set and the number of another: nothing works, so say so."""
    table = llmbar(shared_data, ADVERSARIAL)
    there = table.units.stratum == ADVERSARIAL[0]
    units = replace(table.units, chance=np.full(len(there), np.nan))
    shown = replace(table, units=units, labels=np.where(there[:, None], table.labels, np.nan))
    for sampled in (True, False):
        made = rows(shown, tmp_path, sampled)
        assert {row["use"] for row in made.values()} == {"none"}
        assert "no label is from" in made["GPT-4/CoT", "output_1 is better"]["why"]


def test_strata_that_were_labelled_unevenly_count_by_their_size(tmp_path: Path) -> None:
    """People say yes to .9 of one half and .1 of the other, which was labelled a fifth as often."""
    rng, errors = np.random.default_rng(0), []
    base = made_pairs(1000, (0.8,))
    half = np.arange(1000) % 2
    for _ in range(40):
        truth = (rng.random(1000) < np.where(half, 0.1, 0.9)).astype(float)
        known = rng.random(1000) < np.where(half, 0.1, 0.5)
        said = np.where(rng.random((1, 1000, 2)) < 0.8, truth[:, None], 1 - truth[:, None])
        names = np.array([f"half {k}" for k in half], object)
        table = replace(
            base,
            units=replace(base.units, stratum=names),
            labels=np.where(known, truth, np.nan)[:, None],
            verdicts=said,
        )
        row = rows(table, tmp_path)["judge 0", "a is better"]
        assert "count by their size" in row["why"]
        errors.append(
            (row["corrected"] - 0.5, row["corrected_low"] <= 0.5 <= row["corrected_high"])
        )
    assert abs(np.mean([one for one, _ in errors])) < 0.02
    assert np.mean([held for _, held in errors]) >= 0.85  # .95 but for 40 draws


def test_grades_of_metrics_on_other_scales(shared_data: Path, tmp_path: Path) -> None:
    """FRANK cnndm: BertScore lies between .7 and .9 and still tells of people's 0 to 1."""
    table = labels_of(frank(shared_data, "cnndm"), 100)
    made = rows(table, tmp_path)
    row = made["BertScore F1 Art", "mean grade"]
    assert row["use"] == "corrected" and row["relied_on"] > 1
    narrow = row["corrected_high"] - row["corrected_low"]
    assert narrow < (row["people_alone_high"] - row["people_alone_low"])
    assert len(made) == 15 * 6  # of all texts, and of five systems
    evidence = found(table, tmp_path).evidence["BertScore F1 Art"]
    assert evidence["shift_margin"] == pytest.approx(0.25 * np.nanstd(table.truth))


def test_the_pool_itself_is_known_when_all_of_it_is_labelled(tmp_path: Path) -> None:
    made = rows(made_pairs(200, (0.8,)), tmp_path, target="pool")["judge 0", "a is better"]
    assert made["corrected_low"] == pytest.approx(made["corrected_high"])
    assert "every unit has a label" in made["why"]
    bare = replace(made_pairs(50, (0.8,)), labels=np.full((50, 1), np.nan))
    assert found(bare, tmp_path).lacking


def test_unclipped_goes_against_a_judge_and_says_so(tmp_path: Path) -> None:
    made = found(made_pairs(900, (0.1,), labelled=120), tmp_path, tuning="unclipped")
    row = made.tables[0].rows[0]
    assert float(row["relied_on"] or 0) < -0.5
    assert any("wrong way round" in said for said in made.notes)


def test_a_rate_counts_what_people_are_split_on(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 400
    labels = (rng.random((n, 2)) < 0.3).astype(float)
    table = JudgmentTable(
        "category",
        Units.of([f"item {k}" for k in range(n)], ["a"] * n),
        ("one", "two"),
        labels,
        (JudgeFacts("judge", pointwise=True),),
        labels[None, :, :1],
        np.ones((1, n, 1), np.bool_),
        levels=("no", "yes"),
    )
    (row,) = CorrectedMean().run(audit_case(table, tmp_path, sampled=True)).tables[0].rows
    assert row["n"] == n
    assert row["people_alone"] == pytest.approx(labels.mean())


def test_chances_of_one_do_not_say_why_others_have_no_label() -> None:
    table = made_pairs(60, labelled=40)
    for chance, told in ((1.0, None), (0.5, True), (np.nan, None)):
        units = replace(table.units, chance=np.where(table.labelled, chance, np.nan))
        assert _sampled(replace(table, units=units)) is told
    whole = made_pairs(60)
    assert _sampled(replace(whole, units=replace(whole.units, chance=np.ones(60)))) is True
