"""The statistics reproduce the published tables of the TVD-MI paper from the released matrices.

Scores are formed here as the released code forms them (see each helper), because only the
statistics are under test: Tables 2 and 3 to the printed digit, Tables 4 and 5 for one attack,
appendix B.1 from the paper's own Table 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from judgelab.stats.discrimination.auc import macro_auc, pair_auc
from judgelab.stats.discrimination.effect_size import (
    auc_delta,
    effect_size_delta,
    group_difference,
    paired_effect_size,
    score_delta,
)
from judgelab.stats.discrimination.regression import quadratic_against_linear

Array = NDArray[np.float64]
GOOD, BAD = ("Faithful", "Style"), ("Strategic", "Low Effort")
DOMAINS = ("xsum", "reddit_tifu")
MECHANISMS = ("mi", "gppm", "tvd_mi", "judge_with_context", "judge_without_context")


@dataclass(frozen=True)
class Release:
    """One summarisation domain's released matrices, and its agents."""

    arrays: dict[str, NDArray[np.generic]]
    names: list[str]
    categories: list[str]

    def matrix(self, name: str) -> Array:
        """[items, agents, agents] as float64."""
        return self.arrays[name].astype(np.float64)

    def members(self, *categories: str) -> NDArray[np.intp]:
        """Agent indices, category after category, each in the order of the released code.

        That is the order of the agents, but "Overly Technical" comes last but one of the Style
        list. Down-sampling draws pairs by position, so the third decimal depends on it.
        """
        ordered = [i for c in categories for i, own in enumerate(self.categories) if own == c]
        if "Style" in categories:
            misplaced = self.names.index("Overly Technical")
            ordered.remove(misplaced)
            ordered.insert(-1, misplaced)
        return np.array(ordered)

    def mask(self, categories: tuple[str, ...]) -> NDArray[np.bool_]:
        """Boolean mask [agents]."""
        return np.isin(self.categories, categories)


@pytest.fixture(scope="module")
def release(shared_data: Path) -> Callable[[str], Release]:
    """Load one domain (or domain__attack) of the release; skips where it is not at hand."""
    folder = shared_data / "peer_prediction"

    def load(name: str) -> Release:
        path = folder / "matrices" / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"no released matrices of {name}")
        agents = json.loads((folder / "meta.json").read_text())["agents"][name.split("__")[0]]
        with np.load(path) as archive:
            arrays = {key: archive[key] for key in archive.files}
        return Release(
            arrays,
            [agent["name"] for agent in agents],
            [agent["category_code"] for agent in agents],
        )

    return load


@pytest.fixture(scope="module")
def paper(shared_data: Path) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """The tables as printed."""
    path = shared_data / "peer_prediction" / "paper_tables.json"
    if not path.is_file():
        pytest.skip("no printed tables")
    tables: dict[str, dict[str, dict[str, dict[str, float]]]] = json.loads(path.read_text())
    return tables


def off_diagonal(matrix: Array) -> Array:
    """The same with a NaN diagonal (the release stores 0 there)."""
    masked = matrix.copy()
    index = np.arange(matrix.shape[1])
    masked[:, index, index] = np.nan
    return masked


def agent_scores(data: Release, mechanism: str) -> Array:
    """[items, agents] as in Table 2: judges by row only, GPPM with the released norm."""
    if mechanism == "gppm":
        return -data.matrix("gppm_normalized_released")
    matrix = off_diagonal(data.matrix(mechanism))
    if mechanism.startswith("judge"):
        return np.asarray(np.nanmean(matrix, axis=2))
    return np.asarray((np.nanmean(matrix, axis=2) + np.nanmean(matrix, axis=1)) / 2)


def pair_scores(data: Release, mechanism: str) -> Array:
    """[items, agents, agents] as in Table 3: judges by their verdicts against the Reference."""
    matrix = data.matrix("logp_cond" if mechanism == "gppm" else mechanism)
    if not mechanism.startswith("judge"):
        return (matrix + np.swapaxes(matrix, 1, 2)) / 2
    reference = 0
    wins = (matrix[:, :, reference] + 1 - matrix[:, reference, :]) / 2
    return np.minimum(wins[:, :, None], wins[:, None, :])


def differences(data: Release, mechanism: str) -> Array:
    """[items]: good-faith minus problematic."""
    return group_difference(agent_scores(data, mechanism), data.mask(GOOD), data.mask(BAD))


def aucs(data: Release, mechanism: str, balanced: bool) -> Array:
    """[items]: pair AUC with the Reference in neither class."""
    seeds = data.arrays[
        "item_ids_log" if mechanism in ("mi", "gppm") else "item_ids_" + mechanism.split("_mi")[0]
    ]
    return pair_auc(
        pair_scores(data, mechanism),
        data.members(*GOOD),
        data.members(*BAD),
        balanced=balanced,
        item_seeds=[int(seed) for seed in seeds],
    )


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_table_2_effect_sizes(
    release: Callable[[str], Release],
    paper: dict[str, dict[str, dict[str, dict[str, float]]]],
    domain: str,
    mechanism: str,
) -> None:
    printed = paper["table2_cohens_d"][domain][mechanism]
    found = paired_effect_size(differences(release(domain), mechanism))
    assert round(found.value, 2) == printed["d"]
    assert found.half_width == pytest.approx(printed["ci_half"], abs=0.02)
    assert (found.n, found.unscored) == (200, 0)
    # All of these are significant at .001 but the blind judge on Reddit (d = 0.05).
    assert (found.p < 0.001) == (abs(printed["d"]) > 0.1)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("mechanism", MECHANISMS[:4])
def test_table_3_balanced_pair_auc(
    release: Callable[[str], Release],
    paper: dict[str, dict[str, dict[str, dict[str, float]]]],
    domain: str,
    mechanism: str,
) -> None:
    printed = paper["table3_auc"][domain][mechanism]
    found = macro_auc(aucs(release(domain), mechanism, balanced=True))
    assert round(found.value, 3) == printed["auc"]
    assert found.half_width == pytest.approx(printed["ci_half"], abs=0.0015)
    assert found.n == 200


def test_table_3_depends_on_the_balancing_seed(release: Callable[[str], Release]) -> None:
    data = release("xsum")
    balanced = float(aucs(data, "gppm", balanced=True).mean())
    every_pair = float(aucs(data, "gppm", balanced=False).mean())
    assert round(balanced, 4) == 0.6944
    assert round(every_pair, 4) == 0.6961


TABLE_4_CASE_FLIP = {
    "mi": (-0.0319, 0.0059, -1.252),
    "gppm": (-0.0144, 0.0397, -0.540),
    "tvd_mi": (0.0698, 0.0056, -2.259),
    "judge_with_context": (-0.1114, 0.0045, -1.090),
    "judge_without_context": (-0.1095, 0.0044, -1.000),
}
"""Score change, its true half width (the paper prints .050 throughout), effect-size change."""


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_table_4_case_flip(release: Callable[[str], Release], mechanism: str) -> None:
    clean, attacked = release("reddit_tifu"), release("reddit_tifu__case_flip")
    change, half_width, effect = TABLE_4_CASE_FLIP[mechanism]
    score = score_delta(agent_scores(clean, mechanism), agent_scores(attacked, mechanism))
    assert score.value == pytest.approx(change, abs=6e-5)
    assert score.half_width == pytest.approx(half_width, rel=0.06)
    d = effect_size_delta(differences(clean, mechanism), differences(attacked, mechanism))
    assert round(d.value, 3) == effect
    assert d.low < d.value < d.high < 0


@pytest.mark.parametrize(
    ("mechanism", "attacked_auc"),
    [("mi", 0.618), ("gppm", 0.562), ("tvd_mi", 0.708), ("judge_with_context", 0.520)],
)
def test_table_5_case_flip(
    release: Callable[[str], Release], mechanism: str, attacked_auc: float
) -> None:
    clean = aucs(release("reddit_tifu"), mechanism, balanced=False)
    attacked = aucs(release("reddit_tifu__case_flip"), mechanism, balanced=False)
    assert round(float(attacked.mean()), 3) == attacked_auc
    change = auc_delta(clean, attacked)
    assert change.value == pytest.approx(attacked.mean() - clean.mean(), abs=1e-12)
    assert change.high < 0 and change.p < 0.001


@pytest.mark.parametrize(
    ("mechanism", "r2_linear", "r2_quadratic", "p", "peak"),
    [
        ("mi", 0.185, 0.297, 0.3248, 7.0),
        ("gppm", 0.102, 0.845, 0.0007, 11.5),
        ("tvd_mi", 0.022, 0.650, 0.0095, 11.0),
    ],
)
def test_appendix_b1_from_the_printed_table_2(
    paper: dict[str, dict[str, dict[str, dict[str, float]]]],
    mechanism: str,
    r2_linear: float,
    r2_quadratic: float,
    p: float,
    peak: float,
) -> None:
    rows = json.loads(json.dumps(paper["table2_cohens_d"]))
    compression = [row["compression"] for row in rows.values()]
    fit = quadratic_against_linear(compression, [abs(r[mechanism]["d"]) for r in rows.values()])
    assert fit.r2_linear == pytest.approx(r2_linear, abs=6e-4)
    assert fit.r2_quadratic == pytest.approx(r2_quadratic, abs=6e-4)
    assert fit.p == pytest.approx(p, abs=6e-5)
    assert fit.peak == pytest.approx(peak, abs=0.06)
    assert fit.curvature < 0 and fit.n == 10
