"""The study of discernment for each judge: what a judge of known eyesight does not see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgelab.core.panel import Agent, Panel
from judgelab.core.prompt import Prompt
from judgelab.mechanism.length import Length
from judgelab.mechanism.rating import Rating
from judgelab.study.audit.discernment import Unseen
from judgelab.study.discernment import Discernment
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.study.audit.asked_case import asked_case
from tests.unit.study.discernment.discernment_context import at_random, counts_typos, references

RATING = Rating(Prompt("rating.txt"), metrics=["coherence"])
PART = Unseen(
    Discernment(only=["deletions_major", "reordering_major"], replicates=100), RATING, RATING, 16
)


def panel() -> Panel:
    """References beside two texts, so that there is something to be judged, too."""
    base = references()
    return base.with_agents((Agent("a"), Agent("b")), tuple(("x", "y") for _ in base.items))


def test_what_each_judge_does_not_see(tmp_path: Path) -> None:
    lms = {"reads/typos": ScriptedChat(counts_typos), "guesses": ScriptedChat(at_random)}
    case = asked_case(tmp_path, lms, panel(), length=Length())
    PART.ask(case)
    asked = [list(lm.seen) for lm in lms.values()]
    found = PART.run(case)
    assert [lm.seen[len(before) :] for lm, before in zip(lms.values(), asked, strict=True)] == asked
    rows = {row["judge"]: row for row in found.tables[0].rows}
    assert rows["reads/typos"]["not_seen"] == "reordering_major"
    assert rows["guesses"]["not_seen"] == "deletions_major, reordering_major"
    assert "reordering_major" in str(rows["length"]["not_seen"])
    assert [rows[name]["asked_by"] for name in rows] == ["rating", "rating", "length"]
    assert rows["reads/typos"]["n"] == 16 and rows["reads/typos"]["perturbations"] == 2
    assert float(str(rows["reads/typos"]["value"])) > 1 > float(str(rows["guesses"]["value"]))
    assert "guesses rates a text no lower after deletions_major" in " ".join(found.notes)
    for name in ("reads_typos", "guesses", "length"):
        assert (tmp_path / "discernment" / name / "records").is_dir()


def test_too_few_references_tell_nothing(tmp_path: Path) -> None:
    case = asked_case(tmp_path, {}, panel().head(4), length=Length())
    assert "4 references are too few to tell" in " ".join(PART.run(case).notes)


def test_what_it_needs(tmp_path: Path) -> None:
    assert "judges that can be asked" in PART.run(asked_case(tmp_path, {})).lacking
    case = asked_case(tmp_path, {"x": NOBODY})
    assert "needs a reference" in PART.run(case).lacking
    other = replace(panel(), task="chess")
    refused = PART.run(asked_case(tmp_path, {"x": NOBODY}, replace(other, provenance={})))
    assert "study.questions.discernment.study.perturbations" in refused.lacking
