"""The study on 100 real SummEval references, rated offline by a compressor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from judgelab.config import build
from judgelab.core.panel import Panel
from judgelab.core.result import Result
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.rating_likelihood import RatingLikelihood
from judgelab.stats.discernment.score import How, discernment
from judgelab.study.discernment.study import Discernment
from tests.judgment_tables import audit_context

CONF = Path(__file__).resolve().parents[2] / "conf"

BY_AN_LM = {"insertion", "entities"}
CHECKED = {"grammar", "typos"}  # rules that cannot do to every text what they say; the others can


@dataclass(frozen=True)
class Run:
    """The result, and every text: variant -> item -> text."""

    result: Result
    texts: Mapping[str, Mapping[str, str]]

    @property
    def originals(self) -> Mapping[str, str]:
        return self.texts["original"]

    def found(self, perturbation: str) -> dict[str, Any]:
        rows = next(t for t in self.result.tables if t.name == "discernment").rows
        return dict(next(row for row in rows if row["perturbation"] == perturbation))

    def excluded(self, perturbation: str) -> list[str]:
        rows = [row for t in self.result.tables if t.name == "excluded" for row in t.rows]
        return [str(row["item"]) for row in rows if row["perturbation"] == perturbation]


@pytest.fixture(scope="module")
def run(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Every perturbation by rules that suits a text without a wrong ending, in one suite."""
    folder = tmp_path_factory.mktemp("discernment")
    suite: dict[str, Any] = {}
    for name in ("answer_equivalence", "translation", "summarization"):
        suite |= yaml.safe_load((CONF / "perturbation" / f"{name}.yaml").read_text("utf-8"))
    suite = {k: v for k, v in suite.items() if k.split("_")[0] not in BY_AN_LM}
    (folder / "all.yaml").write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    node = yaml.safe_load((CONF / "dataset" / "summeval.yaml").read_text(encoding="utf-8"))
    file = shared_data / "summeval" / "dhp_inputs" / "summeval_refs_100.parquet"
    columns = {"source": "article", "reference": "reference_most_sentences", "id": "doc_id"}
    node |= {"source": "path", "path": str(file), "fields": {**columns, "right": None}}
    lab = audit_context(
        Panel(()),
        folder / "run",
        dataset=build(node, "dataset"),
        evaluation_lm=Compression(workers=1),
        mechanism=RatingLikelihood(metrics=["fluency"]),
    )
    study = Discernment(str(folder / "all.yaml"), by="rules", replicates=200)
    result = study.run(lab)
    records = pd.read_parquet(folder / "run" / "records" / "clean_texts.parquet")
    texts = {
        str(variant): dict(zip(part["item"], part["text"], strict=True))
        for variant, part in records.groupby("agent")
    }
    return Run(result, texts)


def test_all_rules_are_tested_on_all_references(run: Run) -> None:
    assert run.result.summary["items"] == 100
    assert len(run.texts) == 1 + 11
    for name in run.texts.keys() - {"original"}:
        found = run.found(name)
        left = len(run.excluded(name))
        assert (found["n"], found["unscored"]) == (100 - left, left), name
        assert found["value"] >= 0 and found["threshold"] > 0
        assert left == 0 or name.split("_")[0] in CHECKED, name
        texts = {i: t for i, t in run.texts[name].items() if i not in run.excluded(name)}
        assert all(text != run.originals[item] for item, text in texts.items()), name


def test_a_compressor_sees_damaged_words_and_no_swapped_sentences(run: Run) -> None:
    for kind in ("deletions", "typos"):
        for severity in ("minor", "major"):
            assert run.found(f"{kind}_{severity}")["value"] > 12, "at most 13.6 or 17.8"
    assert run.found("reordering_minor")["seen"] == "no"
    assert "reordering_minor" in str(run.result.summary["not_seen"])


METRICS = ["coherence", "consistency", "fluency", "relevance"]

ROWS = [  # judge, prompt, original, perturbed, p per metric, D as printed, D^EW uniform
    ("gpt-4-0314", "rts", "M22", "M11", (1.6e-16, 4.5e-11, 9.2e-18, 2.5e-11), 13.112, 12.649),
    ("gpt-4-0314", "rts", "M17", "M9", (6.0e-6, 0.249, 3.6e-9, 0.0051), 6.493, 6.030),
    ("gpt-4-0314", "rts", "M22", "M23", (0.126, 0.340, 8.5e-4, 0.5), 2.365, 1.902),
    ("gpt-3.5-turbo-0301", "mcq", "M17", "M15", (5.4e-4, 0.0082, 5.0e-4, 0.024), 2.768, 2.305),
    ("llama-2-7b-chat-hf", "rts", "M22", "M11", (0.124, 0.0068, 0.017, 0.387), 1.795, 1.332),
]


@pytest.fixture(scope="module")
def scores(shared_data: Path) -> pd.DataFrame:
    return pd.read_parquet(shared_data / "summeval" / "summeval_llm_judge_scores.parquet")


@pytest.mark.parametrize(("judge", "prompt", "better", "worse", "p", "d", "d_ew"), ROWS)
def test_worked_examples(
    scores: pd.DataFrame,
    judge: str,
    prompt: str,
    better: str,
    worse: str,
    p: tuple[float, ...],
    d: float,
    d_ew: float,
) -> None:
    own = scores[(scores["evaluator"] == judge) & (scores["prompt"] == prompt)]
    rated = {
        name: own[own["system_id"] == name].pivot(
            index="doc_id", columns="dimension", values="score"
        )[METRICS]
        for name in (better, worse)
    }
    assert len(rated[better]) == 100
    found = discernment(
        rated[better],
        rated[worse].loc[rated[better].index],
        how=How(combine="printed", method="normal"),
    )
    assert found.p == pytest.approx(p, rel=0.05)
    assert found.d == pytest.approx(d, abs=1e-3)
    assert found.d_ew == pytest.approx(d_ew, abs=1e-3)
    harmonic = How(method="normal")
    assert (
        discernment(rated[better], rated[worse].loc[rated[better].index], how=harmonic).d
        == found.d_ew
    )
