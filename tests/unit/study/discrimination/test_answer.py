"""The sentences that a discrimination study opens with: on each edge, never louder than ends."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.discrimination.ordering import same_order
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.discrimination.answer import Found, opening
from judgelab.study.discrimination.beside import Drawing, beside

GOOD = Estimate(0.8, 0.7, 0.9, 40)
MORE = {"length_auc": Estimate(0.6, 0.5, 0.7, 40), "auc_gain": Estimate(0.2, 0.1, 0.3, 40)}


def said(**made: object) -> dict[str, str]:
    return dict(opening(Found("mi", **({"auc": GOOD, "beside": MORE} | made))))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("auc", "heading", "then"),
    [
        (Estimate(0.8, 0.51, 0.9, 40), "Tells good from bad responses", "manipulation"),
        (Estimate(0.6, 0.4, 0.75, 40), "Not shown to tell good from bad", "About 160 items"),
        (Estimate(0.5, 0.4, 0.6, 40), "Not shown to tell good from bad", "Add items"),
        (Estimate(0.3, 0.2, 0.49, 40), "Prefers bad responses", "Do not use it"),
        (Estimate(0.8, n=2), "Not shown to tell good from bad", "Add items"),
    ],
)
def test_the_heading_is_as_loud_as_the_interval(auc: Estimate, heading: str, then: str) -> None:
    found = said(auc=auc)
    assert next(iter(found)) == heading
    assert then in found["Next"]


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (Estimate(0.2, 0.01, 0.3), "more than length tells: the longer (or, if that"),
        (Estimate(0.2, 0.0, 0.3), "not shown to be more than length"),
        (Estimate(-0.2, -0.3, -0.01), "less than length tells"),
    ],
)
def test_length_alone_stands_beside_it(gain: Estimate, words: str) -> None:
    found = said(beside=MORE | {"auc_gain": gain})
    assert words in found["Tells good from bad responses"]
    assert ("more than length before" in found["Next"]) == (gain.low <= 0)


def test_where_nobody_said_what_is_good_the_page_says_what_to_say() -> None:
    found = said(auc=Estimate(math.nan), beside={}, judged=False)
    assert list(found) == ["Not known to tell good from bad", "Next"]
    assert "mi scored the texts" in found["Not known to tell good from bad"]
    assert "dataset.agents={NAME: Faithful" in found["Next"]
    assert said(auc=Estimate(math.nan), beside={}) == {}  # unscored is another matter


def test_what_to_do_fits_people_and_what_is_known_of_length() -> None:
    against = {"human_within": Estimate(0.3, 0.2, 0.4, 40)}
    assert "people see it the other way" in said(beside=MORE | against)["Next"]
    assert "length" not in said(beside={})["Next"]  # after a stop it is not known


def test_one_item_is_no_items() -> None:
    assert "(AUC, 1 item)." in next(iter(said(auc=Estimate(0.8, n=1)).values()))


def test_length_is_not_held_against_itself() -> None:
    found = said(beside={"length_auc": MORE["length_auc"]})
    assert "That is what length alone tells." in found["Tells good from bad responses"]
    assert "more than length before" in found["Next"]


@pytest.mark.parametrize(
    ("attacked", "change", "words"),
    [
        (Estimate(0.7, 0.6, 0.8), Estimate(-0.1, -0.2, -0.01), ("still", "less often")),
        (Estimate(0.5, 0.4, 0.6), Estimate(-0.3, -0.4, -0.2), ("is not shown", "less often")),
        (Estimate(0.1, 0.05, 0.2), Estimate(-0.7, -0.8, -0.6), ("prefers bad", "less often")),
        (Estimate(0.8, 0.7, 0.9), Estimate(0.0, -0.1, 0.1), ("still", "no change is shown")),
        (Estimate(0.9, 0.8, 0.95), Estimate(0.1, 0.05, 0.2), ("still", "more often")),
        (Estimate(0.9, 0.8, 0.95), Estimate(0.1), ("still", "is not known")),
    ],
)
def test_under_attack(attacked: Estimate, change: Estimate, words: tuple[str, str]) -> None:
    found = said(attack="padding", attacked=attacked, change=change)["Under padding"]
    assert all(one in found for one in words) and "nan" not in found


def test_who_is_not_told_apart_and_how_many_items_would() -> None:
    leads = {
        "below": Estimate(0.5, 0.4, 0.6, 40),
        "alike": Estimate(0.1, -0.1, 0.3, 40),
        "above": Estimate(-0.5, -0.6, -0.4, 40),
    }
    found = said(leads=leads)["Not separated"]
    assert "higher than good responses: above." in found
    assert "Not told from good responses: alike. About 160 items" in found
    assert "below" not in found
    assert "Not separated" not in said(leads={"below": leads["below"]})


def test_where_people_graded_that_alone_is_an_answer_and_without_anything_there_is_none() -> None:
    agreed = {"human_within": Estimate(0.7, 0.6, 0.8, 30)}
    assert next(iter(said(auc=Estimate(math.nan), beside=agreed))).startswith("Agrees with people")
    assert said(auc=Estimate(math.nan), beside={}) == {}


def test_pairs_ordered_as_people_do() -> None:
    scores = [[3, 2, 1, np.nan], [1, 1, 2, 5], [1, 2, 3, 4]]
    human = [[3, 1, 2, 9], [1, 2, 3, np.nan], [5, 5, np.nan, 5]]
    np.testing.assert_allclose(same_order(scores, human), [2 / 3, 2.5 / 3, np.nan])
    with pytest.raises(ValueError, match="shapes"):
        same_order([[1.0]], [[1.0, 2.0]])


def test_length_is_taken_in_the_direction_that_does_better() -> None:
    """ "More than length" was said where the shorter text was right 67 times in 100."""
    words = {"a": "one two three four", "b": "one"}
    agents = tuple(Agent(name) for name in words)
    items = tuple(Item(f"i{k}", "s", human={"a": 1.0, "b": 2.0}) for k in range(6))
    panel = Panel(items, agents, tuple(tuple(words.values()) for _ in items))
    scored = SimpleNamespace(panel=panel, values=np.tile([0.0, 1.0], (6, 1)))
    group = SimpleNamespace(known=False)
    found = beside(scored, group, Drawing(50, 0, "items"))  # type: ignore[arg-type]
    assert found["human_within"].value == found["length_human_within"].value == 1
    assert found["human_within_gain"].value == 0
    scored.values[:, 1] = 0.0  # a tie of all texts is not more than that
    assert beside(scored, group, Drawing(50, 0, "items"))["human_within_gain"].value == -0.5  # type: ignore[arg-type]
