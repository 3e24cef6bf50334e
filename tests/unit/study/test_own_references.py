"""References of a user's own data: used where they are, asked for where they are needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judgelab
from judgelab.core.errors import ConfigError, DataError
from tests.unit.python.frames import graded

LEADERBOARD = {"study": "leaderboard"}
VALIDATION = {"study": "validation", "attack": "sentence_deletion"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


def ran(root: Path, **given: Any) -> Any:
    return judgelab.run(paths__root=str(root), **{"data": graded(3)} | given)


@pytest.mark.parametrize(
    ("study", "mechanism"), [(LEADERBOARD, "gem_raw"), (VALIDATION, "rouge_l")]
)
def test_no_agent_is_given_up_for_them(root: Path, study: dict[str, Any], mechanism: str) -> None:
    found = ran(root, mechanism=mechanism, **study)
    assert found.summary.loc["candidates", "value"] == 3, "all of them"
    assert "References are those of the data: 3 of 3 items have one." in found.notes
    texts = found.records["clean_texts"].query("agent == 'reference'")["text"]
    assert set(texts) == set(graded(3)["reference"])
    if study is VALIDATION:
        after = found.records["attacked_texts"].query("agent == 'reference'")["text"]
        assert set(after) == set(texts), "an attack leaves them alone"
        assert found.verdict.startswith("Nothing was changed: sentence_deletion left every text")


@pytest.mark.parametrize(
    ("study", "mechanism"), [(LEADERBOARD, "rouge_l"), (VALIDATION, "gem_raw")]
)
def test_what_is_scored_by_itself_needs_none(
    root: Path, study: dict[str, Any], mechanism: str
) -> None:
    bare = graded(3).drop(columns="reference")
    found = ran(root, mechanism="length", data=bare, **study)
    assert found.summary.loc["candidates", "value"] == 3
    with pytest.raises(ConfigError, match="a column 'reference' in dataset=table"):
        ran(root, mechanism=mechanism, data=bare, **study)
    if study is VALIDATION:
        with pytest.raises(ConfigError, match="mechanism=bleu holds texts against references"):
            ran(root, mechanism="bleu", data=bare)
        peers = ran(root, mechanism="rouge", mechanism__peers=True, data=bare)
        assert "peer" in peers.records["clean_measurements"]


def test_discernment_asks_jsonl_for_its_key_and_takes_a_marked_agent(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "own.jsonl"
    rows = graded(3).drop_duplicates("id")
    lines = [
        {"id": k, "source": s, "responses": {"gold": t}}
        for k, s, t in zip(rows["id"], rows["source"], rows["text"], strict=True)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    given = {"study": "discernment", "data": file, "dataset": "jsonl", "mechanism": "length"}
    with pytest.raises(DataError, match="has none: .*the key 'reference' of its line"):
        ran(root, **given)
    given |= {"dataset__reference_agent": "gold", "only": ["deletions_minor"], "replicates": 9}
    found = ran(root, **given)
    texts = found.records["clean_texts"].query("agent == 'original'")["text"]
    assert list(texts) == list(rows["text"])
