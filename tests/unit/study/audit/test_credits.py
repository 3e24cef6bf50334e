"""Credits of judges and controls, on real judgments and by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.study.audit.credits import credits_of
from tests.judgment_tables import ADVERSARIAL, frank, llmbar, made_pairs


def control(found: object, name: str) -> float:
    """Mean credit of a control."""
    return float(np.nanmean(found.control[found.controls.index(name)]))  # type: ignore[attr-defined]


def test_credit_on_llmbar_is_the_released_average_accuracy(shared_data: Path) -> None:
    table = llmbar(shared_data)
    found = dict(zip(table.names, np.nanmean(credits_of(table).item, axis=1), strict=True))
    said = pd.read_parquet(shared_data / "judge_audit" / "llmbar_statistics.parquet")
    said = said[said["set"] == "LLMBar/Natural"]
    for judge, strategy, share in zip(said.judge, said.strategy, said.correct_average, strict=True):
        released = float(str(share).rstrip("%")) / 100
        if f"{judge}/{strategy}" in found:
            assert found.pop(f"{judge}/{strategy}") == pytest.approx(released)
    assert not found


def test_adversarial_pairs_where_the_longer_text_is_worse(shared_data: Path) -> None:
    found = credits_of(llmbar(shared_data, ADVERSARIAL))
    assert found.item.shape == (65, 319)
    assert control(found, "longer") == pytest.approx(0.197, abs=5e-4)
    mean = found.item.mean(axis=1)
    assert (mean > control(found, "longer")).all() and (mean <= 0.5).sum() == 37
    # Nothing is said for sure by strata or places, so these say as the tie does, and as chance.
    assert found.controls == ("random", "longer", "shorter")


def test_on_frank_bbc_nothing_beats_calling_every_pair_a_tie(shared_data: Path) -> None:
    table = frank(shared_data)
    found = credits_of(table)
    assert control(found, "always tie") == pytest.approx(0.867, abs=5e-4)
    assert np.nanmean(found.gains[:, found.controls.index("always tie")], axis=1).max() < 0.002
    assert control(found, "system") < control(found, "always tie")


def by_hand() -> JudgmentTable:
    """Two items with two pairs each; three people; a judge in both orders, one verdict missing."""
    verdicts = np.array([[[1, 1], [1, 0], [0.5, 0.5], [np.nan, 1]]], float)
    labels = np.array([[1, 1, 0], [0, np.nan, np.nan], [1, 1, 1], [1, 1, np.nan]], float)
    units = Units.of(["x", "x", "y", "y"], ["a", "a", "b", "a"], ["b", "c", "c", "c"])
    asked = np.ones((1, 4, 2), bool)
    judge = (JudgeFacts("j"),)
    return JudgmentTable("preference", units, ("p", "q", "r"), labels, judge, verdicts, asked)


def test_credit_of_preferences_by_hand() -> None:
    found = credits_of(by_hand())
    np.testing.assert_allclose(found.unit, [[1, 0.5, 0.5, 0.5]])  # the missing verdict earned 0
    np.testing.assert_allclose(found.item, [[0.75, 0.5]])
    np.testing.assert_allclose(found.gains[0, 0], [0.25, 0.0])


def test_items_that_were_not_asked_or_labelled_have_no_credit() -> None:
    table = by_hand()
    asked = table.asked.copy()
    asked[0, 2:] = False
    found = credits_of(
        replace(table, asked=asked, verdicts=np.where(asked, table.verdicts, np.nan))
    )
    np.testing.assert_allclose(found.item, [[0.75, np.nan]])
    half = made_pairs(40, labelled=10)
    assert np.isnan(credits_of(half).item).sum() == 2 * 30


def test_gains_of_clusters_come_in_the_order_of_labels() -> None:
    table = made_pairs(6, (0.9,), labelled=4)
    names = ["d", "d", "e", "f", "g", "h"]
    turn = np.array([9, 1, 5, 2, np.nan, np.nan])
    units = Units.of(
        table.units.item, table.units.first, table.units.second, cluster=names, turn=turn
    )
    found = credits_of(replace(table, units=units))
    gains = found.gains[0, 0]
    expected = [gains[3], gains[2], gains[:2].mean()]
    np.testing.assert_allclose(found.cluster_gains[0, 0], expected)


def test_a_control_of_the_user_s_own_is_one_more_to_beat() -> None:
    table = made_pairs(30)
    said = np.stack([table.labels, table.labels], axis=1)[:, :, 0]
    more = table.with_judge(JudgeFacts("rule", control=True), said)
    more = more.with_judge(JudgeFacts("random", control=True), said)
    found = credits_of(more)
    assert (
        found.controls[-1] == "rule"
        and control(found, "rule") == 1
        and control(found, "random") == 0.5
    )


def test_categories_are_held_against_guessing_and_the_most_frequent() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 300, p=[0.6, 0.3, 0.1]).astype(float)
    said = np.where(rng.random(300) < 0.8, truth, (truth + 1) % 3)[None, :, None]
    said[0, :5] = np.nan
    names = [str(k) for k in range(300)]
    table = JudgmentTable(
        "category",
        Units.of(names, ["a"] * 300),
        ("p",),
        truth[:, None],
        (JudgeFacts("j"),),
        said,
        np.ones(said.shape, bool),
        levels=("x", "y", "z"),
    )
    found = credits_of(table)
    assert found.item[0].mean() == pytest.approx((said[0, :, 0] == truth).mean())
    assert control(found, "random") == pytest.approx(1 / 3)
    assert control(found, "most frequent") == pytest.approx((truth == 0).mean())


def test_labels_that_were_likelier_count_for_less() -> None:
    table = made_pairs(400, (0.9, 0.6), seed=4)
    chance = np.where(np.arange(400) < 200, 0.8, 0.2)
    units = Units.of([str(k) for k in range(400)], ["a"] * 400, ["b"] * 400, chance=chance)
    found = credits_of(replace(table, units=units))
    np.testing.assert_allclose(found.weight / found.weight.max(), np.where(chance > 0.5, 0.25, 1))
    assert (credits_of(table).weight == 1).all()


def test_the_name_of_the_system_is_a_control_where_it_says_enough() -> None:
    rng = np.random.default_rng(0)
    label = (rng.random(200) < 0.8).astype(float)
    names = [str(k) for k in range(200)]
    first = np.where(rng.random(200) < 0.5, "good", "bad")
    second = np.where(first == "good", "bad", "good")
    better = np.where(first == "good", label, 1 - label)
    table = made_pairs(200)
    units = Units.of(names, first.tolist(), second.tolist(), stratum=["s", "t"] * 100)
    found = credits_of(replace(table, units=units, labels=better[:, None]))
    assert control(found, "system") == pytest.approx(label.mean())
    assert "stratum" not in found.controls
