"""The ordinary study, fed with the authors' recorded scores, prints the paper's figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from judgelab.engine.run import execute

CONF = Path(__file__).resolve().parents[2] / "conf"


@pytest.fixture(autouse=True)
def _composer() -> Iterator[None]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def summary(root: Path, data: Path, *overrides: str) -> dict[str, Any]:
    cfg = compose(
        "config",
        overrides=[
            "experiment=tvd_mi_released",
            f"dataset.path={data}",
            f"paths.root={root}",
            "tracker=none",
            *overrides,
        ],
    )
    execute(cfg)
    found: dict[str, Any] = json.loads(next(root.glob("runs/*/result.json")).read_text())["summary"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "attack", "d", "pair_auc", "delta", "delta_d", "attacked_auc"),
    [
        ("mi", "case_flip", 2.52, 0.689, -0.032, -1.252, 0.618),
        ("gppm", "case_flip", 3.76, 0.638, -0.014, -0.540, 0.562),
        ("tvd_mi", "case_flip", 7.23, 0.772, 0.070, -2.259, 0.708),
        ("judge", "case_flip", 2.70, 0.541, -0.111, -1.090, 0.520),
        ("judge_no_context", "case_flip", 0.05, None, -0.110, -1.000, None),
        ("judge", "pattern", 2.70, 0.541, -0.338, -2.074, 0.505),
    ],
)
def test_reddit_cells_of_tables_2_to_5(
    shared_data: Path,
    tmp_path: Path,
    mechanism: str,
    attack: str,
    d: float,
    pair_auc: float | None,
    delta: float,
    delta_d: float,
    attacked_auc: float | None,
) -> None:
    marker = ["attack.tag=source"] if attack == "pattern" else []
    data = shared_data / "peer_prediction"
    found = summary(tmp_path, data, f"mechanism={mechanism}", f"attack={attack}", *marker)
    assert round(found["clean/effect_size"], 2) == d
    assert round(found["change/score"], 3) == delta
    assert round(found["change/effect_size"], 3) == delta_d
    if pair_auc is not None and attacked_auc is not None:
        assert round(found["clean/pair_auc"], 3) == pair_auc
        assert round(found["attacked/pair_auc"], 3) == attacked_auc


@pytest.mark.slow
def test_both_orders_and_every_item_by_default(shared_data: Path, tmp_path: Path) -> None:
    """The figures of complete items alone are those of incomplete=unscored."""
    corrected = ["mechanism=judge_no_context", "dataset.domain=xsum", "study.definition=corrected"]
    found = {
        how: summary(
            tmp_path / how,
            shared_data / "peer_prediction",
            *corrected,
            f"evaluation_lm.incomplete={how}",
        )
        for how in ("per_call", "unscored")
    }
    assert round(found["unscored"]["clean/effect_size"], 2) == 0.47
    assert found["unscored"]["clean/effect_size_n"] == 143
    assert found["unscored"]["clean/effect_size_unscored"] == 57
    assert found["unscored"]["clean/unscored_texts"] == 57 * 30
    assert round(found["per_call"]["clean/effect_size"], 2) == 0.49
    assert found["per_call"]["clean/effect_size_n"] == 200


@pytest.mark.slow
def test_iclrs_judge_with_context_is_right_more_often_than_not(
    clones: Path, tmp_path: Path
) -> None:
    """4 of 100 items are complete, and d of those is -.90; 98.3 % of all calls were."""
    data = clones / "llm-peer-prediction"
    found = summary(
        tmp_path,
        data,
        "mechanism=judge",
        "dataset.domain=iclr2023",
        "study.definition=corrected",
        "evaluation_lm.incomplete=per_call",
    )
    assert round(found["clean/effect_size"], 2) == 0.32 and found["clean/effect_size_low"] > 0
    assert (found["clean/effect_size_n"], found["clean/failed_calls"]) == (100, 1409)
    assert found["clean/effect_size_worst"] < 0 < found["clean/effect_size_best"]


PADDING = {  # Table 4: delta, delta d; Table 5
    "mi": (0.201, -1.413, 0.614),
    "gppm": (0.080, -0.238, 0.603),
    "tvd_mi": (0.029, -0.438, 0.760),
    "judge": (-0.064, -0.015, 0.535),
}


@pytest.mark.slow
def test_the_experiment_gives_tables_2_to_5_of_a_clone(clones: Path, tmp_path: Path) -> None:
    """Padding and Multi-News are in no export."""
    data = clones / "llm-peer-prediction"
    for mechanism, (delta, delta_d, auc) in PADDING.items():
        root = tmp_path / mechanism
        found = summary(root, data, f"mechanism={mechanism}", "attack=padding")
        assert round(found["change/score"], 3) == delta
        assert round(found["change/effect_size"], 3) == delta_d
        assert round(found["attacked/pair_auc"], 3) == auc
    found = summary(tmp_path / "m", data, "mechanism=gppm", "dataset.domain=multi_news")
    assert (
        round(found["clean/effect_size"], 2) == 2.70 and round(found["clean/pair_auc"], 3) == 0.674
    )
