"""The GEM authors' human reviews, and what the surface metrics make of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgelab.core.errors import DataError
from judgelab.dataset.gem_released import GemReleased
from judgelab.mechanism.rouge import Rouge
from tests.scripted import NOBODY


@pytest.fixture(scope="module")
def release(shared_data: Path) -> str:
    file = shared_data / "gem" / "gem_iclr2023_300x3_reviews.parquet"
    if not file.is_file():
        pytest.skip("no reviews of the GEM release at hand")
    return str(file)


def test_three_hundred_papers_with_a_candidate_and_two_references(release: str) -> None:
    panel = GemReleased(release).load()
    assert len(panel.items) == 300
    assert [agent.reference for agent in panel.agents] == [True, False, True]
    assert all(text for row in panel.texts for text in row)
    assert panel.provenance["synopsis_is"] == {"title": 51, "title and keywords": 249}
    first = panel.items[0]
    assert (first.id, first.source) == ("ZmYHoQm0SWH", "")
    assert (first.synopsis or "").split("\n")[1].startswith("Keywords: Temporal Discretization, ")
    lengths = [len(text or "") for row in panel.texts for text in row]
    assert sum(length > 10_000 for length in lengths) > 0, "the cut at 10,000 characters matters"


def test_summaries_are_the_authors_preprocessing(release: str) -> None:
    panel = GemReleased(release, text="review_summary", limit=50).load()
    lines = [line for row in panel.texts for text in row for line in (text or "").split("\n\n")]
    assert np.mean([line.startswith("The reviewer ") for line in lines]) > 0.98
    with pytest.raises(DataError, match="evaluation papers only"):
        GemReleased(release, part="finetune").load()


def test_rouge_against_references_gives_two_scores_a_paper(release: str) -> None:
    panel = GemReleased(release, limit=2).load()
    rouge = Rouge(kind="rougeL")
    scores = rouge.score(rouge.measure(panel, NOBODY, seed=0))
    assert scores.directed is not None
    candidate = scores.directed.sel(agent="reviewer_2")
    assert int(candidate.notnull().sum()) == 4
    assert int(scores.directed.notnull().sum()) == 4
    assert 0.08 < float(candidate.mean()) < 0.3
