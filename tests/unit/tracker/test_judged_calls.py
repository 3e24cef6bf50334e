"""What a run's records say of each call: prompt, reply, scores, people, and why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.store.run_dir import RunDir
from judgelab.tracker.judged_calls import JudgedCall, judged_calls
from tests.unit.report.item_records import scored_run

TEXTS = [
    {"item": "q", "agent": "a", "text": "fog", "score": 0.25},
    {"item": "q", "agent": "b", "text": "keel", "score": 0.75},
]
LABELS = [("q", "a", "ana", 2.0), ("q", "a", "ben", 3.0), ("q", "b", "ana", 5.0)]


def said(reply: str | None, agent: str, peer: str = "", **more: Any) -> dict[str, Any]:
    """A row of replies."""
    told = {"item": "q", "agent": agent, "peer": peer, "reply": reply, "prompt": f"Which? {agent}"}
    return told | more


def run(folder: Path, replies: list[dict[str, Any]] | None = None) -> RunDir:
    return scored_run(folder, TEXTS, {"q": "a harbour"}, LABELS, replies or [])


def without(call: JudgedCall, name: str) -> dict[str, Any]:
    return {key: value for key, value in call.inputs.items() if key != name}


def test_a_pair_has_its_verdict_and_what_is_known_of_both_texts(tmp_path: Path) -> None:
    lost = said("Both!", "b", "a", reason="no label", probabilities="one 0.50")
    found = run(tmp_path, [said("[[A]]", "a", "b"), lost])
    rows = [("q", "a", "b", 1.0, 2), ("q", "b", "a", float("nan"), 2)]
    columns = ["item", "agent", "peer", "verdict", "missing_calls"]
    found.write_table("records/clean_measurements.parquet", pd.DataFrame(rows, columns=columns))
    first, second = judged_calls(found)
    about = {"panel": "clean", "judge": "mi", "item": "q", "agent": "a", "peer": "b"}
    assert first.inputs == {**about, "prompt": "Which? a"}
    assert first.output == {"reply": "[[A]]", "reason": ""}
    texts = {"agent_score": 0.25, "peer_score": 0.75, "agent_people": 2.5, "peer_people": 5.0}
    assert first.scores == {"score": 1.0, **texts, "unscored": False}
    assert second.output == {"reply": "Both!", "reason": "no label", "probabilities": "one 0.50"}
    assert "score" not in second.scores  # never 0
    assert second.scores["unscored"] is True


def test_a_text_that_was_asked_about_twice_has_no_score_of_one_call(tmp_path: Path) -> None:
    twice = [said("4", "a"), said("5", "a", draw=1), said(None, "b", reason="refused")]
    first, again, refused = judged_calls(run(tmp_path, twice))
    assert first.scores == {"agent_score": 0.25, "people": 2.5, "unscored": False}
    assert (again.inputs["draw"], "draw" in first.inputs) == (1, False)
    assert refused.scores == {"score": 0.75, "people": 5.0, "unscored": True}
    assert refused.output == {"reply": None, "reason": "refused"}


def test_replies_on_several_qualities_have_the_grade_of_each(tmp_path: Path) -> None:
    told = [said("4", "a", detail="fluency"), said("2", "a", detail="relevance")]
    found = run(tmp_path, [*told, said("no", "b", detail="fluency", reason="no grade")])
    rows = [("q", "a", "fluency", 0, 4.0), ("q", "a", "relevance", 0, 2.0)]
    columns = ["item", "agent", "metric", "draw", "rating"]
    found.write_table("records/clean_measurements.parquet", pd.DataFrame(rows, columns=columns))
    first, second, lost = (one.scores for one in judged_calls(found))
    assert first == {"score": 4.0, "agent_score": 0.25, "people": 2.5, "unscored": False}
    assert second["score"] == 2.0
    assert (lost["unscored"], "score" in lost) == (True, False)


def test_where_nobody_was_asked_every_text_is_a_row(tmp_path: Path) -> None:
    """Log-probabilities; a reason stands beside the text whose score is missing."""
    texts = [TEXTS[0], {**TEXTS[1], "score": float("nan")}]
    failed = [{"item": "q", "agent": "b", "reply": None, "reason": "too long"}]
    found = scored_run(tmp_path, texts, {"q": "a harbour"}, LABELS, failed)
    scored, lost = judged_calls(found)
    assert without(scored, "judge") == {
        **{"panel": "clean", "item": "q", "agent": "a"},
        **{"source": "a harbour", "agent_text": "fog"},
    }
    assert scored.scores == {"score": 0.25, "people": 2.5, "unscored": False}
    assert lost.output == {"reply": None, "reason": "too long"}
    assert lost.scores == {"people": 5.0, "unscored": True}


def test_an_attacked_text_is_a_row_of_its_own(tmp_path: Path) -> None:
    found = run(tmp_path)
    scores = pd.DataFrame([("q", "a", 0.5)], columns=["item", "agent", "score"])
    texts = pd.DataFrame([("q", "a", "FOG"), ("q", "b", "KEEL")], columns=["item", "agent", "text"])
    found.write_table("records/attacked_scores.parquet", scores)
    found.write_table("records/attacked_texts.parquet", texts)
    attacked = [one for one in judged_calls(found) if one.inputs["panel"] == "attacked"]
    assert [one.inputs["agent_text"] for one in attacked] == ["FOG", "KEEL"]
    assert [one.scores.get("score") for one in attacked] == [0.5, None]


@pytest.mark.parametrize(
    ("agents", "expected"), [(("a", "b"), (1.0, 1.0)), (("b", "a"), (0.5, 0.0))]
)
def test_pairs_of_an_audit_are_told_as_they_were_shown(
    tmp_path: Path, agents: tuple[str, str], expected: tuple[float, float]
) -> None:
    """A judge that was asked replies; a metric of the same audit has a row for each pair."""
    found = run(tmp_path, [said("one", *agents, judge="gpt")])
    pair = {"item": "q", "first": "a", "second": "b"}
    rows = [
        {"by": "ana", "role": "rater", "order": 0, "value": 1.0},
        {"by": "gpt", "role": "judge", "order": 0, "value": 1.0},
        {"by": "gpt", "role": "judge", "order": 1, "value": 0.5},
        {"by": "rouge", "role": "judge", "order": 0, "value": 0.0},
        {"by": "length", "role": "control", "order": 0, "value": 0.0},
    ]
    found.write_table("records/judgments.parquet", pd.DataFrame([pair | row for row in rows]))
    asked, metric = judged_calls(found)
    assert (asked.scores["score"], asked.scores["people"]) == expected
    assert metric.inputs["judge"] == "rouge"
    assert (metric.inputs["agent_text"], metric.inputs["peer_text"]) == ("fog", "keel")
    assert metric.scores == {"score": 0.0, "people": 1.0, "unscored": False}


def test_a_run_without_texts_has_no_calls(tmp_path: Path) -> None:
    found = run(tmp_path)
    (found.path / "records" / "clean_texts.parquet").unlink()
    assert judged_calls(found) == []
