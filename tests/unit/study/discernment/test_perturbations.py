"""Suites of perturbations: what Table 2 says, where they are found, and their faults."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.attack.padding import Padding
from judgelab.core.errors import ConfigError, DataError
from judgelab.mechanism.criteria import FOLDER as CRITERIA
from judgelab.study.discernment.figures import LEVELS
from judgelab.study.discernment.perturbations import FOLDER, WEIGHTS, load_suite, load_weights
from judgelab.study.discernment.study import Discernment
from tests.scripted import NOBODY, ScriptedChat
from tests.unit.study.discernment.discernment_context import QUICK, counts_typos, lab, references

PADDING = "{_target_: judgelab.attack.padding.Padding}"


def degrees(**amounts: tuple[object, object]) -> dict[str, object]:
    """Settings of minor and major by name."""
    return {
        f"{kind}_{severity}": amount
        for kind, both in amounts.items()
        for severity, amount in zip(("minor", "major"), both, strict=True)
    }


ONE_OR_MORE = ((1, False), (2, True))
"""(count, or_more) of minor and major where Table 2 says "one or more" or "two or more"."""
WRITTEN = degrees(entities=ONE_OR_MORE, grammar=ONE_OR_MORE)


def characters(small: int, large: int) -> dict[str, object]:
    return degrees(deletions=(small, large), typos=(small, large))


SENTENCES = degrees(reordering=(2, None), insertion=ONE_OR_MORE)
ENDINGS = {"entities": (1, False), "grammar": (1, False), "random_ending": (), "wrong_ending": ()}
TABLE_2: dict[str, dict[str, object]] = {
    "summarization": characters(10, 50) | WRITTEN | SENTENCES,
    "sumpubmed": characters(20, 100) | WRITTEN | SENTENCES,
    "story_cloze": {"deletions": 5, "typos": 5, **ENDINGS},
    "answer_equivalence": characters(5, 25) | WRITTEN | {"random_answer": ()},
    "translation": characters(10, 50) | degrees(word_deletions=(5, 25)) | WRITTEN,
}
ATTACKS = {
    "deletions": ("character", "character_deletion"),
    "typos": ("character", "typos"),
    "word_deletions": ("word", "word_deletion"),
    "entities": ("word", "fictional_entities"),
    "grammar": ("word", "grammatical_errors"),
    "reordering": ("sentence", "sentence_reordering"),
    "insertion": ("sentence", "rewriting_insertion"),
    "random_ending": ("sentence", "random_replacement"),
    "random_answer": ("sentence", "random_replacement"),
    "wrong_ending": ("sentence", "wrong_ending"),
}


def amount(attack: Any) -> object:
    """k, or (count, or_more), or nothing."""
    settings = asdict(attack)
    if "count" in settings:
        return settings["count"], settings["or_more"]
    return settings.get("k", ())


@pytest.mark.parametrize("name", [path.stem for path in FOLDER.glob("*.yaml")])
def test_suites_are_those_of_table_2(name: str) -> None:
    suite = load_suite(name, "", "", by="lm").perturbations
    assert {one.name: amount(one.attack) for one in suite} == TABLE_2[name]
    for one in suite:
        kind, _, severity = one.name.rpartition("_")
        if severity not in ("minor", "major"):
            kind = one.name
        assert (one.level, one.attack.name) == ATTACKS[kind]
        assert one.attack.expects == "fall"
    levels = [one.level for one in suite]
    assert levels == sorted(levels, key=list(LEVELS).index)


def test_a_suite_is_found_by_dataset_then_by_task(tmp_path: Path) -> None:
    assert load_suite(None, "sumpubmed", "summarization").identity.startswith("sumpubmed.yaml")
    assert load_suite(None, "xsum", "summarization").identity.startswith("summarization.yaml")
    by_lm = load_suite(None, "summeval", "summarization", by="lm").perturbations
    assert sum(bool(one.attack.requires) for one in by_lm) == 6
    with pytest.raises(ConfigError, match="no perturbations for dataset 'iclr2023'"):
        load_suite(None, "iclr2023", "peer_review")
    with pytest.raises(ConfigError, match="Did you mean 'typos_minor'"):
        load_suite("summarization", "", "", ["typo_minor"])
    own = tmp_path / "own.yaml"
    own.write_text(f"more: {{level: word, attack: {PADDING}}}\n")
    suite = load_suite(str(own), "", "")
    assert suite.perturbations[0].attack == Padding()
    assert suite.attacks == {"more": "padding"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("more: {level: page, ATTACK}", r"more, level: .* 'word'"),
        ("more: {level: word, attack: {_target_: NONE}}", "Identity is no attack"),
        ("no: {level: word, ATTACK}", "names .put them in quotation marks"),
        ("more: {level: [word", "not readable"),
    ],
)
def test_faults_of_a_suite_are_named(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "own.yaml"
    text = text.replace("NONE", "judgelab.preprocessor.identity.Identity")
    own.write_text(text.replace("ATTACK", f"attack: {PADDING}"))
    with pytest.raises(DataError, match=said):
        load_suite(str(own), "", "")


TASKS = ("summarization", "story_completion", "question_answering", "translation")


@pytest.mark.parametrize("name", [path.stem for path in WEIGHTS.glob("*.yaml")])
@pytest.mark.parametrize("task", TASKS)
def test_shipped_weights_are_of_metrics_that_are_rated(name: str, task: str) -> None:
    metrics = yaml.safe_load((CRITERIA / f"{task}.yaml").read_text(encoding="utf-8"))["metrics"]
    assert load_weights(name, task).unrated(sorted(metrics)) == []


def test_weights_add_up_whatever_was_rated() -> None:
    weights = load_weights("judgelab", "summarization")
    metrics = ["coherence", "consistency", "fluency", "relevance"]
    assert weights.of(["typos_minor", "typos"], metrics) == [0.05, 0.05, 0.85, 0.05]
    assert weights.of(["typos"], ["fluency", "relevance"]) == pytest.approx([17 / 18, 1 / 18])
    assert weights.of(["padding"], metrics) is None
    with pytest.raises(ConfigError, match=r"no weight on any of the metrics rated \(fluency\)"):
        weights.of(["fictional_entities"], ["fluency"])


def test_a_result_names_the_perturbations_that_were_left_out(tmp_path: Path) -> None:
    few, only = references().head(3), ["typos_minor", "deletions_minor"]
    own = tmp_path / "own.yaml"
    own.write_text("summarization: {typo: {fluency: 1}}\n")
    with pytest.raises(ConfigError, match=r"weights for typo, and none of them is tested"):
        Discernment(only=only, weights=str(own), **QUICK).run(lab(tmp_path, NOBODY))
    asking = lab(tmp_path, ScriptedChat(counts_typos), panel=few)
    own.write_text("summarization: {typos: {fluency: 1}}\n")
    given = Discernment(only=only, weights=str(own), **QUICK).run(asking)
    note = "All metrics weigh alike for deletions_minor, which own.yaml does not list."
    assert note in given.notes
