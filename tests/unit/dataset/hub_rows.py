"""Rows as the Hub has them, and domains as their YAML has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from hydra.utils import instantiate

from judgelab.dataset.hub import Hub
from judgelab.dataset.provenance import SAMPLES

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"


def domain(name: str, **options: Any) -> Hub:
    config = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    loaded: Hub = instantiate({**config, **options})
    return loaded


def hub_row(name: str, number: int) -> dict[str, Any]:
    """A row in the columns the Hub has for a domain (samples add to them at most a gloss)."""
    first = json.loads((SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row: dict[str, Any] = {k: v for k, v in first.items() if k != "gloss"}
    for key in ("id", "paper_id"):
        if key in row:
            row[key] = f"row-{number}"
    if "paper_json" in row:  # one JSON text a row on the Hub
        row["paper_json"] = json.dumps(row["paper_json"])
    return row


def as_parquet(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(file)
    return file


def xsum(file: Path, **options: Any) -> Hub:
    return domain("xsum", source="path", path=str(file), **options)
