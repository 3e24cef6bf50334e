"""Baselines and controls."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from judgelab.core.panel import Agent, Item, Panel
from judgelab.mechanism.bleu import Bleu
from judgelab.mechanism.length import Length
from judgelab.mechanism.random import Random
from judgelab.mechanism.rouge import Rouge
from tests.scripted import NOBODY, panel_of

SAMPLES = Path(__file__).parents[3] / "judgelab/dataset/samples"
Kind = Literal["rouge1", "rouge2", "rougeL"]
TEXTS = ("The ferry from Aldby sank on Monday after a fire.", "A ferry sank.", "Taxes rise.", None)
PANEL = Panel(
    (Item("1", "s", TEXTS[0]), Item("2", "s", None)),
    tuple(Agent(n) for n in "abcd"),
    (TEXTS, TEXTS),
)


@pytest.mark.parametrize("mechanism", [Rouge(), Bleu()])
def test_reference_metrics_rank_and_leave_out_what_they_cannot_score(mechanism) -> None:  # type: ignore[no-untyped-def]
    scores = mechanism.score(mechanism.measure(PANEL, NOBODY, seed=0))
    row = scores.agent.values[0]
    assert row[0] == pytest.approx(1.0) and row[0] > row[1] > row[2] >= 0 and np.isnan(row[3])
    assert np.isnan(scores.agent.values[1]).all(), "no reference, no score"
    assert scores.pair is not None
    assert scores.pair.values[0, 0, 1] == row[1], "a pair is as good as its weaker text"
    assert np.isnan(scores.pair.values[0, 0, [0, 3]]).all()


def sample_texts() -> list[str]:
    """Real texts of three languages and kinds, one without words, one of one word."""
    texts = ["", "Taxes", "  \n"]
    for name in ("xsum", "wmt14", "peer_grading", "samsum"):
        for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()[:2]:
            texts.append(" ".join(line.split()[:120]))
    return texts


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
def test_rouge_is_rouge_scores_to_the_bit(kind: Kind) -> None:
    texts = sample_texts()
    scorer = RougeScorer([kind], use_stemmer=True)
    mine = Rouge(kind, peers=True).measure(panel_of([texts]), NOBODY, seed=0)["directed"].values[0]
    for i, text in enumerate(texts):
        for j, reference in enumerate(texts):
            expected = scorer.score(reference, text)[kind].fmeasure
            assert np.isnan(mine[i, j]) if i == j else mine[i, j] == expected


def test_bleu_is_sacrebleus_to_the_bit() -> None:
    ours, peer = Bleu().comparison(), BLEU(effective_order=True)
    for text, reference in permutations([*sample_texts()[:12], "", "a b"], 2):
        assert ours(text, reference) == peer.sentence_score(text, [reference]).score / 100


def test_length_counts() -> None:
    words = Length().score(Length().measure(PANEL, NOBODY, seed=0))
    assert words.agent.values[0, :3].tolist() == [10, 3, 2]
    whole = Length().score(Length().measure(panel_of([["a b", "c"]]), NOBODY, seed=0))
    assert whole.pair is not None
    assert whole.pair.values[0, 0, 1] == 1


def test_random_depends_on_seed_item_and_agent_only() -> None:
    first = Random().measure(panel_of([["a", "b"], ["c", "d"]]), NOBODY, seed=1)["value"].values
    other = Random().measure(panel_of([["x", "y"], ["z", "w"]]), NOBODY, seed=1)["value"].values
    np.testing.assert_array_equal(first, other)
    assert len(set(first.ravel())) == 4
    assert (
        Random().measure(panel_of([["a", "b"]]), NOBODY, seed=2)["value"].values != first[0]
    ).all()
