"""The sentences that a discrimination study opens with: on each edge, never louder than ends."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from judgelab.attack.case_flip import CaseFlip
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.rouge import Rouge
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.discrimination import Discrimination
from judgelab.study.discrimination.statistics import beside
from judgelab.study.discrimination.study import answer
from tests.scripted import NOBODY, ScriptedChat, ScriptedLogProb
from tests.unit.study.discrimination.discrimination_context import context, graded

GOOD = Estimate(0.8, 0.7, 0.9, 40)
MORE = {"length_auc": Estimate(0.6, 0.5, 0.7, 40), "auc_gain": Estimate(0.2, 0.1, 0.3, 40)}


def said(auc: Estimate = GOOD, attacked: Estimate = GOOD, **made: object) -> dict[str, str]:
    figures = {"clean": {"auc": auc}, "attacked": {"auc": attacked}}
    return dict(answer("mi", figures, **({"beside": MORE} | made)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("auc", "heading", "then"),
    [
        (Estimate(0.8, 0.51, 0.9, 40), "Tells good from bad responses", "manipulation"),
        (Estimate(0.6, 0.4, 0.75, 40), "Not shown to tell good from bad", "About 160 items"),
        (Estimate(0.5, 0.4, 0.6, 40), "Not shown to tell good from bad", "Add items"),
        (Estimate(0.3, 0.2, 0.49, 40), "Prefers bad responses", "Do not use it"),
        (Estimate(0.9, 0.6, 0.99, 4), "Too few items to say", "at least 6"),
        (Estimate(0.8, n=9), "Not shown to tell good from bad", "Add items"),
    ],
)
def test_the_heading_is_as_loud_as_the_interval(auc: Estimate, heading: str, then: str) -> None:
    found = said(auc=auc)
    assert next(iter(found)) == heading
    assert then in found["Next"] and f"{auc.n} item" in found[heading]


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
    assert "length" not in said(beside={})["Next"]


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
        (Estimate(0.8, 0.7, 0.9), Estimate(0.0, 0.0, 0.0), ("still", "exactly as before")),
    ],
)
def test_under_attack(attacked: Estimate, change: Estimate, words: tuple[str, str]) -> None:
    found = said(attack="padding", attacked=attacked, change={"auc": change})["Under padding"]
    assert all(one in found for one in words) and "nan" not in found


def test_no_change_of_auc_is_not_said_over_a_change_of_d_that_is_sure() -> None:
    """README's first example: "no change is shown" over d -2.02, p .005."""
    change = {"auc": Estimate(-0.1, -0.3, 0.1, 12), "effect_size": Estimate(-2.0, -3.0, -1.0, 12)}
    found = said(attack="padding", attacked=GOOD, change=change)["Under padding"]
    assert "no change is shown (-30 to 10 in 100); by the effect size they are nearer" in found


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


def test_where_people_graded_that_alone_is_an_answer() -> None:
    agreed = {"human_within": Estimate(0.7, 0.6, 0.8, 30)}
    assert next(iter(said(auc=Estimate(math.nan), beside=agreed))).startswith("Agrees with people")


def test_length_is_taken_in_the_direction_that_does_better() -> None:
    """ "More than length" was said where the shorter text was right 67 times in 100."""
    words = {"a": "one two three four", "b": "one"}
    agents = tuple(Agent(name) for name in words)
    items = tuple(Item(f"i{k}", "s", human={"a": 1.0, "b": 2.0}) for k in range(6))
    panel = Panel(items, agents, tuple(tuple(words.values()) for _ in items))
    scored = SimpleNamespace(panel=panel, values=np.tile([0.0, 1.0], (6, 1)))
    group = SimpleNamespace(known=False)
    found = beside(scored, group, (50, 0, "items"))  # type: ignore[arg-type]
    assert found["human_within"].value == found["length_human_within"].value == 1
    assert found["human_within_gain"].value == 0
    scored.values[:, 1] = 0.0  # a tie of all texts is not more than that
    assert beside(scored, group, (50, 0, "items"))["human_within_gain"].value == -0.5  # type: ignore[arg-type]


def test_an_attack_that_cannot_change_length_does_not_change_it(tmp_path: Path) -> None:
    """ "AUC change 0.000 [-0.459, 0.459]" was printed where no score can differ."""
    made = Discrimination(bootstrap=20).run(context(tmp_path, Length(), attack=CaseFlip()))
    for name in ("auc", "effect_size", "score"):
        found = [made.summary[f"change/{name}{part}"] for part in ("", "_low", "_high", "_p")]
        assert found == [0.0, 0.0, 0.0, 1.0]
    assert "exactly as before" in dict(made.answer)["Under case_flip"]


@pytest.mark.parametrize(
    ("mechanism", "lm", "said"),
    [
        (Judge(Prompt("judge.txt")), ScriptedChat(lambda _: None), "144 failed and 0 replies"),
        (Judge(Prompt("judge.txt")), ScriptedChat(lambda _: "?"), "0 failed and 144 replies"),
        (Rouge(), NOBODY, "no item has two texts"),
    ],
)
def test_a_run_that_scored_no_text_ends_with_a_sentence(
    tmp_path: Path, mechanism: Mechanism, lm: EvaluationLM, said: str
) -> None:
    """It ended with DONE, exit code 0 and "judge scored the texts"."""
    panel = graded()
    marked = replace(panel.agents[3], reference=True)  # a reference without any text
    bare = replace(
        panel,
        agents=(*panel.agents[:3], marked),
        texts=tuple((*row[:3], None) for row in panel.texts),
    )
    one = context(tmp_path, mechanism, lm, panel=bare if lm is NOBODY else panel)
    with pytest.raises(DataError, match=said) as caught:
        Discrimination(bootstrap=20).run(one)
    assert "scored none of" in str(caught.value)
    assert (tmp_path / "records" / "clean_texts.parquet").is_file()


def test_which_items_are_the_negatives_is_said_to_be_drawn(tmp_path: Path) -> None:
    """The seed moved an AUC by .009, outside an interval that is of one draw."""
    lm = ScriptedLogProb(lambda c, t: -len(t) + 0.1 * len(c))
    made = Discrimination(bootstrap=20).run(context(tmp_path, TvdMi(Prompt("tvd_mi.txt")), lm))
    assert any(note.startswith("Drawn: for each item 1 other") for note in made.notes)
