"""First match wins, on both sides of every bar; the reason names the evidence with its numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.evidence import UNKNOWN, Evidence, ProbeOutcome
from judgelab.study.audit.openings import openings
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.verdict import TrustVerdict, decide

RULES = TrustRules()
GOOD = Evidence(
    labelled=200,
    pool=1000,
    sampled=True,
    unparsed=0.05,
    gate_p=0.05,
    gain=Estimate(0.4, 0.35, 0.45),
    gain_over="longer",
    control=0.5,
    agreement=Estimate(0.9, 0.82, 0.94),
    ceiling=0.92,
    shift=Estimate(0.0, -0.05, 0.05),
    shift_margin=0.05,
    position=Estimate(0.5, 0.45, 0.55),
    probes=(ProbeOutcome("markers", "does not fall", Estimate(0.0, -0.01, 0.02)),),
    saving=Estimate(0.3, 0.1, 0.5),
    more=40,
)
UNEVEN = Estimate(0.62, 0.5, 0.7)


def judged(rules: TrustRules = RULES, /, **changed: Any) -> TrustVerdict:
    """The verdict on a good judge that is changed in one thing."""
    return decide({"judge": replace(GOOD, **changed)}, rules)["judge"]


def fell(low: float, outcome: Any = "falls") -> tuple[ProbeOutcome, ...]:
    return (ProbeOutcome("markers", outcome, Estimate(0.3, low, 0.4)),)


@pytest.mark.parametrize(
    ("changed", "verdict", "reason"),
    [
        ({}, "trust", "agrees enough"),
        # 1. the table allows no verdict
        ({"alarm": "Rows look misaligned."}, "cannot say yet", "labels and verdicts may be"),
        ({"labelled": 29}, "cannot say yet", "too few labels"),
        ({"labelled": 30}, "trust", ""),
        ({"sampled": None}, "cannot say yet", "labels may not be random"),
        ({"sampled": False}, "cannot say yet", "labels may not be random"),
        ({"unseen": ("web",)}, "cannot say yet", "no labels of a set"),
        ({"unparsed": 0.051}, "cannot say yet", "replies without a verdict"),
        ({"unparsed": 0.051, "probes": fell(0.2)}, "cannot say yet", "replies"),
        # 2. do not trust
        ({"probes": fell(0.051)}, "do not trust", "falls for manipulation"),
        ({"probes": fell(0.051), "gain": Estimate(0, -0.1, 0.04)}, "do not trust", "falls"),
        ({"gain": Estimate(0.0, -0.1, 0.0499)}, "do not trust", "no better than a control"),
        ({"gain": Estimate(0.0, -0.1, 0.05), "gate_p": 0.9}, "cannot say yet", "too little"),
        # 3. trust, or the next row
        ({"gate_p": 0.051}, "cannot say yet", "too little evidence"),
        ({"gate_p": math.nan}, "cannot say yet", "too little evidence"),
        ({"agreement": Estimate(0.85, 0.819, 0.9)}, "trust after correction", "saves labels"),
        ({"agreement": Estimate(0.85, 0.7, 0.9), "omega": 0.5}, "trust", ""),
        ({"agreement": Estimate(0.85, 0.7, 0.9), "omega": 0.4}, "trust after correction", ""),
        ({"ceiling": math.nan}, "trust after correction", ""),
        ({"shift": Estimate(0.02, -0.01, 0.051)}, "trust after correction", ""),
        ({"shift": Estimate(-0.02, -0.051, 0.01)}, "trust after correction", ""),
        ({"shift": Estimate(0.1, 0.0, 0.2), "shift_margin": 0.25}, "trust", ""),
        ({"shift": UNKNOWN}, "trust after correction", ""),
        ({"position": Estimate(0.5, 0.449, 0.55)}, "trust after correction", ""),
        ({"position": Estimate(0.5, 0.45, 0.551)}, "trust after correction", ""),
        ({"position": UNEVEN, "averaged": True}, "trust", ""),
        ({"position": UNKNOWN}, "trust after correction", ""),
        ({"position": UNKNOWN, "pointwise": True}, "trust", ""),
        ({"probes": fell(0.05)}, "trust after correction", ""),
        ({"probes": fell(-0.1, "no answer")}, "trust", ""),
        ({"probes": ()}, "trust", ""),
        # 4. and below it
        ({"ceiling": math.nan, "saving": Estimate(0.3, 0.099, 0.5)}, "cannot say yet", "too"),
        # 5. surely neither
        (
            {"agreement": Estimate(0.7, 0.6, 0.81), "saving": Estimate(0.05, 0.0, 0.09)},
            "do not trust",
            "too weak",
        ),
        (
            {"agreement": Estimate(0.7, 0.6, 0.82), "saving": Estimate(0.05, 0.0, 0.09)},
            "cannot say yet",
            "",
        ),
        (
            {"agreement": Estimate(0.7, 0.6, 0.81), "saving": Estimate(0.05, 0.0, 0.1)},
            "cannot say yet",
            "",
        ),
    ],
)
def test_first_match_wins_on_both_sides_of_every_bar(
    changed: dict[str, Any], verdict: str, reason: str
) -> None:
    found = judged(**changed)
    assert found.verdict == verdict, found
    assert found.reason.startswith(reason)


def test_with_one_rater_the_least_agreement_is_the_users() -> None:
    """Without a ceiling, trust needs a minimum that the user states."""
    alone = {"ceiling": math.nan, "saving": Estimate(0.3, 0.0, 0.5)}
    assert judged(TrustRules(minimum=0.82), **alone).verdict == "trust"
    assert judged(TrustRules(minimum=0.83), **alone).verdict == "cannot say yet"
    asked = judged(**alone, agreement=Estimate(0.9, 0.8, 1.0), gate_p=0.01)
    assert "PPI" not in asked.next


def test_a_rule_is_a_setting() -> None:
    assert judged(TrustRules(labels=201)).reason == "too few labels"
    assert judged(TrustRules(alpha=0.04)).verdict == "cannot say yet"
    assert judged(TrustRules(unparsed=0.04)).reason == "replies without a verdict"
    assert judged(TrustRules(gain=0.46)).reason == "no better than a control"
    assert judged(TrustRules(probe=0.01), probes=fell(0.02)).verdict == "do not trust"
    assert judged(TrustRules(mean=0.04), shift_margin=math.nan).verdict == "trust after correction"
    assert judged(TrustRules(saving=0.2), ceiling=math.nan).verdict == "cannot say yet"


def test_labels_more_are_of_the_shortest_way_to_a_verdict() -> None:
    """The gate asks for 40; then agreement's interval is narrow enough, or the saving's."""
    assert judged(gate_p=0.2).more == 40
    assert "Label about 40 items more" in judged(gate_p=0.2).next
    wide = Estimate(0.92, 0.8, 0.97)  # .12 below its value where .1 is allowed
    found = judged(agreement=wide, saving=Estimate(0.3, 0.0, 0.5), ceiling=0.92)
    by_agreement = math.ceil(200 * (1.25 * (0.12 / 0.10) ** 2 - 1))
    assert found.more == pytest.approx(by_agreement, abs=1)
    by_saving = judged(agreement=wide, saving=Estimate(0.3, 0.09, 0.5)).more
    assert by_saving == math.ceil(200 * (1.25 * (0.21 / 0.2) ** 2 - 1))


def test_a_pool_that_is_too_small_cannot_decide() -> None:
    found = judged(gate_p=0.2, more=801)
    assert (found.more, found.here) == (801, False)
    assert "cannot decide" in found.next
    assert "801" in found.next
    assert judged(gate_p=0.2, more=800).here
    assert "add items" in judged(labelled=10, pool=20).next
    assert "Label 20 items more" in judged(labelled=10).next


@pytest.mark.parametrize(
    ("changed", "why", "then"),
    [
        (
            {},
            [
                "90 times in 100 (82 to 94)",
                "92 times",
                "(longer) 50 times",
                "up to 5 in 100",
            ],
            "Use it",
        ),
        (
            {"probes": fell(0.2)},
            ["markers", "30 times in 100 (20 to 40) more"],
            "clean texts of markers",
        ),
        (
            {"gain": Estimate(0.0, -0.1, 0.02)},
            ["At most it is right 2 times", "(longer)"],
            "will not help",
        ),
        (
            {"gain": Estimate(0.0, -0.1, 0.02), "position": Estimate(0.93, 0.89, 0.97)},
            ["shown first 93 times in 100 (89 to 97)"],
            "another",
        ),
        ({"ceiling": math.nan}, ["one person", "30 % (10 to 50)"], "as much as 143 without"),
        ({"unparsed": 0.3}, ["30 % of its replies"], "prompt"),
        ({"unparsed": 0.3, "lost": "no reference"}, ["(most often: no reference)"], "prompt"),
        ({"sampled": None}, ["not known"], "study.sampled=true"),
        ({"alarm": "Rows look misaligned."}, ["misaligned"], "Check"),
    ],
)
def test_the_reason_names_its_numbers(changed: dict[str, Any], why: list[str], then: str) -> None:
    found = judged(**changed)
    assert all(said in found.why for said in why), found.why
    assert then in found.next
    assert "nan" not in found.why + found.next
    assert "that that" not in found.why


def test_nothing_known_is_no_verdict_and_no_fault() -> None:
    found = decide({"a": Evidence(), "b": Evidence(labelled=50, pool=50, sampled=True)}, RULES)
    assert {one.verdict for one in found.values()} == {"cannot say yet"}
    assert "nan" not in " ".join(one.why + one.next for one in found.values())


def test_a_control_is_said_to_be_what_it_is_for_every_judge() -> None:
    """Not what is left of agreement with single people after a gain over people together."""
    assert "(longer) 56 times in 100" in judged(control=0.56).why


def test_a_judge_that_tells_no_more_than_ties_is_said_to() -> None:
    tied: dict[str, Any] = {"agreement": UNKNOWN, "tied": True, "control": 0.44}
    weak = judged(**tied, gain=Estimate(-0.1, -0.2, 0.0))
    assert weak.verdict == "do not trust"
    assert "more than calling all texts equally good" in weak.why
    assert "(longer) agrees 44 times in 100" in weak.why
    assert "unknown" not in weak.why
    low = judged(**tied, gate_p=0.3, more=math.inf, ceiling=math.nan, saving=UNKNOWN)
    assert low.verdict == "cannot say yet"
    assert "study.rules.minimum" not in low.next  # no minimum helps: its order is not known
    assert "texts differ more" in low.next


def test_what_was_left_out_is_asked_for_before_more_labels() -> None:
    """A judge is not called hopeless because nobody looked."""
    unasked: dict[str, Any] = {"shift": UNKNOWN, "saving": UNKNOWN, "shift_margin": math.nan}
    found = judged(**unasked, left=("estimate", "exchange", "alone"))
    assert found.reason == "too little evidence"
    assert "Answer estimate and exchange, too (study.parts)" in found.next
    nothing = judged(**unasked, left=("gate", "agreement"), gate_p=math.nan, agreement=UNKNOWN,
                     gain=UNKNOWN, gain_over="", control=math.nan, ceiling=math.nan)  # fmt: skip
    assert "Answer gate and agreement, too" in nothing.next
    assert "control that" not in nothing.why


def test_an_opening_says_what_to_do_where_it_is_the_same_for_all() -> None:
    groups = {
        "random": ({"sampled": None}, "set study.sampled=true"),
        "parts": ({"saving": UNKNOWN, "shift": UNKNOWN, "left": ("estimate",)}, "Answer estimate"),
    }
    for changed, wanted in groups.values():
        evidence = {name: replace(GOOD, **changed) for name in ("a", "b")}  # type: ignore[arg-type]
        ((_, said),) = openings(decide(evidence, RULES), evidence, RULES)
        assert wanted in said
        assert "the table says" not in said


def test_the_control_in_the_sentence_is_of_the_gains_target() -> None:
    """Against single people .79 and against most people .87: random is .50, and not .42."""
    found = judged(
        agreement=Estimate(0.79, 0.76, 0.82),
        ceiling=0.73,
        control=0.5,
        gain=Estimate(0.37, 0.33, 0.4),
        gain_over="random",
    )
    assert "79 times in 100" in found.why and "most of them say it agrees 87 times" in found.why
    assert "(random) 50 times" in found.why


@pytest.mark.parametrize(
    ("earned", "gain", "verdict", "reason"),
    [
        # a rare category, of which "most frequent" gets .97: what is left to be gained is .03
        (1.0, Estimate(0.03, 0.016, 0.05), "trust", "agrees enough"),
        (0.97, Estimate(0.0, -0.01, 0.014), "do not trust", "no better than a control"),
        (0.97, Estimate(0.0, -0.02, 0.02), "cannot say yet", "too little evidence"),
        # chosen and rejected, or all labels alike: nobody is better than a rule that is right
        (0.95, Estimate(-0.05, -0.07, -0.03), "cannot say yet", "labels are alike"),
        (1.0, Estimate(0.0, -0.01, 0.01), "cannot say yet", "labels are alike"),
    ],
)
def test_a_control_that_leaves_little_room(
    earned: float, gain: Estimate, verdict: str, reason: str
) -> None:
    gate = 0.01 if gain.low > 0 else 0.9
    found = judged(
        TrustRules(minimum=0.8),
        agreement=Estimate(earned, 0.9, 1.0),
        control=earned - gain.value,
        gain=gain,
        gain_over="system",
        ceiling=math.nan,
        gate_p=gate,
    )
    assert (found.verdict, found.reason) == (verdict, reason), found.why


@pytest.mark.parametrize(("control", "narrow"), [(0.56, True), (0.55, False)])
def test_a_control_as_close_to_people_as_they_are_to_each_other(
    control: float, narrow: bool
) -> None:
    """Another expert would not pass either: the sentence says so, and no other prompt is asked."""
    weak = {"gain": Estimate(-0.1, -0.2, -0.01), "gain_over": "system", "ceiling": 0.56}
    changed = weak | {"control": control, "agreement": Estimate(0.46, 0.4, 0.5)}
    evidence = {name: replace(GOOD, **changed) for name in ("a", "b")}  # type: ignore[arg-type]
    found = decide(evidence, RULES)
    ((heading, said),) = openings(found, evidence, RULES)
    assert heading == "Do not trust: 2 of 2 judges"
    for sentence in (said, found["a"].why):
        assert ("little room above it" in sentence) == narrow
    for sentence in (said, found["a"].next):
        assert ("(system) is wrong more often" in sentence) == narrow
        assert ("another prompt" in sentence) != narrow
    mixed = evidence | {"b": replace(GOOD, **changed, probes=fell(0.06))}  # type: ignore[arg-type]
    assert "little room" not in openings(decide(mixed, RULES), mixed, RULES)[0][1]


def test_labels_that_few_stand_for_and_items_left_out_allow_no_verdict() -> None:
    assert judged(effective=29.0).reason == "few labels count for most"
    assert "as much as 29" in judged(effective=29.0).why
    assert judged(effective=30.0).verdict == "trust"
    found = judged(left_out=0.4)
    assert found.reason == "labelled items left out" and "40 %" in found.why
    assert judged(left_out=0.05).verdict == "trust"


def test_a_saving_without_an_interval_is_said_without_one() -> None:
    found = judged(saving=Estimate(1.0), ceiling=math.nan)
    assert "(so far 100 %)" in found.why and "unknown" not in found.why


def test_trust_by_taking_a_persons_place_says_so() -> None:
    found = judged(agreement=Estimate(0.85, 0.7, 0.9), omega=0.5)
    assert found.verdict == "trust" and "50 % of the people who labelled" in found.why
    assert "place" not in judged(omega=0.5).why


def test_looks_may_be_repeated_where_the_order_of_labels_is_known() -> None:
    assert "however often you look" in judged(gate_p=0.2, in_turn=True).next
    assert "column turn" in judged(gate_p=0.2).next
