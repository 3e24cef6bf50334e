"""References to be perturbed: which of several, which items, and what went wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.config import build
from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.hub import Hub

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"
NAMES = ["summeval", "sumpubmed", "story_cloze", "answer_equivalence", "wmt22_de_en", "wmt22_zh_en"]


def dataset(name: str, **changes: Any) -> Hub:
    node = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    for key, value in changes.items():
        node[key] = {**node[key], **value} if isinstance(value, dict) else value
    made: Hub = build(node, "dataset")
    return made


def rows(folder: Path, *given: dict[str, Any]) -> str:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", NAMES)
def test_samples_pass_the_papers_rules(name: str) -> None:
    panel = dataset(name).load()
    assert len(panel.items) == 12 and panel.agents == ()
    assert panel.provenance["rows_left_out"] == {}
    floor = {"answer_equivalence": 150, "wmt22_de_en": 300, "wmt22_zh_en": 300}.get(name, 0)
    assert all(len(item.reference or "") > floor for item in panel.items)
    assert all(("wrong" in item.meta) == (name == "story_cloze") for item in panel.items)
    assert len(dataset(name).load(limit=3).items) == 3


def test_the_reference_with_most_sentences_is_taken(tmp_path: Path) -> None:
    row = {"id": "a", "text": "Source.", "human_summaries": ["One.", "One. Two.", "Two. One."]}
    path = rows(tmp_path, row)
    panel = dataset("summeval", source="path", path=path).load()
    assert panel.items[0].reference == "One. Two.", "the first among equals"
    first = dataset("summeval", source="path", path=path, select={"reference": "first"})
    assert first.load().items[0].reference == "One."


def test_rows_are_left_out_for_a_reason_and_drawn_by_a_seed(tmp_path: Path) -> None:
    long, short = "A sentence that is long enough. " * 6, "Too short."
    given = [{"context": f"c{k}", "question": "q?", "reference": long} for k in range(20)]
    given += [given[0], {"context": "c", "question": "q?", "reference": short}]
    given.append({"context": "c", "question": "q?", "reference": ""})
    path = rows(tmp_path, *given)

    def load(seed: int) -> Any:
        select = {"draw": 5, "seed": seed}
        return dataset("answer_equivalence", source="path", path=path, select=select).load()

    panel = load(0)
    assert panel.provenance["rows_left_out"] == {
        "repeated": 1,
        "not longer than 150 characters": 1,
        "no reference": 1,
        "not drawn": 15,
    }
    assert [i.id for i in panel.items] == [i.id for i in load(0).items]
    assert [i.id for i in panel.items] != [i.id for i in load(1).items]
    assert panel.items[0].source.endswith("\n\nQuestion: q?")


def segments(*lengths: int | None) -> list[dict[str, Any]]:
    """One row a segment, of so many characters; None: without a translation."""
    given = []
    for k, length in enumerate(lengths):
        text = None if length is None else f"{k}" + "x" * (length - 1)
        given.append({"de-en": {"de": f"s{k}", "en": text}})
    return given


def test_consecutive_segments_are_joined_until_they_are_long_enough(tmp_path: Path) -> None:
    path = rows(tmp_path, *segments(200, 99, 1, 301, 90, 90, None, 200, 200, 100))
    panel = dataset("wmt22_de_en", source="path", path=path).load()
    assert [len(item.reference or "") for item in panel.items] == [302, 301, 401]
    assert [item.source for item in panel.items] == ["s0 s1 s2", "s3", "s7 s8"]
    assert [item.meta["segments"] for item in panel.items] == ["3", "1", "2"]
    left_out = panel.provenance["rows_left_out"]
    assert left_out == {"less than a passage, at the end": 3, "no reference": 1}
    with pytest.raises(ConfigError, match=r"dataset\.select\.characters: give that"):
        dataset("wmt22_de_en", select={"characters": None})


def test_a_section_ends_at_the_next_heading(tmp_path: Path) -> None:
    row = {"text": "BACKGROUND\nwhy. DNA is long.\nRESULTS\nwhat.", "abstract": "BACKGROUND: why."}
    other = {"text": "no headings", "abstract": "none"}
    panel = dataset("sumpubmed", source="path", path=rows(tmp_path, row, other)).load()
    assert [(i.source, i.reference) for i in panel.items] == [("why. DNA is long.", "why.")]
    assert panel.provenance["rows_left_out"] == {"no source": 1}


def test_the_ending_that_is_not_right_is_the_wrong_one(tmp_path: Path) -> None:
    item = dataset("story_cloze").load().items[2]
    assert item.reference == "They came to school muddy and happy, each with a pumpkin."
    assert item.meta["wrong"] == "They waited on the bus in silence until evening."
    row = {f"input_sentence_{k}": "s" for k in (1, 2, 3, 4)}
    row |= {"story_id": "x", "sentence_quiz1": "a", "sentence_quiz2": "b"}
    path = rows(tmp_path, {**row, "answer_right_ending": 3})
    with pytest.raises(DataError, match="Row 0 .* answer_right_ending=3"):
        dataset("story_cloze", source="path", path=path).load()


@pytest.mark.parametrize(
    ("endings", "right", "reference", "wrong"),
    [
        (["He ran.", "He sat."], 2, "He sat.", "He ran."),
        (["He ran.", ""], 1, "He ran.", None),
        (["He ran.", None, "He sat."], 3, "He sat.", "He ran."),
        (["He ran.", "He sat.", "He fled."], 1, "He ran.", None),
    ],
)
def test_nulls_keep_their_number_and_only_a_text_is_a_wrong_ending(
    tmp_path: Path, endings: list[str | None], right: int, reference: str, wrong: str | None
) -> None:
    row = {"story": "He came.", "endings": endings, "right": right}
    fields = {"source": "story", "reference": "endings", "right": "right", "id": None}
    path = rows(tmp_path, row)
    (item,) = dataset("story_cloze", source="path", path=path, fields=fields).load().items
    assert (item.reference, item.meta.get("wrong")) == (reference, wrong)


def test_faults_name_what_to_mend(tmp_path: Path) -> None:
    path = rows(tmp_path, {"id": "a", "article": "x"})
    with pytest.raises(DataError, match=r"'text' is missing.*present: id, article"):
        dataset("summeval", source="path", path=path).load()
    few = rows(tmp_path, {"id": "a", "text": "x", "human_summaries": ["short"]})
    with pytest.raises(DataError, match="none of 1 rows is left"):
        dataset("summeval", source="path", path=few, select={"characters": 99}).load()
    for change, said in (
        ({"select": {"refrence": "first"}}, "dataset.select.refrence is not a known key"),
        ({"select": {"characters": "300"}}, "characters='300' must be a valid integer"),
        ({"fields": {"reference": ["a", 3]}}, "reference=.* must be a valid string"),
        ({"fields": {"right": "n"}}, "go together"),
    ):
        with pytest.raises(ConfigError, match=said):
            dataset("summeval", **change)
