"""What verdicts are worth on real judges: net of what is free, and labels that plans ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.judgments import JudgmentTable
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import estimate
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.exchange import ExchangeRate
from tests.judgment_tables import ADVERSARIAL, audit_case, frank, llmbar, made_pairs


def found(table: JudgmentTable, folder: Path, part: ExchangeRate | None = None) -> Findings:
    return (part or ExchangeRate()).run(audit_case(table, folder, sampled=True))


def test_a_metric_is_not_paid_for_what_the_system_tells(shared_data: Path, tmp_path: Path) -> None:
    """FRANK cnndm: systems tell much of what metrics tell; metrics differ between systems, too.

    Where all summaries of an article are labelled their systems tell nothing of its mean.
    """
    table = frank(shared_data, "cnndm")
    single = table.at((table.clusters + np.arange(len(table.units))) % 5 == 0)
    one = {row["judge"]: row for row in found(single, tmp_path).tables[0].rows}["BertScore F1 Art"]
    assert one["saves"] < 0.5 * one["saves_in_all"]  # type: ignore[operator]
    worth, apart = found(table, tmp_path).tables
    best = {row["judge"]: row for row in worth.rows}["BertScore F1 Art"]
    assert best["saves"] == pytest.approx(best["saves_in_all"])
    assert best["saves"] < 0.7 * one["saves_in_all"]  # type: ignore[operator]
    assert best["labels_with_judge"] < best["labels_people_alone"]  # type: ignore[operator]
    assert best["fewest"] <= best["labels_with_judge"] <= best["most"]  # type: ignore[operator]
    duel = {row["judge"]: row for row in apart.rows}["BertScore F1 Art"]
    assert duel["bias_sd"] > 0.1 and duel["at_best"] < 0.95  # type: ignore[operator]
    assert duel["judge_alone_items"] is None


def test_length_and_domain_are_taken_out_on_llmbar(shared_data: Path, tmp_path: Path) -> None:
    made = found(llmbar(shared_data, ADVERSARIAL), tmp_path)
    saving = made.evidence["GPT-4/Rating"]["saving"]
    assert (saving.n, saving.clusters) == (319, 319)
    assert 0.25 < saving.low < saving.value < saving.high < 0.5
    assert made.evidence["ChatGPT/Vanilla"]["saving"].value == 0
    assert any(said.startswith("Against people") for said in made.notes)
    assert any("numbered, not named" in said for said in made.notes)


def test_planned_labels_give_the_width(tmp_path: Path) -> None:
    """A pilot of 200 labels plans; as many labels as it says, drawn anew, give that width."""
    whole = made_pairs(6000, (0.85,), seed=1)
    pilot = replace(whole, labels=np.where(np.arange(6000) < 200, whole.labels.T, np.nan).T)
    row = found(pilot, tmp_path).tables[0].rows[0]
    planned = row["labels_with_judge"]
    assert isinstance(planned, int) and planned < 300 < row["labels_people_alone"]  # type: ignore[operator]
    truth = np.where(np.arange(6000) < planned, whole.truth, np.nan)
    made = estimate(LabelledPool.of(truth, whole.values, np.arange(6000)))
    assert (made.high[0] - made.low[0]) / 2 == pytest.approx(0.05, rel=0.1)


def test_systems_are_named_rightly_or_refused(shared_data: Path, tmp_path: Path) -> None:
    table = frank(shared_data)
    made = found(table, tmp_path, ExchangeRate(systems=("TranS2S", "BERTS2S")))
    assert made.tables[1].title == "Labels that tell TranS2S and BERTS2S apart"
    with pytest.raises(ConfigError, match="BERTS2S"):
        found(table, tmp_path, ExchangeRate(systems=("TranS2S", "BERTS2")))


def test_named_systems_of_pairs_and_no_labels(tmp_path: Path) -> None:
    table = made_pairs(300, (0.9, 0.5))
    named = replace(
        table,
        units=replace(
            table.units,
            first=np.array(["ours"] * 300, object),
            second=np.array(["theirs"] * 300, object),
        ),
    )
    good, bad = found(named, tmp_path).tables[1].rows
    assert good["judge"] == "judge 0" and good["with_judge"] < bad["with_judge"]  # type: ignore[operator]
    assert good["difference"] == pytest.approx(table.truth.mean() - 0.5)
    bare = replace(table, labels=np.full((300, 1), np.nan))
    assert found(bare, tmp_path).lacking
