"""Perturbations: exact counts, seeds, what stays as it is, and what an LM is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.attack.character_deletion import CharacterDeletion
from judgelab.attack.fictional_entities import FictionalEntities
from judgelab.attack.grammatical_errors import GrammaticalErrors, error_sites
from judgelab.attack.protocol import Attack, Perturbation, edits
from judgelab.attack.rewriting_insertion import RewritingInsertion
from judgelab.attack.sentence_reordering import SentenceReordering
from judgelab.attack.typos import Typos, typos
from judgelab.attack.word_deletion import WordDeletion
from judgelab.attack.wrong_ending import WrongEnding
from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import Capability, ChatRequest
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.sentences import sentences
from judgelab.core.step import Place
from tests.scripted import NOBODY, ScriptedChat, panel_of

TEXT = (
    "The mayor of Lundby opened a new bridge over the river on 14 May. It cost 3.5 million euros, "
    "as Dr. Lee said. Hundreds of visitors walked across it because it was new. They were pleased "
    "with the view last week."
)
KINDS: list[tuple[type[Perturbation], str]] = [
    (FictionalEntities, "perturb_entities.txt"),
    (GrammaticalErrors, "perturb_grammar.txt"),
    (RewritingInsertion, "perturb_insertion.txt"),
]
RULES: list[Attack] = [
    CharacterDeletion(10),
    Typos(10),
    WordDeletion(5),
    SentenceReordering(2),
    SentenceReordering(),
    GrammaticalErrors(Prompt("perturb_grammar.txt")),
    GrammaticalErrors(Prompt("perturb_grammar.txt"), count=2, or_more=True),
]
rng = np.random.default_rng


def at(seed: int) -> Place:
    return Place(Item("i", "source"), Agent("a"), rng(seed))


@pytest.mark.parametrize("attack", RULES, ids=lambda a: f"{a.name}-{getattr(a, 'or_more', '')}")
def test_rules_are_seeded_by_item_and_expect_a_fall(attack: Attack) -> None:
    panel = panel_of([[TEXT, None], [TEXT, TEXT]])
    first = attack.apply(panel, NOBODY, seed=0)
    assert attack.expects == "fall" and attack.requires == frozenset()
    assert first.texts == attack.apply(panel, NOBODY, seed=0).texts
    assert first.texts[0][1] is None
    changed = {text for row in first.texts for text in row if text is not None}
    assert TEXT not in changed
    assert first.provenance["attack"] == attack.name
    others = {attack.apply(panel, NOBODY, seed=seed).texts for seed in range(8)}
    assert len(others) > 1, "the seed matters"


@given(st.text(max_size=80), st.integers(1, 30), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_character_deletion_takes_letters_and_digits_alone(text: str, k: int, seed: int) -> None:
    left = CharacterDeletion(k).rule(text, at(seed))
    there = sum(c.isalnum() for c in text)
    assert len(text) - len(left) == min(k, there)
    gone = Counter(text) - Counter(left)
    assert all(c.isalnum() for c in gone)
    place = iter(text)
    assert all(c in place for c in left), "the rest stays in order"


@pytest.mark.parametrize("k", [1, 5, 20])
def test_typos_are_as_many_as_asked_for_and_each_changes_the_text(k: int) -> None:
    from nltk.metrics.distance import edit_distance

    for seed in range(6):
        mistyped = typos(TEXT, k, rng(seed))
        assert k <= edit_distance(TEXT, mistyped) <= 2 * k
        assert edits(TEXT, mistyped) <= edit_distance(TEXT, mistyped), "a swap is one"
    assert typos("", 3, rng(0)) == "" and typos("?!", 3, rng(0)) == "?!"


@given(st.lists(st.sampled_from(["a", "bb", "c."]), max_size=12), st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_word_deletion_takes_one_run_and_leaves_a_word(words: list[str], k: int) -> None:
    text = " ".join(words)
    left = WordDeletion(k).rule(text, at(1)).split()
    assert len(left) == len(words) - min(k, max(len(words) - 1, 0))
    gaps = [words[:i] + words[i + len(words) - len(left) :] for i in range(len(left) + 1)]
    assert left in gaps


def test_reordering_keeps_every_sentence_and_moves_two_or_all() -> None:
    for seed in range(10):
        two = SentenceReordering(2).rule(TEXT, at(seed))
        assert len(two) == len(TEXT)
        order = sorted(sentences(TEXT), key=two.index)
        assert sum(a != b for a, b in zip(order, sentences(TEXT), strict=True)) == 2
        assert SentenceReordering().rule(TEXT, at(seed)) != TEXT
    for same in ("One sentence only.", "", "Yes. Yes. Yes."):
        assert SentenceReordering().rule(same, at(0)) == same


GRAMMAR = (
    "She was accused of theft. He has taken two cars from an old friend. They will be here for "
    "his team. A player gave it to him."
)


def test_grammatical_errors_are_as_many_as_asked_for() -> None:
    for count, or_more in ((1, False), (2, True)):
        attack = GrammaticalErrors(Prompt("perturb_grammar.txt"), count=count, or_more=or_more)
        for seed in range(10):
            made = attack.rule(GRAMMAR, at(seed))
            assert attack.check(GRAMMAR, made) == ""
            changed = sum(a != b for a, b in zip(GRAMMAR.split(), made.split(), strict=True))
            assert count <= changed <= count + or_more
    wrong = [f"{GRAMMAR[site.start : site.end]}>{site.wrong}" for site in error_sites(GRAMMAR)]
    assert ", ".join(wrong) == (
        "She>Her, accused of>accused for, He>Him, taken>took, cars>car, They>Them, be>is, his>him, "
        "A>An, him>he"
    )
    plural = "the boats of these harbours by the means of the James bus"
    assert [(site.start, site.wrong) for site in error_sites(plural)] == [(0, "a"), (13, "this")]
    attack = GrammaticalErrors(Prompt("perturb_grammar.txt"))
    assert attack.check("bridge river", attack.rule("bridge river", at(0))) == "left as it was"
    assert "not exactly one" in attack.check(GRAMMAR, GRAMMAR.replace("a", "e"))


@pytest.mark.parametrize(
    "said", ["The team is late.", "If it were so.", "Ten years are enough.", "He gave Ann is."]
)
def test_what_may_be_right_is_no_place_for_an_error(said: str) -> None:
    assert not {site.wrong for site in error_sites(said)} & {"are", "was", "is"}


def test_what_an_lm_wrote_is_checked() -> None:
    entities = FictionalEntities(Prompt("perturb_entities.txt"), count=2)
    assert entities.check(TEXT, TEXT.replace("Lundby", "Ormeth").replace("Lee", "Vance")) == ""
    assert "not exactly two" in entities.check(TEXT, TEXT.replace("Lundby", "Ormeth"))
    assert entities.check(TEXT, "Somebody else went away.") == "another text"
    insertion = RewritingInsertion(Prompt("perturb_insertion.txt"))
    text = "The ship left early because it rained. Lee ran."
    twice = "The ship left early because it rained. Because it rained, the vessel left early."
    assert insertion.check(text, f"{twice} Lee ran.") == ""
    assert "the same" in insertion.check(text, f"{text} Lee ran.")
    assert insertion.check(text, text) == entities.check(text, text) == "left as it was"


def test_checks_say_what_is_not_as_claimed() -> None:
    short = "Only 9 words."
    for attack in (CharacterDeletion(50), Typos(50), WordDeletion(5), SentenceReordering(2)):
        assert attack.check(short, attack.rule(short, at(0)))
        made = type(attack)(2).rule(TEXT, at(0))
        assert type(attack)(2).check(TEXT, made) == ""
    double = "One is here.  Two is there.\n**Heading**\nThree is gone."
    moved = SentenceReordering().rule(double, at(1))
    assert ".  " in moved and "\n**Heading**\n" in moved and moved != double


@pytest.mark.parametrize(("kind", "file"), KINDS)
def test_an_lm_is_asked_once_a_text_and_says_so(kind: type[Perturbation], file: str) -> None:
    def rule(request: ChatRequest) -> str | None:
        said = request.messages[0].content
        assert "Work through these steps" in said and "summary" in said
        return None if "refuse" in said else "changed"

    panel = panel_of([[TEXT], ["please refuse"], [None]])
    lm = ScriptedChat(rule)
    made = kind(Prompt(file), by="lm", count=2, or_more=True).apply(panel, lm, seed=0)
    assert made.texts == (("changed",), (None,), (None,))
    assert made.provenance["attack_unwritten"] == {"refused": 1}
    assert str(made.provenance["attack_written_by"]).startswith("lm (scripted chat")
    assert all("two or more" in r.messages[0].content for r in lm.seen) and len(lm.seen) == 2
    node = {"_target_": f"{kind.__module__}.{kind.__name__}", "prompt": Prompt(file)}
    with pytest.raises(ConfigError, match="count=0"):
        build({**node, "count": 0}, "attack")
    if kind is not GrammaticalErrors:  # no rule does these
        assert kind(Prompt(file)).requires == {Capability.CHAT}
        with pytest.raises(ConfigError, match="by"):
            build({**node, "by": "rules"}, "attack")


def test_the_wrong_ending_is_the_items_own() -> None:
    wrong: list[dict[str, str]] = [{"wrong": "He flew home."}, {}, {"wrong": " "}]
    items = tuple(Item(str(k), "s", meta=meta) for k, meta in enumerate(wrong))
    texts = (("He ran home.",), ("She slept.",), ("It rained.",))
    panel = Panel(items, (Agent("reference"),), texts)
    made = WrongEnding().apply(panel, NOBODY, seed=0)
    assert made.texts == (("He flew home.",), (None,), (None,))
    assert made.provenance["attack_unwritten"] == {"no wrong answer recorded": 2}
    with pytest.raises(DataError, match=r"no item .* wrong answer.*fields\.right numbers"):
        WrongEnding().apply(replace(panel, items=items[1:], texts=texts[1:]), NOBODY, seed=0)


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_edits_are_the_fewest(a: str, b: str) -> None:
    def fewest(i: int, j: int) -> int:  # by the definition of optimal string alignment
        if not i or not j:
            return i + j
        ways = [fewest(i - 1, j) + 1, fewest(i, j - 1) + 1]
        ways += [fewest(i - 1, j - 1) + (a[i - 1] != b[j - 1])]
        if i > 1 and j > 1 and a[i - 2 : i] == b[j - 2 : j][::-1]:
            ways += [fewest(i - 2, j - 2) + 1]
        return min(ways)

    assert edits(a, b) == fewest(len(a), len(b))
