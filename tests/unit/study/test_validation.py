"""The study validation where there is little to say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from judgelab.config import resolved
from judgelab.core.errors import ConfigError
from judgelab.engine.parts import build_parts
from judgelab.store.run_dir import RunDir

CONF = Path(__file__).resolve().parents[3] / "conf"
TEXTS = ("A study of mice. It is short.", "A study of mice. It is long.", "Other words for it.")


def test_a_change_without_an_interval_says_so(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"id": "a", "source": "s", "texts": TEXTS}))
    given = ["dataset=iclr_reviews", "dataset.source=path", f"dataset.path={file}"]
    given += ["study=validation", "mechanism=bleu", "attack=sentence_deletion", "tracker=none"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        parts = build_parts(resolved(compose("config", overrides=given)))
    made = parts.study.run(parts.context(run_dir=RunDir(tmp_path), seed=0, limit=None))
    (note,) = [said for _, said in made.answer if "honest metric" in said]
    assert "is open" in note and "without an interval; items scored: 1" in note


def test_released_texts_belong_to_the_released_definition(tmp_path: Path) -> None:
    """study.definition=released alone turned the verdict around, unsaid."""
    given = ["dataset=iclr_reviews", "study=validation", "mechanism=bleu", "tracker=none"]
    given += ["attack=sentence_deletion", "study.definition=released"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        parts = build_parts(resolved(compose("config", overrides=given)))
        both = build_parts(
            resolved(compose("config", overrides=[*given, "attack.definition=released"]))
        )
    with pytest.raises(ConfigError, match="add attack.definition=released"):
        parts.study.run(parts.context(run_dir=RunDir(tmp_path), seed=0, limit=2))
    made = both.study.run(both.context(run_dir=RunDir(tmp_path), seed=0, limit=2))
    assert made.summary["definition"] == "released"
