"""FRANK: rows of articles and systems as judgments of metrics beside people's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import DataError
from judgelab.dataset.rated import FILES, NO_SCORE, Frank


@pytest.fixture(scope="module")
def file(shared_data: Path) -> str:
    return str(shared_data / "judge_audit" / "frank_scores.parquet")


def test_one_cluster_an_article_and_a_stratum_a_domain(file: str) -> None:
    table = Frank(path=file).load().judgments
    assert table is not None and len(table.units) == 2246 and len(table.judges) == 15
    assert table.clusters.max() + 1 == 499 and set(table.units.stratum) == {"bbc", "cnndm"}
    asked = np.isnan(table.verdicts).sum(axis=(1, 2))
    counted = {name: reasons[NO_SCORE] for name, reasons in table.reasons.items()}
    assert counted == {name: n for name, n in zip(table.names, asked, strict=True) if n}


def test_what_is_chosen(file: str) -> None:
    panel = Frank(path=file, domain="bbc", split="test", metrics=["FactCC"], limit=10).load()
    table = panel.judgments
    assert table is not None and table.names == ("FactCC",) and len(panel.items) == 10
    assert set(table.units.item) == {item.id for item in panel.items}
    rows = pd.read_parquet(file).query("dataset == 'bbc' and split == 'test'")
    assert table.truth == pytest.approx(rows["Factuality"].to_numpy()[: len(table.units)])


def test_a_file_that_lacks_a_column_is_refused(file: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column 'Factualness'"):
        Frank(path=file, human="Factualness").load()
    pd.read_parquet(file).drop(columns="split").to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match="no column 'split'"):
        Frank(path=str(tmp_path / "a.csv")).load()


def test_a_clone_holds_the_same(file: str, tmp_path: Path) -> None:
    rows = pd.read_parquet(file).rename(columns={"item": "hash", "system": "model_name"})[::20]
    split = rows.columns.tolist().index("split")
    keys = ["hash", "model_name", "dataset", "split"]
    (tmp_path / "data").mkdir()
    for name, part in zip(
        FILES, (rows.iloc[:, : split + 1], rows[[*keys, *rows.columns[split + 1 :]]]), strict=True
    ):
        (tmp_path / "data" / name).write_text(
            json.dumps(json.loads(part.to_json(orient="records")))
        )
    table = Frank(path=file).load().judgments
    cloned = Frank(path=str(tmp_path)).load().judgments
    assert table is not None and cloned is not None and cloned.names == table.names
    assert len(cloned.units) == len(rows) and cloned.truth[3] == rows["Factuality"].iloc[3]
    (tmp_path / "data" / FILES[1]).write_text("[]")
    with pytest.raises(DataError, match="no clone of"):
        Frank(path=str(tmp_path)).load()
