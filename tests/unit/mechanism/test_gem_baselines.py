"""BARTScore, BERTScore, LMExaminer, and ROUGE and BLEU against peers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores
from judgelab.mechanism.bartscore import BartScore
from judgelab.mechanism.bertscore import BertScore
from judgelab.mechanism.bleu import Bleu
from judgelab.mechanism.gem import Gem
from judgelab.mechanism.lm_examiner import LmExaminer
from judgelab.mechanism.rouge import Rouge
from tests.scripted import NOBODY, ScriptedChat, ScriptedLogProb, panel_of
from tests.tiny_models import save_encoder

PROMPT = Prompt("second_opinion.txt")
OTHER = ("Faithful", "Other", "Other")
TEXTS = [["alpha beta", "gamma delta epsilon", "zeta"]]


def value(x: str, y: str) -> float:
    """A log P(y | x) that tells x, y and their order apart."""
    return -100.0 * len(y) - len(x)


def length_rule(context: str, target: str) -> float:
    return value(context.split("[Judgments of the first reviewer]")[1].strip(), target)


def bart(part: Any, **options: Any) -> BartScore:
    return BartScore(name="bartscore", prompt=PROMPT, part=part, **options)


def scored(mechanism: Any, panel: Panel, lm: Any = NOBODY) -> Scores:
    scores: Scores = mechanism.score(mechanism.measure(panel, lm, seed=0))
    return scores


@pytest.mark.parametrize("part", ["recall", "precision", "f1"])
def test_bartscore_asks_the_directions_it_needs_and_averages_over_references(part: str) -> None:
    lm = ScriptedLogProb(length_rule)
    scores = scored(bart(part), panel_of(TEXTS, OTHER), lm)
    x, ys = TEXTS[0][0], TEXTS[0][1:]
    recall, precision = [value(x, y) for y in ys], [value(y, x) for y in ys]
    expected = {
        "recall": recall,
        "precision": precision,
        "f1": [(r + p) / 2 for r, p in zip(recall, precision, strict=True)],
    }[part]
    assert scores.directed is not None
    np.testing.assert_allclose(scores.directed.values[0, 0, 1:], expected)
    assert scores.agent.values[0, 0] == pytest.approx(np.mean(expected))
    assert np.isnan(scores.agent.values[0, 1:]).all(), "references are not judged"
    assert np.isnan(scores.directed.values[0, 1:]).all()
    assert len(lm.seen) == (4 if part == "f1" else 2), "no marginal, no direction in vain"


def test_bartscore_per_token_divides_by_what_is_predicted() -> None:
    x, y = "one two three", "four five"
    for part, expected in (("recall", value(x, y) / 2), ("precision", value(y, x) / 3)):
        panel, lm = panel_of([[x, y]], OTHER), ScriptedLogProb(length_rule)
        found = scored(bart(part, per="token"), panel, lm)
        assert found.agent.values[0, 0] == pytest.approx(expected)


def test_bartscore_cuts_both_texts_and_leaves_absent_ones_unscored() -> None:
    panel = panel_of([["x" * 50, "y" * 70], ["x", None]], OTHER)
    scores = scored(bart("recall", truncate=10), panel, ScriptedLogProb(length_rule))
    assert scores.agent.values[0, 0] == value("x" * 10, "y" * 10)
    assert np.isnan(scores.agent.values[1]).all()


def test_gem_raw_and_recall_differ_by_the_marginal_alone() -> None:
    """The reason why their paired differences under an attack must be equal."""
    lm = ScriptedLogProb(length_rule)
    gem = Gem(name="gem_raw", prompt=PROMPT, truncate=10_000, reads="raw")
    panels = panel_of(TEXTS, OTHER), panel_of([["alpha", *TEXTS[0][1:]]], OTHER)
    of_gem, of_recall = (
        np.array([scored(mechanism, panel, lm).directed for panel in panels])
        for mechanism in (gem, bart("recall"))
    )
    np.testing.assert_allclose(np.diff(of_gem, axis=0), np.diff(of_recall, axis=0))
    assert not np.allclose(of_gem[0, 0, 0, 1:], of_recall[0, 0, 0, 1:])


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


def test_bertscore_matches_sentences_greedily(encoder: Path) -> None:
    y = "The proof is short. The data are few."
    texts = [[y, y, "Maps are drawn by hand! Nobody knows why?"], [" ", y, None]]
    panel = panel_of(texts, ("Other", "Faithful", "Strategic"))
    mechanism = BertScore(model=str(encoder))
    measured = mechanism.measure(panel, NOBODY, seed=0)
    scores = mechanism.score(measured)
    same, other = scores.agent.values[0, 1:]
    assert same == pytest.approx(1.0)
    assert other < 0.999
    assert np.isnan(scores.agent.values[1]).all(), "a blank reference, an absent text"
    assert np.isnan(scores.agent.values[0, 0])
    assert str(measured.attrs["encoder"]).startswith("sha256:")
    parts = {
        p: BertScore(model=str(encoder), part=p).score(measured) for p in ("precision", "recall")
    }  # type: ignore[arg-type]
    p, r = (parts[key].agent.values[0, 2] for key in ("precision", "recall"))
    assert other == pytest.approx(2 * p * r / (p + r))


def test_bertscore_of_tokens_is_greedy_over_the_states(encoder: Path) -> None:
    """By hand from transformers' own states: special tokens are matched, but do not count."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    y, x = "The proof is short.", "Few data and a long proof"
    panel = panel_of([[y, x]], ("Other", "Faithful"))
    found = BertScore(model=str(encoder), level="token").measure(panel, NOBODY, seed=0)
    tokens, model = AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder)

    def states(text: str) -> tuple[torch.Tensor, torch.Tensor]:
        read = tokens(text, return_tensors="pt", return_special_tokens_mask=True)
        special = read.pop("special_tokens_mask")[0].bool()
        with torch.inference_mode():
            read.pop("token_type_ids", None)
            one = model(**read).last_hidden_state[0].double()
        return one / one.norm(dim=-1, keepdim=True), ~special

    (a, mine), (b, theirs) = states(x), states(y)
    cosine = a @ b.T
    assert float(found["precision"].values[0, 1, 0]) == pytest.approx(
        float(cosine.max(1).values[mine].mean()), abs=1e-6
    )
    assert float(found["recall"].values[0, 1, 0]) == pytest.approx(
        float(cosine.max(0).values[theirs].mean()), abs=1e-6
    )


def test_bleu_as_nltk_counts_it() -> None:
    from nltk.translate.bleu_score import sentence_bleu

    x, y = "The proof is short and clear. Data are few.", "The proof is short and dull. Few data."
    panel = panel_of([[y, x, "Nothing alike"]], ("Other", "Faithful", "Style"))
    found = Bleu(by="nltk").measure(panel, NOBODY, seed=0)["directed"].values[0, 1:, 0]
    words = ["The", "proof", "is", "short", "and", "clear", ".", "Data", "are", "few", "."]
    against = ["The", "proof", "is", "short", "and", "dull", ".", "Few", "data", "."]
    assert found[0] == pytest.approx(sentence_bleu([against], words)) and found[0] > 0.3
    assert found[1] == pytest.approx(0, abs=1e-70)


def test_examiner_grades_candidates_from_source_and_text() -> None:
    def rule(request: ChatRequest) -> str | None:
        text = request.messages[-1].content
        if "poor" in text:
            return None
        return f"<overall_score>{9 if 'good' in text else 4}</overall_score>"

    lm = ScriptedChat(rule)
    panel = panel_of([["good", "fair", "poor", None, "peer"]], (*["Faithful"] * 4, "Other"))
    mechanism = LmExaminer(Prompt("lm_examiner.txt"))
    scores = scored(mechanism, panel, lm)
    np.testing.assert_array_equal(scores.agent.values[0], [9, 4, np.nan, np.nan, np.nan])
    assert scores.directed is None, "it does not use y"
    assert len(lm.seen) == 3, "no call for an absent text or a reference"
    assert all("source 0" in request.messages[-1].content for request in lm.seen)
    assert {(request.temperature, request.max_tokens) for request in lm.seen} == {(0.0, 4000)}
    bare = Panel((Item("i", ""),), (Agent("a"), Agent("b")), (("good", "fair"),))
    mechanism.measure(bare, lm, seed=0)
    assert "[Work]\nNot available\n" in lm.seen[-1].messages[-1].content


@pytest.mark.parametrize("mechanism", [Rouge(kind="rougeL"), Bleu()])
def test_surface_metrics_use_peers_where_nobody_wrote_a_reference(mechanism: Any) -> None:
    texts = [["the cat sat on a mat", "the cat sat on a mat", "dogs run in parks", None]]
    panel = panel_of(texts, ("Faithful", "Other", "Other", "Strategic"))
    scores = scored(mechanism, panel)
    assert scores.directed is not None
    same, different = scores.directed.values[0, 0, 1:3]
    assert same == pytest.approx(1.0) and different < 0.1
    assert scores.agent.values[0, 0] == pytest.approx((same + different) / 2)
    assert np.isnan(scores.agent.values[0, 1:]).all(), "references and absent texts"
    items = tuple(replace(item, reference="dogs run in parks") for item in panel.items)
    known = scored(mechanism, replace(panel, items=items))
    assert known.directed is None
    assert known.agent.values[0, 2] == pytest.approx(1.0), "a human reference comes first"
    assert mechanism.reads == "raw"


def test_an_examiner_of_reviews_is_for_reviews(tmp_path: Path) -> None:
    """It graded a user's summaries as "feedback on work"."""
    examiner = LmExaminer(Prompt("lm_examiner.txt"))
    panel = panel_of([["a", "b"]])
    with pytest.raises(ConfigError, match=r"is for peer_review.*dataset\.task=peer_review"):
        examiner.fits(panel)
    examiner.fits(replace(panel, task="peer_review"))
    own = tmp_path / "own.txt"
    own.write_text("Grade {text}")
    LmExaminer(Prompt(str(own))).fits(panel)
