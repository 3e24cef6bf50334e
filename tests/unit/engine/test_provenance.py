"""An adapter that was trained on what it scores is told of."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from judgelab.engine.provenance import trained, unwritten
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring import source as record
from tests.scripted import ScriptedChat, panel_of

PANEL = panel_of([["a"], ["b"], ["c"]])


def adapter(folder: Path) -> Transformers:
    return Transformers("a/model", adapter=str(folder))


def test_training_items_among_those_scored_are_counted(tmp_path: Path) -> None:
    known = record.TrainedOn("a/model", "commit", ("i0", "i2"), ())
    (tmp_path / record.TRAINED_ON).write_text(json.dumps(asdict(known)))
    [said] = trained(adapter(tmp_path), PANEL)
    assert said.startswith("2 of 3 items are among those")


def test_an_adapter_without_a_record_says_so(tmp_path: Path) -> None:
    assert record.trained_on(tmp_path) is None
    [said] = trained(adapter(tmp_path), PANEL)
    assert "does not say what it was trained on" in said


def test_an_lm_without_an_adapter_has_nothing_to_say() -> None:
    assert not list(trained(Transformers("a/model"), PANEL))
    assert not list(trained(ScriptedChat(lambda request: ""), PANEL))


def test_why_texts_could_not_be_written_is_a_sentence() -> None:
    said = unwritten("preprocessor_unwritten", {"no sentence": 44, "empty": 2})
    assert said == (
        "46 texts are unscored because the preprocessor could not write them: no sentence (44); "
        "empty (2)."
    )
