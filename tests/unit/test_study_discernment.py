"""The discernment study: suites, weights, and judges whose discernment is known by construction."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgelab.agents.recorded import Recorded
from judgelab.attack.none import NoAttack
from judgelab.attack.padding import Padding
from judgelab.attack.protocol import Attack
from judgelab.config import build
from judgelab.errors import CapabilityError, ConfigError, DataError
from judgelab.evaluation_lm.protocol import ChatRequest, EvaluationLM
from judgelab.mechanism.bleu import Bleu
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.rating import Rating
from judgelab.panel import Item, Panel
from judgelab.preprocessor.identity import Identity
from judgelab.prompt import Prompt
from judgelab.report.figures import caption, draw
from judgelab.report.tables import frame
from judgelab.result import Result
from judgelab.store.run_dir import RunDir
from judgelab.study.discernment import Discernment
from judgelab.study.expert_weights import FOLDER as WEIGHTS
from judgelab.study.expert_weights import load_weights
from judgelab.study.lab import Lab
from judgelab.study.perturbations import FOLDER, LEVELS, load_suite
from judgelab.synopsis.recorded import Recorded as RecordedSynopsis
from tests.scripted import NOBODY, ScriptedChat

CONF = Path(__file__).resolve().parents[2] / "conf"
SAMPLES = ("summeval", "sumpubmed", "billsum", "multi_news", "pubmed")
RATING = Rating(Prompt("rating.txt"))
TEXT = re.compile(r"\[summary\]\n(.*)\n\[End of the summary\]", re.DOTALL)
QUICK: dict[str, Any] = {"replicates": 300, "bootstrap": 100}


@dataclass(frozen=True)
class Given:
    """A dataset of items that are there already."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        return self.panel.head(limit)


@cache
def references() -> Panel:
    """Sixty sample items of several datasets, under the name of one."""
    items: list[Item] = []
    for name in SAMPLES:
        node = yaml.safe_load((CONF / "dataset" / f"{name}.yaml").read_text(encoding="utf-8"))
        loaded: Panel = build(node, name).load()
        items += [Item(f"{name}-{k}", i.source, i.reference) for k, i in enumerate(loaded.items)]
    return Panel(tuple(items), provenance={"dataset": "summeval", "source": "sample"})


def lab(
    folder: Path,
    lm: EvaluationLM,
    mechanism: Mechanism = RATING,
    panel: Panel | None = None,
    attack: Attack | None = None,
) -> Lab:
    return Lab(
        dataset=Given(references() if panel is None else panel),  # type: ignore[arg-type]
        agents=Recorded(),
        synopsis=RecordedSynopsis(),
        evaluation_lm=lm,
        preprocessor=Identity(),
        attack=NoAttack() if attack is None else attack,
        mechanism=mechanism,
        run_dir=RunDir(folder),
        seed=0,
        limit=None,
    )


def rows(result: Result, table: str, key: str) -> dict[Any, Any]:
    """The rows of a table by one of their columns."""
    found = next(t for t in result.tables if t.name == table)
    return {row[key]: row for row in found.rows}


def rated_text(request: ChatRequest) -> str:
    found = TEXT.search(request.messages[0].content)
    assert found is not None
    return found[1]


def at_random(request: ChatRequest) -> str:
    """1 to 5, from what was asked alone: as good as chance, and repeatable."""
    said = request.messages[0].content.encode()
    return str(1 + hashlib.sha256(said).digest()[0] % 5)


@cache
def vocabulary() -> frozenset[str]:
    texts = " ".join(item.reference or "" for item in references().items)
    return frozenset(re.findall(r"\w+", texts.lower()))


def counts_typos(request: ChatRequest) -> str:
    """A point less for every two words that nobody wrote in any reference."""
    words = re.findall(r"\w+", rated_text(request).lower())
    return str(max(1, 5 - sum(word not in vocabulary() for word in words) // 2))


def test_a_judge_that_answers_at_random_stays_below_its_threshold(tmp_path: Path) -> None:
    result = Discernment(**QUICK).run(lab(tmp_path, ScriptedChat(at_random)))
    summary = result.summary
    for name in ("average_ew", "minimum_ew"):
        value, bar = (summary[f"discernment/{name}{part}"] for part in ("", "_threshold"))
        assert isinstance(value, float) and isinstance(bar, float) and value < bar
    below = [
        r["value"] <= r["threshold"] for r in rows(result, "discernment", "perturbation").values()
    ]
    assert len(below) == 12 and sum(below) >= 11, "5 % of 12 may pass"
    assert result.notes[0].startswith("This judge (rating) does not see: deletions_minor")


def test_a_judge_that_counts_typos_sees_them_and_no_reordering(tmp_path: Path) -> None:
    only = ["typos_minor", "typos_major", "reordering_minor", "reordering_major"]
    result = Discernment(only=only, **QUICK).run(lab(tmp_path, ScriptedChat(counts_typos)))
    found = rows(result, "discernment", "perturbation")
    assert found["typos_minor"]["value"] > 5 and found["typos_major"]["value"] > 5
    assert found["reordering_minor"]["value"] == found["reordering_major"]["value"] == 0
    assert [found[name]["seen"] for name in only] == ["yes", "yes", "no", "no"]
    assert result.notes[0] == (
        "This judge (rating) does not see: reordering_minor, reordering_major."
    )
    assert result.summary["not_seen_count"] == 2
    assert result.summary["discernment/minimum_ew"] == 0
    fluent = rows(result, "metrics", "perturbation")["reordering_major"]
    assert (fluent["fell"], fluent["rose"]) == (0, 0) and fluent["alike"] == 60
    tables = {t["name"]: frame(t) for t in result.to_json()["tables"]}  # type: ignore[attr-defined]
    for name in result.figures:
        assert draw(name, tables).axes and caption(name, tables)


def test_the_printed_combination_is_at_hand_and_says_so(tmp_path: Path) -> None:
    only = ["typos_major"]
    study = Discernment(only=only, combine="printed", weights="judgelab", calibrate=False, **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(counts_typos)))
    row = rows(result, "discernment", "perturbation")["typos_major"]
    assert row["d"] > row["value"], "by ln M / ln 20 and the weight of one metric"
    assert row["seen"] == "yes" and row["threshold"] != row["threshold"], "held against 1"
    assert any("no mean of p values" in note for note in result.notes)
    weight = rows(result, "metrics", "metric")["fluency"]["weight"]
    assert weight == 0.85


def test_unchanged_unwritten_and_unrated_texts_are_counted(tmp_path: Path) -> None:
    items = tuple(
        Item(f"i{k}", "source", text)
        for k, text in enumerate(["One sentence.", "First one. Second one.", "", "A. Bee. Sea."])
    )

    def rule(request: ChatRequest) -> str | None:
        return None if "Bee" in rated_text(request) and "fluency" in request.key else "4"

    panel = Panel(items, provenance={"dataset": "summeval"})
    study = Discernment(only=["reordering_major"], **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(rule), panel=panel))
    assert rows(result, "unchanged", "item").keys() == {"i0"}
    cover = rows(result, "coverage", "variant")
    assert cover["reordering_major"]["unchanged_texts"] == 1
    assert cover["original"]["unrated"] == 1 and cover["original"]["items"] == 3
    found = rows(result, "discernment", "perturbation")["reordering_major"]
    assert (found["n"], found["unscored"]) == (2, 1)
    assert any("1 items have no reference" in note for note in result.notes)


def test_a_perturbation_that_changes_nothing_says_nothing(tmp_path: Path) -> None:
    items = tuple(Item(f"i{k}", "source", f"Only sentence {k}.") for k in range(8))
    panel = Panel(items, provenance={"dataset": "summeval"})
    study = Discernment(only=["typos_major", "reordering_major"], **QUICK)
    result = study.run(lab(tmp_path, ScriptedChat(counts_typos), panel=panel))
    found = rows(result, "discernment", "perturbation")
    assert found["reordering_major"]["seen"] == "nothing changed"
    assert found["reordering_major"]["value"] != found["reordering_major"]["value"], "not 0"
    over = rows(result, "averages", "statistic")["average_ew"]
    assert over["value"] == found["typos_major"]["value"] > 0
    assert result.notes[0].endswith("because they changed no text: reordering_major.")
    tables = {t["name"]: frame(t) for t in result.to_json()["tables"]}  # type: ignore[attr-defined]
    for name in result.figures:
        assert draw(name, tables).axes
    idle = Discernment(only=["reordering_major"], **QUICK)
    nothing = idle.run(lab(tmp_path, ScriptedChat(counts_typos), panel=panel))
    assert "has no scores" in nothing.notes[0]


def test_a_mechanism_without_metrics_is_one_metric(tmp_path: Path) -> None:
    study = Discernment(only=["deletions_major", "insertion_major"], **QUICK)
    result = study.run(lab(tmp_path, NOBODY, Length("characters")))
    found = rows(result, "discernment", "perturbation")
    assert found["deletions_major"]["value"] > 5 > found["insertion_major"]["value"]
    assert rows(result, "metrics", "metric").keys() == {"length"}


def test_a_text_is_not_held_against_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds texts against one another"):
        Discernment(only=["typos_minor"], **QUICK).run(lab(tmp_path, NOBODY, Bleu()))


def test_the_study_asks_in_a_dry_run_what_it_asks_in_a_run(tmp_path: Path) -> None:
    study, dry, real = (
        Discernment(only=["typos_minor", "entities_minor"], by="lm", **QUICK),
        ScriptedChat(lambda r: "4"),
        ScriptedChat(lambda r: "4"),
    )
    study.ask(lab(tmp_path, dry))
    result = study.run(lab(tmp_path, real))
    assert dry.seen == real.seen
    assert any("may recognise its own hand" in note for note in result.notes)


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave attack=none"):
        Discernment().run(lab(tmp_path, NOBODY, attack=Padding()))
    with pytest.raises(CapabilityError, match=r"evaluation_lm@writer_lm=NAME, or study\.by=rules"):
        mute = ScriptedChat(lambda r: "4", capabilities=frozenset())
        Discernment(only=["entities_minor"], by="lm").run(lab(tmp_path, mute))
    with pytest.raises(DataError, match="has none"):
        Discernment().run(lab(tmp_path, NOBODY, panel=Panel((Item("1", "s"),))))
    with pytest.raises(ConfigError, match=r"study\.bootstrap"):
        Discernment(bootstrap=0)


TABLE_2 = {
    "summeval": (10, 50),
    "sumpubmed": (20, 100),
    "story_cloze": (5,),
    "answer_equivalence": (5, 25),
    "translation": (10, 50),
}


@pytest.mark.parametrize("name", [path.stem for path in FOLDER.glob("*.yaml")])
def test_suites_are_those_of_table_2(name: str) -> None:
    suite = load_suite(name, "", "").perturbations
    levels = [one.level for one in suite]
    assert levels == sorted(levels, key=LEVELS.index) and len(suite) >= 6
    assert all(one.attack.expects == "fall" for one in suite)
    for kind in ("deletions", "typos"):
        settings = [getattr(p.attack, "k", None) for p in suite if p.name.startswith(kind)]
        assert tuple(settings) == TABLE_2.get(name, (10, 50))


def test_a_suite_is_found_by_dataset_then_by_task_and_faults_are_named(tmp_path: Path) -> None:
    assert load_suite(None, "sumpubmed", "summarization").identity.startswith("sumpubmed.yaml")
    assert load_suite(None, "xsum", "summarization").identity.startswith("summarization.yaml")
    by_lm = load_suite(None, "summeval", "summarization", by="lm").perturbations
    assert sum(bool(one.attack.requires) for one in by_lm) == 6
    with pytest.raises(ConfigError, match="no perturbations for dataset 'iclr2023'"):
        load_suite(None, "iclr2023", "peer_review")
    with pytest.raises(ConfigError, match="Did you mean 'typos_minor'"):
        load_suite("summeval", "", "", ["typo_minor"])
    own = tmp_path / "own.yaml"
    padding = "{_target_: judgelab.attack.padding.Padding, symbol: X, count: 3}"
    own.write_text(f"more: {{level: word, severity: null, attack: {padding}}}\n")
    assert load_suite(str(own), "", "").perturbations[0].attack == Padding("X", 3)
    own.write_text(own.read_text().replace("level: word", "level: page"))
    with pytest.raises(DataError, match=r"own\.yaml, more: level 'page'"):
        load_suite(str(own), "", "")


def test_weights_add_up_and_belong_to_metrics_that_are_rated() -> None:
    for path in WEIGHTS.glob("*.yaml"):
        for task in ("summarization", "story_completion", "question_answering", "translation"):
            known = {
                str(m)
                for m in yaml.safe_load((CONF / "criteria" / f"{task}.yaml").read_text())["metrics"]
            }
            assert load_weights(path.stem, task).unrated(sorted(known)) == []
    weights = load_weights("judgelab", "summarization")
    metrics = ["coherence", "consistency", "fluency", "relevance"]
    assert weights.of(["typos_minor", "typos"], metrics) == [0.05, 0.05, 0.85, 0.05]
    assert weights.of(["typos"], ["fluency", "relevance"]) == pytest.approx([17 / 18, 1 / 18])
    assert weights.of(["padding"], metrics) is None
    with pytest.raises(ConfigError, match=r"no weight on any of the metrics rated \(fluency\)"):
        weights.of(["fictional_entities"], ["fluency"])


def test_weights_from_a_survey(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(
        "expert,task,perturbation,metric\n"
        "a,summarization,typos,fluency\nb,summarization,typos,fluency\n"
        "c,summarization,typos,coherence\nd,translation,typos,accuracy\n"
        "a,summarization,sentence_reordering,coherence\n"
    )
    weights = load_weights(str(file), "summarization")
    assert weights.table == {
        "typos": {"fluency": pytest.approx(2 / 3), "coherence": pytest.approx(1 / 3)},
        "sentence_reordering": {"coherence": 1.0},
    }
    file.write_text(file.read_text() + "a,summarization,typos,coherence\n")
    with pytest.raises(DataError, match="line 7: expert 'a' answers 'typos' twice"):
        load_weights(str(file), "summarization")
    file.write_text("expert,issue\n")
    with pytest.raises(DataError, match="lacks the column 'perturbation'"):
        load_weights(str(file), "summarization")
    own = tmp_path / "own.yaml"
    own.write_text("summarization: {typos: {fluency: 0.5}}\n")
    with pytest.raises(DataError, match="add up to 0.5"):
        load_weights(str(own), "summarization")
    with pytest.raises(ConfigError, match="Did you mean 'uniform'"):
        load_weights("unifrom", "summarization")
