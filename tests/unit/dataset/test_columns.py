"""Columns under usual names: what is taken for what, and where the user has to choose."""

from __future__ import annotations

import random
import shlex
from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from judgelab.core.errors import ChoiceError
from judgelab.core.panel import Panel
from judgelab.dataset.table import LabelledTable

WORDS: Mapping[str, Sequence[object]] = {
    "pass": ("pass", "fail", "pass", "pass"),
    "true": (True, False, False, True),
    "grade": (1, 2, 3, 4, 5),
    "side": ("A", "B", "tie"),
    "two": ("old", "new"),
}


def frame(columns: str, rows: int = 30) -> pd.DataFrame:
    """``name=KIND`` each: one of ``WORDS``, ``text`` (all differ), or ``twice`` (each two rows)."""
    cells: dict[str, list[object]] = {}
    for place, (name, _, kind) in enumerate(one.partition("=") for one in columns.split()):
        rng = random.Random(name)
        for k in range(rows):
            text = f"Number {k // 2 if kind == 'twice' else k} of what {place} says at length."
            word = WORDS["two"][k % 2] if kind == "two" else rng.choice(WORDS.get(kind, [""]))
            cells.setdefault(name, []).append(word if kind in WORDS else text)
    return pd.DataFrame(cells)


def taken(table: pd.DataFrame, **settings: object) -> tuple[Panel, dict[str, str]]:
    panel = LabelledTable(**settings).of(table)  # type: ignore[arg-type]
    line = str(panel.provenance["columns_taken"])
    return panel, {role: names for role, _, names in (x.partition(": ") for x in line.split("; "))}


READ = [
    (
        "case_id=text input=text output=text expected=text human_label=pass judge_label=pass",
        "case_id human_label judge_label input output expected",
    ),
    ("question=text response=text label=pass score=grade", "rows label score question response -"),
    ("annotator_1=pass annotator_2=pass llm_label=pass", "rows annotator_1+annotator_2 llm_label"),
    (
        "rater_a=grade rater_b=grade gpt4_verdict=grade claude=grade notes=text",
        "rows rater_a+rater_b claude+gpt4_verdict",
    ),
    ("human_label=pass sonnet_label=pass topic_label=two", "rows human_label sonnet_label"),
    ("humanLabel=pass JudgeVerdict=pass judge_reasoning=text", "rows humanLabel JudgeVerdict"),
    ("ground_truth=text human_label=pass judge_label=pass", "rows human_label judge_label - - "
     "ground_truth"),
    ("model=two prompt=twice output=text human=pass judge_label=pass", "sources human judge_label "
     "prompt output"),
    ("id=text expected=pass output=text judge_label=true", "id - judge_label - output expected"),
    (
        "prompt=text response_a=text response_b=text human_preference=side gpt_preference=side",
        "rows - gpt_preference prompt response_a",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "roles"), READ)
def test_usual_names_are_understood(columns: str, roles: str) -> None:
    _, found = taken(frame(columns))
    wanted = dict(
        zip(
            ("id", "labels of people", "verdicts of judges", "source", "text", "reference"),
            (one.replace("+", " and ") for one in roles.split()),
            strict=False,
        )
    )
    numbered = {k: v.removeprefix("numbers of ").partition(" (")[0] for k, v in found.items()}
    assert {key: numbered.get(key, "-") for key in wanted} == wanted


UNCLEAR = [
    "id=text output_a=text output_b=text human=side judge_winner=side judge_winner_swapped=side",
    "id=text judge=pass score=grade human=pass",
    "id=text human=pass score=grade pass=true",
    "id=text human_label=pass judge_label=pass judge_score=grade",
    "id=text human_relevance=grade human_fluency=grade judge_label=pass",
    "session_id=twice output=text human_label=pass judge_label=pass",
    "prompt=text question=text human_label=pass judge_label=pass",
    "id=text output_a=text output_b=text human_preference=side gpt_1_vote=side gpt_2_vote=side",
]


@pytest.mark.parametrize("columns", UNCLEAR)
def test_two_readings_are_both_offered_and_each_can_be_chosen(columns: str) -> None:
    """Neither is taken unsaid; what a choice says is understood, and the readings differ."""
    table = frame(columns)
    with pytest.raises(ChoiceError) as caught:
        taken(table)
    assert len(caught.value.choices) >= 2
    readings = []
    for words in caught.value.choices.values():
        settings: dict[str, object] = {}
        for word in words:
            key, _, value = word.removeprefix("dataset.").partition("=")
            read: object = value if value != "false" else False
            if value.startswith("["):
                read = value.strip("[]").split(",")
            if value.startswith("{"):
                read = {"judge": value[value.index("[") + 1 : -2].split(",")}
            axis, _, name = key.partition(".")
            settings[axis] = {**dict(settings.get(axis, {})), name: read} if name else read  # type: ignore[call-overload]
        try:
            readings.append(taken(table, **settings)[1])
        except ChoiceError as again:  # of the judges, when the people are known
            readings.append({"then": shlex.join(again.choices)})
    assert all(one not in readings[:k] for k, one in enumerate(readings))


@pytest.mark.parametrize("columns", [*(one for one, _ in READ), *UNCLEAR])
def test_order_of_columns_and_rows_does_not_matter(columns: str) -> None:
    table = frame(columns)

    def reading(table: pd.DataFrame) -> object:
        try:
            panel, found = taken(table)
        except ChoiceError as cause:
            return dict(cause.choices)
        assert panel.judgments is not None
        agreed = (panel.judgments.values == panel.judgments.truth).sum()
        return found, panel.judgments.names, panel.judgments.raters, int(agreed)

    whole = reading(table)
    for seed in range(3):
        order = random.Random(seed).sample(list(table.columns), len(table.columns))
        assert reading(table[order].sample(frac=1, random_state=seed)) == whole
    id_ = next((one for one in ("id", "case_id") if one in table), None)
    if id_:
        assert reading(table.assign(**{id_: [f"x{k}" for k in range(len(table))]})) == whole


def test_rows_about_one_source_are_not_independent() -> None:
    """Row numbers for want of an id; who gives none for several systems groups by source."""
    panel, _ = taken(frame("question=twice human=pass judge_label=pass"))
    assert panel.judgments is not None and len(panel.items) == 30
    assert len(set(panel.judgments.units.cluster)) == 15
    panel, _ = taken(frame("model=two question=twice output=text human=pass judge_label=pass"))
    assert len(panel.items) == 15 and len(panel.agents) == 2


def test_what_is_named_is_taken_alone() -> None:
    table = frame("id=text human_label=pass gold=true judge_label=pass gpt_verdict=pass")
    panel, found = taken(table, judges=["gpt_verdict"], raters=["gold"])
    assert panel.judgments is not None and panel.judgments.names == ("gpt_verdict",)
    assert found["labels of people"] == "gold" and found["verdicts of judges"] == "gpt_verdict"
    with pytest.raises(ChoiceError) as caught:
        taken(frame("id=text human=pass expert=pass"))
    assert "people: human; judge: expert" in caught.value.choices


def test_a_column_called_id_names_items_and_what_is_not_read_is_said() -> None:
    table = frame("question=twice answer=text human=pass judge_label=pass mood=two")
    table["ticketId"] = [f"T-{k:03}" for k in range(len(table))]
    for columns in (list(table), list(table)[::-1]):
        _, found = taken(table[columns])
        assert (found["id"], found["text"], found["not read"]) == ("ticketId", "answer", "mood")
    _, found = taken(table.drop(columns="ticketId"))
    assert "those of one source count as one item" in found["id"]


def test_a_column_of_orders_is_of_a_judge_without_a_name() -> None:
    table = frame("id=text response_a=text response_b=text human=side judge_winner=side")
    both = pd.concat([table.assign(order=k) for k in (0, 1)])
    panel, _ = taken(both.drop(columns="human").merge(table[["id", "human"]], on="id"))
    assert panel.judgments is not None and panel.judgments.orders == 2
    assert panel.judgments.asked.all()
