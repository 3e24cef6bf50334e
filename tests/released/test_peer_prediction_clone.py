"""Peer review in a clone: 29 other agents, the Reference counted as Faithful, texts in the logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.peer_prediction.domain import TAXONOMY
from experiments.peer_prediction.release import list_domains, read_domain
from experiments.peer_prediction.scores import (
    GOOD_FAITH,
    PROBLEMATIC,
    group_indices,
    group_mask,
    pair_scores,
)
from judgelab.core.errors import DataError

NAMES = [
    "Reference",
    *(n for names in TAXONOMY["peer_review"].values() for n in names if n != "Reference"),
]
ITEMS = (0, 2, 10)
RUN = "peer_review_results_100"
LOG = "log_individual_examples/peer_prediction_example_{}.json"


def dump(path: Path, values: object) -> None:
    """Write JSON, making the folders on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Three reviews' worth of files, in the layout of the repository."""
    rng = np.random.default_rng(0)
    n = len(NAMES)
    root = tmp_path / "eval_results" / RUN
    for one in ITEMS:
        wins = rng.choice([0.0, 0.5, 1.0], (n, n))
        common = {"example_idx": one, "condition_keys": NAMES}
        logp = -rng.random((n, n))
        log = {
            **common,
            "reference": f"Paper {one}",
            "translations": [f"Review {one} by {name}" for name in NAMES],
            "logp_base": (-rng.random(n) - 1).tolist(),
            "logp_cond": logp.tolist(),
            "gppm_normalized": (-logp.mean(0)).tolist(),
            "token_counts": list(range(2 * n)),
        }
        judge = {**common, "win_matrix": wins.tolist(), "metadata": {"total_comparisons": 811}}
        dump(root / LOG.format(one), log)
        dump(root / f"llm_context_individual_examples/judge_with_context_example_{one}.json", judge)
    return tmp_path


def test_peer_review_reads(clone: Path) -> None:
    assert list_domains(clone) == [("peer_review", None)]
    data = read_domain(clone, "peer_review")
    assert (data.task, len(data.agents), data.agents[0].reference) == ("peer_review", 29, True)
    assert data.agents[0].category == "Faithful"
    assert data.ids("gppm").tolist() == list(ITEMS)
    assert data.pairs("tvd_mi") is None and data.pairs("judge_without_context") is None
    assert data.arrays["tokens"][0].tolist() == list(range(29, 58))
    assert (data.failed("judge_with_context") == 1).all()  # of 29 x 28 calls 811 came back
    panel = data.panel()
    assert [item.id for item in panel.items] == ["0", "2", "10"] and panel.task == "peer_review"
    assert panel.items[2].source == "Paper 10"
    assert panel.items[2].reference == "Review 10 by Reference"


def test_sources_that_the_logs_lack_are_those_of_the_data_file(clone: Path) -> None:
    dump(clone / "data" / "peer_review_200.json", [{"input": f"Work {k}"} for k in range(11)])
    for file in clone.rglob("peer_prediction_example_*.json"):
        file.write_text(file.read_text().replace('"reference"', '"lost"'))
    items = read_domain(clone, "peer_review").panel().items
    assert [item.source for item in items] == ["Work 0", "Work 2", "Work 10"]


def test_the_reference_is_paired_but_not_under_test(clone: Path) -> None:
    data = read_domain(clone, "peer_review")
    pairs = group_indices(data, GOOD_FAITH)
    assert len(pairs) == 16 and pairs[0] == 0
    for corrected in (False, True):
        assert group_mask(data, GOOD_FAITH, corrected=corrected).sum() == 15
        assert group_mask(data, PROBLEMATIC, corrected=corrected).sum() == 13
    order = [data.agents[i].name for i in group_indices(data, PROBLEMATIC)]
    assert order == [*TAXONOMY["peer_review"]["Strategic"], *TAXONOMY["peer_review"]["Low Effort"]]


def test_released_judge_pairs_compare_with_the_reference(clone: Path) -> None:
    data = read_domain(clone, "peer_review")
    wins = data.pairs("judge_with_context")
    scores = pair_scores(data, "judge_with_context", corrected=False)
    assert wins is not None and scores is not None
    quality = [(wins[1, i, 0] + 1 - wins[1, 0, i]) / 2 for i in (3, 7)]
    assert scores[1, 3, 7] == scores[1, 7, 3] == min(quality)
    assert scores[1, 0, 3] == min(0.5, quality[0])


def test_two_runs_of_one_domain_are_told_apart(clone: Path) -> None:
    root, log = clone / "eval_results", LOG.format(0)
    dump(root / f"iclr_{RUN}" / log, json.loads((root / RUN / log).read_text()))
    found = list_domains(clone)
    assert len(found) == 2 and ("peer_review", None) in found
    assert sorted(len(read_domain(clone, *key).ids("mi")) for key in found) == [1, 3]


def test_an_attacked_run_belongs_to_the_folder_with_its_files(clone: Path) -> None:
    base = clone / "eval_results"
    run = "peer_review_gpt_4o_mini_20250618_231942"
    dump(base / RUN / f"{run}_mi_gppm.json", {})
    file = "tvd_mi_individual_examples/tvd_mi_example_0.json"
    matrix = {"condition_keys": NAMES[:2], "tvd_mi_matrix": [[0, 1], [0.25, 0]]}
    dump(base / f"{run}_pattern_transformed_results" / file, {"example_idx": 0, **matrix})
    assert list_domains(clone) == [("peer_review", None), ("peer_review", "pattern")]
    data = read_domain(clone, "peer_review", "pattern")
    assert data.arrays["tvd_mi"][0, 1, 0] == 0.25
    assert np.isnan(data.completed("tvd_mi")).all()  # the file counts no calls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:200], "not readable JSON"),
        (lambda text: text.replace("logp_cond", "lost"), "lacks the field 'logp_cond'"),
    ],
)
def test_damaged_files_are_named(clone: Path, change: Any, message: str) -> None:
    file = next(clone.rglob("peer_prediction_example_0.json"))
    file.write_text(change(file.read_text()))
    with pytest.raises(DataError, match=message) as refused:
        read_domain(clone, "peer_review")
    assert str(file) in str(refused.value)
