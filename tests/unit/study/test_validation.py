"""The study validation: where there is little to say, and metrics by attacks over a sweep."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judgelab
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError
from judgelab.core.result import Result
from judgelab.engine.context import Context, build_parts
from judgelab.report.jobs import Comparison, SweepJob
from judgelab.store.run_dir import RunDir
from judgelab.study.validation import Validation
from tests.drawings import draw
from tests.unit.python.frames import graded

TEXTS = ("A study of mice. It is short.", "A study of mice. It is long.", "Other words for it.")


def validated(folder: Path, *more: str, limit: int | None = None) -> Result:
    given = ["dataset=iclr_reviews", "study=validation", "mechanism=bleu", "tracker=none"]
    overrides = [*given, "attack=sentence_deletion", *more]
    parts = build_parts(resolved(composed(overrides)))
    return parts.study.run(Context.of(parts, run_dir=RunDir(folder), seed=0, limit=limit))


def test_a_change_without_an_interval_says_so(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    texts = {f"reviewer_{k}": text for k, text in enumerate(TEXTS, start=1)}
    file.write_text(json.dumps({"id": "a", "source": "s", "responses": texts}))
    made = validated(tmp_path, "dataset.source=path", f"dataset.path={file}")
    (note,) = [said for _, said in made.answer if "honest metric" in said]
    assert "is open" in note and "without an interval; items scored: 1" in note


def test_released_texts_belong_to_the_released_definition(tmp_path: Path) -> None:
    """study.definition=released alone turned the verdict around, unsaid (N15)."""
    released = "study.definition=released"
    with pytest.raises(ConfigError, match="add attack.definition=released"):
        validated(tmp_path, released, limit=2)
    made = validated(tmp_path, released, "attack.definition=released", limit=2)
    assert made.summary["definition"] == "released"


def job(number: int, metric: str, attack: str, d: float | None, verdict: str) -> SweepJob:
    choices = {"mechanism": metric, "attack": attack}
    summary = {**choices, "expects": "no_rise" if attack == "rephrase" else "fall"}
    summary |= {"verdict": verdict, "change/smd": d, "change/smd_n": 24, "change/smd_unscored": 0}
    if d is not None:
        summary |= {"change/smd_low": d - 0.1, "change/smd_high": d + 0.1}
    overrides = tuple(f"{key}={value}" for key, value in choices.items())
    return SweepJob(number, overrides, choices, Path("run"), {"summary": summary}, None)


JOBS = [
    job(0, "gem", "sentence_deletion", -0.4, "falls"),
    job(1, "gem", "rephrase", 0.3, "rises"),
    job(2, "bleu", "sentence_deletion", 0.05, "does not fall"),
    job(3, "bleu", "rephrase", None, "undecided"),
]


def made(jobs: list[SweepJob] = JOBS) -> Comparison:
    [found] = Validation.compare(jobs)
    return found


def test_cells_are_metrics_by_attacks() -> None:
    [columns] = made().tables.values()
    assert [c.key for c in columns] == ["metric", "sentence_deletion", "rephrase"]
    assert columns[0].cells == ("gem", "bleu")
    assert columns[1].cells[0] == "-0.400 [-0.500, -0.300]\nfalls"
    assert columns[2].cells[1] == "–\nundecided"
    assert "should not rise" in columns[2].heading
    assert made().answer[0][1].startswith("In 1 of 4 runs the metric does")
    assert "24" in draw("metrics_by_attacks", {"metrics_by_attacks": made().rows}).caption
    assert not Validation.compare([SweepJob(0, (), {}, None, {"summary": {}}, None)])


def test_variants_of_one_attack_and_of_the_study_are_cells_of_their_own() -> None:
    jobs = [
        replace(job, overrides=(*job.overrides, f"attack.definition={d}"), number=k)
        for k, (job, d) in enumerate((j, d) for j in JOBS[:1] for d in ("corrected", "released"))
    ]
    cells = [f"sentence_deletion definition={d}" for d in ("corrected", "released")]
    assert list(made(jobs).rows["attack"]) == cells


BOARD = {"study": "leaderboard"}
VALIDATION = {"study": "validation", "attack": "sentence_deletion"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


def ran(root: Path, *words: str, **given: Any) -> Any:
    return judgelab.run(*words, paths__root=str(root), **{"data": graded(3)} | given)


@pytest.mark.parametrize(("study", "mechanism"), [(BOARD, "gem_raw"), (VALIDATION, "rouge_l")])
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


@pytest.mark.parametrize(("study", "mechanism"), [(BOARD, "rouge_l"), (VALIDATION, "gem_raw")])
def test_what_is_scored_alone_needs_none(root: Path, study: dict[str, Any], mechanism: str) -> None:
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


MECHANISMS = {"discernment": "length", "screen": "mi", "symmetry": "gem preprocessor=identity"}
RECORDED = "audit discrimination leaderboard qualification ranking_confidence validation"


@pytest.mark.parametrize("study", [*MECHANISMS, *RECORDED.split()])
def test_rows_may_come_in_any_order(root: Path, study: str) -> None:
    """Bootstraps, shuffled labels and folds are drawn by place, and rows had no other."""
    table = graded(10)
    table["j"] = [len(text) % 7 for text in table["text"]]
    words = f"study={study} mechanism={MECHANISMS.get(study, 'recorded_scores')}"
    given: dict[str, Any] = {"dataset__judges": ["j"], "dataset__kind": "grade"}
    given |= {"study__bootstrap": 30, "study__pairs": 2} if study == "ranking_confidence" else {}
    first, second = (ran(root, words, data=data, **given) for data in (table, table[::-1]))
    assert first.path != second.path and first.verdict == second.verdict
    assert first.summary.equals(second.summary)
