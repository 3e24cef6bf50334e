"""The trials of an audit: pools from real judgments, false trust, tables of result files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from experiments.trust.coverage import Trial, ranges, tried
from experiments.trust.false_trust import (
    LAWS,
    RULES,
    betting_p,
    half_credits,
    holm_any,
    passed,
    t_p,
)
from experiments.trust.gates import controls_of, credits_of, holm
from experiments.trust.page import intervals
from experiments.trust.pools import Source
from experiments.trust.readme import README, SHIPPED, across, markdown, page, shipped
from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Table
from judgelab.stats.trust.betting import betting_p as library_p
from judgelab.stats.trust.betting import holm as library_holm
from judgelab.study.audit.credits import credits_of as library_credits
from tests.judgment_tables import NATURAL, llmbar, made_pairs


def test_a_pool_is_drawn_by_cluster_and_labelled_at_its_head() -> None:
    table = made_pairs(40, (0.9,), seed=1)
    drawn = list(Source(table).pools(labels=5, count=3, seed=2))
    for pool in drawn:
        assert len(pool.whole.units) == 50
        assert pool.whole.labelled.all()
        assert pool.seen.labelled.sum() == 5
        assert np.nanmax(pool.seen.units.turn) == 4
        assert pool.seen.units.chance == pytest.approx(0.1)
        np.testing.assert_array_equal(pool.seen.verdicts, pool.whole.verdicts)
        origin = [name.split(" #")[0] for name in pool.whole.units.item]
        place = [list(table.units.item).index(name) for name in origin]
        np.testing.assert_array_equal(pool.whole.labels, table.labels[place])
    assert any(list(a.whole.units.item) != list(b.whole.units.item) for a, b in pairwise(drawn))


def test_pools_of_a_table_without_some_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="have a label"):
        Source(made_pairs(20, labelled=10))


def test_the_betting_p_of_a_first_label_is_1_and_of_wins_alone_falls() -> None:
    p = betting_p(np.full((1, 40), 0.5))
    assert p[0, 0] == 1
    # label 2: mean .5 / 2 (one pseudo-zero), mean square (.25 + .25) / 2, bet cut to .75
    assert p[0, 1] == pytest.approx(1 / (1 + 0.75 * 0.5))
    assert (np.diff(p[0]) <= 0).all() and p[0, -1] < 1e-4


def test_the_t_p_is_scipys() -> None:
    from scipy.stats import ttest_1samp

    g = np.random.default_rng(0).choice([-1.0, 0.0, 0.5], (3, 25))
    wanted = ttest_1samp(g, 0, axis=-1, alternative="greater").pvalue
    np.testing.assert_allclose(t_p(g)[:, -1], wanted, rtol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_gain_0(law: str) -> None:
    g = LAWS[law](np.random.default_rng(3), 400, 100)
    assert abs(g.mean()) < 4 * g.mean(axis=-1).std() / np.sqrt(400)


def test_looking_finds_what_passed_once_and_holm_asks_more() -> None:
    p = np.ones((1, 10, 100))
    p[0, 3, 49] = 0.004  # at the look after 50 labels, and gone afterwards
    rules = {rule.name: rule for rule in RULES}
    assert passed(rules["t, Holm, a look every 10"], p, 100).all()
    assert not passed(rules["t, Holm"], p, 100).any()
    assert not holm_any(np.full((1, 10), 0.01)).any()


def test_the_tables_of_the_readme_are_those_of_the_result_files() -> None:
    text = README.read_text(encoding="utf-8")
    assert page(text) == text
    assert SHIPPED.read_text(encoding="utf-8") == shipped()
    with pytest.raises(ValueError, match="lacks the marks"):
        page("nothing")


def test_a_table_has_a_column_for_each_number_of_labels() -> None:
    rows = [{"a": "x", "n": 50, "v": 0.95}, {"a": "x", "n": 100, "v": 1.0}]
    assert markdown(across(rows, ("a",), "n", "v")).splitlines() == [
        "| a | n 50 | n 100 |",
        "|---|---|---|",
        "| x | .950 | 1.000 |",
    ]


def test_the_librarys_betting_p_and_credits_are_those_written_a_second_time(
    shared_data: Path,
) -> None:
    g = half_credits(np.random.default_rng(1), 3, 60)
    theirs = np.stack([library_p(g[..., : k + 1]) for k in range(60)], axis=-1)
    np.testing.assert_allclose(theirs, betting_p(g), rtol=1e-9)
    table = llmbar(shared_data, NATURAL)
    found, controls = library_credits(table), controls_of(table)
    np.testing.assert_allclose(found.item, credits_of(table))
    for name, values in controls.items():
        np.testing.assert_allclose(found.control[found.controls.index(name)], values)
    p = np.random.default_rng(2).random((4, 9)) ** 3
    np.testing.assert_allclose(library_holm(p), holm(p))


def test_a_row_of_many_intervals_is_read_and_a_difference_has_one_direction() -> None:
    row = {"judge": "b", "compared_with": "a", "difference": 0.2, "difference_low": -0.1}
    row |= {"difference_high": 0.5, "n": 3}
    named = {"judge_pairs": ("judge", "compared_with")}
    turned = {("judge_pairs", "a", "b", "difference"): (-0.2, -0.5, 0.1)}
    assert intervals([Table("judge_pairs", "", [row])], named) == turned
    rate = {"judge": "a", "first_wins": 0.5, "low": 0.4, "high": 0.6, "flip_rate": 0.2}
    rate |= {"flip_low": 0.1, "flip_high": 0.3, "use": "first_wins"}
    found = intervals([Table("position", "", [rate])], {"position": ("judge",)})
    assert found["position", "a", "first_wins"] == (0.5, 0.4, 0.6)
    assert found["position", "a", "flip_rate"] == (0.2, 0.1, 0.3)
    assert found["position", "a", "the one to use"] == (0.5, 0.4, 0.6)


def test_a_trial_finds_an_interval_that_holds_and_one_that_does_not() -> None:
    table = made_pairs(400, (0.8,), seed=4)

    def found(drawn: JudgmentTable) -> dict[tuple[str, ...], tuple[float, float, float]]:
        credit = credits_of(drawn)[0][drawn.labelled]
        mean, error = credit.mean(), credit.std(ddof=1) / len(credit) ** 0.5
        wide, narrow = mean - 2 * error, mean - 0.5 * error
        return {
            ("t", "a", "wide"): (mean, wide, 2 * mean - wide),
            ("t", "a", "narrow"): (mean, narrow, 2 * mean - narrow),
        }

    rows = list(tried(Trial("p", "d", Source(table), found), 60, 300))
    held = {row["column"]: row["held"] for row in rows}
    assert 0.9 < held["wide"] < 0.99 and held["narrow"] < 0.6
    assert abs(rows[0]["bias"]) < 0.01 and rows[0]["truth"] == credits_of(table).mean()
    assert ranges(rows)[0]["60 labels"] == f"{held['wide']:.3f}".removeprefix("0")
