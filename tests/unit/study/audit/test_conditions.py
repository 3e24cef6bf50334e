"""Conditions and verdicts on tables of known truth: what the first edition got wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Units
from judgelab.core.result import Result
from judgelab.study.audit.asking import with_judge
from judgelab.study.audit.design import Bars, Design
from judgelab.study.audit.evidence import Condition, Evidence, Name, evidence, two_digits
from tests.judgment_tables import (
    audited,
    made_classes,
    made_grades,
    made_pairs,
    made_raters,
    rows,
    single_grades,
    summeval,
    swapped,
    systems_in_turn,
    table_of,
)


def words(result: Result) -> dict[str, str]:
    return {str(row["judge"]): str(row["verdict"]) for row in rows(result, "judges")}


def evidence_of(table: JudgmentTable, **bars: Any) -> list[Evidence]:
    return evidence(Design.of(table, Bars(**bars)))


def condition(table: JudgmentTable, name: Name, about: str = "", **bars: Any) -> Condition:
    """Of the first judge."""
    (one,) = [one for one in evidence_of(table, **bars)[0].of(name) if one.about == about]
    return one


def test_a_judge_that_knows_the_system_alone_is_not_used() -> None:
    table = systems_in_turn()
    found = audited(table)
    wanted = {"judge 0": "do not use", "judge 1": "use", "judge 2": "use", "judge 3": "do not use"}
    assert words(found) == wanted | {"judge 4": "do not use"}


def test_rows_of_grades_alone_are_taken_for_misaligned() -> None:
    """Two classes of systems with rates of their own are no sign of it."""
    rng = np.random.default_rng(0)
    system = np.arange(600) % 3
    labels, verdicts = (rng.random((2, 600)) < np.array([0.2, 0.5, 0.8])[system]).astype(float)
    units = Units.of([f"item {k}" for k in range(600)], [f"system {k}" for k in system])
    grades = table_of("grade", units, labels[:, None], verdicts[None])
    classes = replace(grades, kind="category", levels=("fail", "pass"))
    assert [evidence_of(one)[0].misaligned for one in (grades, classes)] == [True, False]


@pytest.mark.parametrize("dimension", ["coherence", "consistency", "fluency", "relevance"])
def test_experts_as_judges_of_each_other_are_refused_only_where_they_surely_agree_less(
    shared_data: Path, dimension: str
) -> None:
    table = summeval(shared_data, dimension)
    for k in range(3):
        who = JudgeFacts("held out", pointwise=True)
        others = [j for j in range(3) if j != k]
        alone = replace(
            table.of([]),
            raters=tuple(table.raters[j] for j in others),
            labels=table.labels[:, others],
        )
        alone = with_judge(alone, who, table.labels[:, k : k + 1])
        found = audited(alone)
        people = condition(alone, "people")
        assert (words(found)["held out"] == "do not use") == (people.standing == "broken")
        assert people.value.value > -0.2


def test_raters_as_judges_of_raters_are_never_refused() -> None:
    for seed in range(12):
        apart = (0.0, 0.7, 1.2)[seed % 3]
        table = made_grades(80, (1, 4)[seed % 2], (0.7, 0.01), apart=apart, seed=seed, people=2)
        verdicts = words(audited(table))
        assert verdicts["judge 0"] != "do not use" and verdicts["judge 1"] == "use", seed


def test_a_judge_that_misses_the_rare_class_is_not_used() -> None:
    """5 % unsafe, of which it finds 38 of 100: right 96 times in 100, and its average is wrong."""
    counts = [[38, 62], [20, 1880]]
    table = made_classes(counts, ("unsafe", "safe"), "unsafe")
    for rules in ({}, {"minimum": 0.7}, {"minimum": 0.9, "recall": 0.7}):
        found = audited(table, sampled=True, **rules)
        assert words(found)["judge"] == ("do not use" if rules else "not known yet")
        assert "62 of the 100 texts" in found.title
        assert rows(found, "averages")[0]["report"] != "as it is"
    people = replace(table, raters=("a", "b"), labels=np.repeat(table.labels, 2, axis=1))
    assert words(audited(people))["judge"] == "do not use"


def test_a_rare_class_of_many_does_not_make_all_unknown() -> None:
    counts = [[900, 20, 0], [15, 480, 0], [4, 2, 2]]
    table = made_classes(counts, ("good", "poor", "odd"), "good")
    found = audited(table, minimum=0.8)
    assert words(found)["judge"] == "use"
    tested = [one.about for one in evidence_of(table, minimum=0.8)[0].of("class")]
    assert tested == ["good", "poor"], "of the odd there are eight labels"


def test_a_class_that_only_the_judge_uses_is_an_answer_and_wrong() -> None:
    table = made_classes([[60, 0, 40], [0, 100, 0], [0, 0, 0]], ("a", "b", "odd"), "")
    found = audited(table, minimum=0.6)
    assert rows(found, "judges")[0]["agreement"] == pytest.approx(0.8)
    assert condition(table, "class", "a", minimum=0.6).value.value == pytest.approx(0.6)


def test_raters_who_share_few_items_are_compared() -> None:
    """Two of twenty raters for each item, in batches: the first edition saw "one person"."""
    whole = made_raters(200, (0.85,) * 20, (0.9,), seed=3)
    kept = np.zeros(whole.labels.shape, np.bool_)
    for k in range(200):
        kept[k, [k // 10 % 20, (k // 10 + 1) % 20]] = True
    table = replace(whole, labels=np.where(kept, whole.labels, np.nan))
    assert condition(table, "people").value.n == 200
    assert words(audited(table)) == {"judge 0": "use"}


def test_judge_people_and_rules_are_held_against_the_same_people_on_the_same_pairs() -> None:
    """A judge of "what is shown first" earns what that rule earns, and both rules together 1."""
    table = made_raters(120, (0.75, 0.7, 0.6), (0.8,), seed=5)
    labels = np.where(np.arange(360).reshape(120, 3) % 7 == 0, 0.5, table.labels)
    labels[np.arange(360).reshape(120, 3) % 5 == 0] = np.nan
    asked = np.arange(120)[:, None] % 2 == [[0, 1]] * 120
    first = np.where(asked, [1.0, 0.0], np.nan) * np.ones(table.asked.shape)
    asked = ~np.isnan(first)
    found = audited(replace(table, labels=labels, verdicts=first, asked=asked))
    share = {str(row["who"]): row["agreement"] for row in rows(found, "agreement")}
    assert len({row["items"] for row in rows(found, "agreement")}) == 1
    assert share["judge 0"] == pytest.approx(share["rule: always the text shown first"])
    both = [share[f"rule: always the text shown {side}"] for side in ("first", "second")]
    assert sum(both) == pytest.approx(1) and share["rule: random"] == pytest.approx(0.5)  # type: ignore[arg-type]
    assert not any("stratum" in who or "system" in who for who in share), "no such rule"


def concordance(values: Floats, labels: Floats, item: Any = None) -> float:
    """Credit by hand over pairs of texts on which people differ; a tie earns one half."""
    credit = [
        (1 + np.sign(values[i] - values[j]) * np.sign(labels[i] - labels[j])) / 2
        for i, j in combinations(range(len(values)), 2)
        if labels[i] != labels[j] and (item is None or item[i] == item[j])
    ]
    return float(np.mean(credit))


def test_agreement_is_the_share_of_pairs_not_a_mean_over_items() -> None:
    rng = np.random.default_rng(0)
    table = made_grades(50, 4, (1.0,), people=1)
    kept = table.at(rng.random(200) < np.where(np.arange(200) < 100, 1.0, 0.55))
    by_hand = concordance(kept.verdicts[0, :, 0], kept.labels[:, 0], kept.units.item)
    assert rows(audited(kept), "judges")[0]["agreement"] == pytest.approx(by_hand)
    few = replace(made_pairs(90), units=Units.of(
        [f"p{k}" for k in range(90)], ["a"] * 90, ["b"] * 90,
        cluster=[f"c{min(k, 40)}" for k in range(90)],
    ))  # fmt: skip
    share = np.mean(np.where(few.truth == 1, few.values[0], 1 - few.values[0]))
    assert rows(audited(few), "judges")[0]["agreement"] == pytest.approx(share)


def test_the_bar_never_lies_below_what_a_rule_reaches() -> None:
    """People hardly agree, or ask for less than a constant answer has."""
    noise = made_raters(400, (0.55, 0.55), (0.56,), seed=2)
    found = audited(noise)
    assert words(found)["judge 0"] != "use"
    assert "people are not shown to agree with each other (46 times" in found.title
    weak = made_classes([[30, 70], [60, 840]])
    assert words(audited(weak, minimum=0.25))["judge"] != "use"
    torn = made_classes([[45, 55], [55, 845]])  # people with each other: as often as "always pass"
    swap = torn.labels.copy()
    swap[::2] = np.roll(swap[::2], 1)
    both = replace(torn, raters=("a", "b"), labels=np.hstack([torn.labels, swap]))
    assert words(audited(both))["judge"] != "use"


@pytest.mark.parametrize(
    "table",
    [
        made_classes([[10, 90], [85, 15]]),
        replace(made_pairs(100, (0.9,)), labels=1 - made_pairs(100, (0.9,)).labels),
        replace(made_grades(60, 3, (0.3,)), labels=6 - made_grades(60, 3, (0.3,)).labels),
    ],
    ids=["category", "preference", "grade"],
)
def test_labels_that_are_swapped_are_told(table: JudgmentTable) -> None:
    found = audited(table)
    (row,) = rows(found, "judges")
    assert row["verdict"] == "do not use" and "a guess" in str(row["because"])
    assert "swapped" in dict(found.answer)[f"Single {'pair' if table.orders > 1 else 'text'}s"]


def said(result: Result) -> str:
    return " ".join([result.title, *(text for _, text in result.answer)])


def test_the_order_of_storing_is_no_rule_and_no_misreading() -> None:
    """Of chosen and rejected texts "the first as stored" was right always, and whoever takes what
    is shown first was told that its numbers are misread."""
    whole = made_pairs(200, (0.9, 0.5))
    table = swapped(whole, whole.labels[:, 0] == 0)
    units = Units.of(list(table.units.item), ["chosen"] * 200, ["rejected"] * 200)
    verdicts = np.stack([table.verdicts[0], np.broadcast_to([1.0, 0.0], (200, 2))])
    found = audited(replace(table, units=units, verdicts=verdicts), minimum=0.7)
    assert words(found) == {"judge 0": "use", "judge 1": "do not use"}
    assert "numbering" not in said(found)
    once = np.where([True, False], verdicts[:1], np.nan)  # nobody may know what was shown first
    one = replace(table.of(["judge 0"]), units=units, verdicts=once, asked=~np.isnan(once))
    assert words(audited(one, minimum=0.7)) == {"judge 0": "use"}
    misread = np.abs(whole.verdicts[:1] - [0.0, 1.0])
    found = audited(replace(whole.of(["judge 0"]), verdicts=misread), minimum=0.7)
    assert words(found) == {"judge 0": "not known yet"} and "numbering=shown" in said(found)


def test_of_two_systems_always_the_same_one_is_a_rule() -> None:
    table = swapped(made_pairs(200, (0.9,)), np.arange(200) % 3 == 0)
    table = replace(table, labels=np.where(table.units.first == "a", 1.0, 0.0)[:, None])
    assert evidence_of(table)[0].controls["always the text of a"] == 1


def test_what_people_do_not_tell_apart_within_systems_says_nothing() -> None:
    """A perfect judge of systems that always pass or always fail, and of four texts that happen to
    be alike, knew "which system wrote a text, and nothing beyond that"."""
    for system in (np.arange(200) % 2, np.r_[np.arange(196), 196, 196, 197, 197]):
        labels = system % 2 * 1.0
        units = Units.of([f"item {k}" for k in range(200)], [f"system {k}" for k in system])
        more: Any = {"levels": ("fail", "pass"), "positive": "pass"}
        table = table_of("category", units, labels[:, None], labels[None], **more)
        found = audited(table, minimum=0.8)
        assert words(found) == {"judge 0": "use"} and "who wrote it" in said(found)
    labels = np.arange(80) % 2 * 1.0
    verdicts, labels[:2] = labels.copy(), [1, 0]  # one text of each system is unlike the others
    units = Units.of([f"item {k}" for k in range(80)], [f"system {k % 2}" for k in range(80)])
    table = table_of("category", units, labels[:, None], verdicts[None], **more)
    assert words(audited(table, minimum=0.7)) == {"judge 0": "use"}


def test_rare_classes_do_not_make_all_labels_alike() -> None:
    table = made_classes([[40, 0, 0], [0, 9, 0], [0, 0, 3]], ("a", "b", "c"), "")
    assert "only few labels of 'b' (9 labels), 'c' (3 labels)" in audited(table, minimum=0.7).title


def test_people_and_rules_have_the_same_room() -> None:
    """140 easy texts with one label let "always pass" beat people on 60 hard ones with two."""
    whole = made_raters(200, (0.85, 0.85), (0.9,), seed=3)
    single, labels = np.arange(200) >= 60, whole.labels.copy()
    labels[single] = [1.0, np.nan]
    verdicts = np.where(single, 1.0, whole.verdicts[..., 0])
    more: Any = {"levels": ("fail", "pass"), "positive": "pass"}
    units = replace(whole.units, second=np.array([""] * 200, object))
    found = evidence_of(table_of("category", units, labels, verdicts, **more))[0]
    assert max(found.controls.values()) > found.people[1].value > found.room[found.best_beside]
    assert found.verdict.reason != "no room"
    labels[5:60, 1] = np.nan
    few = audited(table_of("category", units, labels, verdicts, **more))
    assert "Only 5 items have labels of two people" in said(few)


def test_strata_are_weighed_though_labels_came_in_turns() -> None:
    table = made_classes([[40, 10], [10, 140]])
    stratum = np.where(np.arange(200) < 100, "x", "y").astype(object)
    units = replace(table.units, stratum=stratum, turn=np.arange(200.0))
    found = audited(replace(table, units=units), sampled="strata", minimum=0.7)
    assert {row["of"] for row in rows(found, "conditions")} == {"items"}
    assert "intervals hold for one look" in said(found)


def test_three_items_prove_nothing() -> None:
    """A difference without any spread is not sure: p was 0."""
    for items, answer in ((3, "open"), (60, "met")):
        table, bars = made_pairs(items, (1.0,)), {"labels": 3, "minimum": 0.7}
        assert condition(table, "control", "random", **bars).standing == answer
        assert words(audited(table, **bars))["judge 0"] == (
            "use" if items == 60 else "not known yet"
        )


def consistent(table: JudgmentTable, **bars: Any) -> None:
    """Words, intervals and labels more fit together."""
    result = audited(table, **bars)
    of = {str(row["judge"]): row for row in rows(result, "judges")}
    for one in evidence_of(table, **bars):
        for each in one.conditions:
            low, high, bar = each.value.low, each.value.high, each.bar
            if each.name != "position":
                met = low >= bar if each.name in ("minimum", "class") else low > bar
                assert (each.standing == "met") == met, each
                assert each.standing != "broken" or high <= bar
        standings = {each.standing for each in one.conditions}
        if of[one.name]["verdict"] == "use":
            assert standings == {"met"}
        if of[one.name]["verdict"] == "do not use":
            assert "broken" in standings or one.reversed
    text = said(result)
    more, idle = re.findall(r"bout ([\d,]+) labels? more", text), "labels alone" in text
    if len(of) == 1:
        (row,) = of.values()
        assert not (idle and (more or row["labelled_items"] < 30)), text  # type: ignore[operator]
        assert ("labels_more_to_decide" in row) <= (not idle)
        n = int(row.get("labels_more_to_decide") or 1)  # type: ignore[call-overload]
        assert n == two_digits(n) <= 10 * max(int(row["labelled_items"]), 30)  # type: ignore[call-overload]


@pytest.mark.parametrize("items", [8, 31, 120, 350])
def test_words_intervals_and_labels_more_fit_together(items: int) -> None:
    rng = np.random.default_rng(items)
    for right in (0.3, 0.5, 0.62, 0.8, 0.97):
        consistent(made_pairs(items, (right,), seed=items), minimum=0.8)
        consistent(made_raters(items, judges=(right, 0.9), seed=items))
        counts = rng.multinomial(items, [0.2 * right, 0.2 * (1 - right), 0.04, 0.76]).reshape(2, 2)
        consistent(made_classes(counts.tolist()), minimum=0.8)
        consistent(made_grades(items, 2, (2 * (1 - right),), seed=items))


def test_a_gain_that_its_interval_shows_decides() -> None:
    """Gain .12 [.05, .19] of 350 pairs was "cannot say yet" by a bet; .65 for .80 asked too."""
    table = made_pairs(350, (0.64,), seed=4)
    assert condition(table, "control", "random", minimum=0.8).standing == "met"
    assert words(audited(table, minimum=0.8)) == {"judge 0": "do not use"}


def test_unread_replies_and_items_left_out_come_before_a_verdict() -> None:
    table = made_pairs(200, (0.9,))
    unread, lost = table.verdicts.copy(), table.asked.copy()
    unread[:, :20] = np.nan
    lost[:, :40] = False
    assert words(audited(replace(table, verdicts=unread), minimum=0.6)) == {
        "judge 0": "not known yet"
    }
    gaps = audited(replace(table, verdicts=np.where(lost, table.verdicts, np.nan), asked=lost))
    assert "it was not asked about 40 labelled pairs" in gaps.title
    grades = made_grades(35, 12, (0.5,))  # one text of each of twelve items is no part of all
    one_each = (np.arange(420) % 13 > 0) | (np.arange(420) > 150)
    asked = grades.asked & one_each[:, None]
    some = replace(grades, verdicts=np.where(asked, grades.verdicts, np.nan), asked=asked)
    assert evidence_of(some)[0].missed == 12 and evidence_of(some)[0].verdict.reason == "holds"


def test_of_two_orders_the_first_text_wins_evenly() -> None:
    table = made_pairs(300, (0.9, 0.9), first=0.0)
    always = table.verdicts.copy()
    always[0] = np.array([1.0, 0.0])  # whatever is shown first
    found = audited(replace(table, verdicts=always), minimum=0.6)
    assert words(found) == {"judge 0": "do not use", "judge 1": "use"}
    once = replace(table, asked=table.asked & np.array([True, False]))
    once = replace(once, verdicts=np.where(once.asked, once.verdicts, np.nan))
    said = " ".join(text for _, text in audited(once.of(["judge 1"]), minimum=0.6).answer)
    assert "and the order of the two texts" in said.split("Not tested: ")[1]


def test_labels_in_turns_may_leave_texts_without_a_label() -> None:
    """Of items with one graded text these were an IndexError."""
    table = single_grades(np.random.default_rng(0))
    labels, turn = table.labels.copy(), np.arange(60) % 20.0
    labels[40:] = turn[40:] = np.nan
    in_turns = replace(table, labels=labels, units=replace(table.units, turn=turn))
    assert rows(audited(in_turns), "judges")[0]["labelled_items"] == 40
