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
            f"dataset.path={data / 'peer_prediction'}",
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
    found = summary(tmp_path, shared_data, f"mechanism={mechanism}", f"attack={attack}", *marker)
    assert round(found["clean/effect_size"], 2) == d
    assert round(found["change/score"], 3) == delta
    assert round(found["change/effect_size"], 3) == delta_d
    if pair_auc is not None and attacked_auc is not None:
        assert round(found["clean/pair_auc"], 3) == pair_auc
        # Table 5 takes all pairs, Table 3 a balanced draw of them: equal to within its noise.
        assert found["attacked/pair_auc"] == pytest.approx(attacked_auc, abs=0.003)


@pytest.mark.slow
def test_both_orders_and_complete_items_by_default(shared_data: Path, tmp_path: Path) -> None:
    corrected = ["study.definition=corrected", "evaluation_lm.incomplete=unscored"]
    found = summary(
        tmp_path, shared_data, "mechanism=judge_no_context", "dataset.domain=xsum", *corrected
    )
    assert round(found["clean/effect_size"], 2) == 0.47
    assert found["clean/effect_size_n"] == 143
    assert found["clean/effect_size_unscored"] == 57
    assert found["clean/unscored_texts"] == 57 * 30
