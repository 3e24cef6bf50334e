"""Long tables of what was measured and scored: the record from which all else can be redone."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.engine.context import Context

SCORES = "records/clean_scores.parquet"
"""What ``write_records`` makes of the scores of the clean panel."""


def write_records(
    context: Context,
    panel: Panel,
    measured: xr.Dataset,
    scores: Scores | None = None,
    *,
    name: str = "clean",
    pairs: bool = False,
) -> None:
    """Keep a panel's measurements, texts and scores in the run's folder; pairs where asked for.

    Studies do so before anything that could fail on odd numbers.
    """
    tables = {"measurements": measurement_records(measured), "texts": text_records(panel)}
    if scores is not None:
        tables["scores"] = score_records(panel, scores)
        if pairs and scores.directed is not None:
            tables["pairs"] = pair_records(scores.directed)
    for kind, table in tables.items():
        context.run_dir.write_table(f"records/{name}_{kind}.parquet", table)


def measurement_records(data: xr.Dataset) -> pd.DataFrame:
    """One row per item, agent (and peer, and draw), one column per measured quantity.

    Quantities that do not depend on every dimension are repeated along the others, so that each
    row stands on its own; one that is known for each label has a column for each. Diagonal rows
    (agent = peer) carry no measurement and are left out.
    """
    data = _label_by_label(data)
    used = {str(dim) for variable in data.data_vars.values() for dim in variable.dims}
    dims = [dim for dim in ("item", "agent", "peer", "metric", "draw") if dim in used]
    table = data.drop_dims(set(data.sizes) - used).to_dataframe(dim_order=dims).reset_index()
    if "peer" in table and data.sizes["agent"] > 1:
        table = table[table["agent"] != table["peer"]]
    return table.drop(columns="reference", errors="ignore").reset_index(drop=True)


def _label_by_label(data: xr.Dataset) -> xr.Dataset:
    """``probability`` [..., label] as ``probability one``, ``probability two``, ..."""
    if "label" not in data.dims:
        return data
    spread = {name: values for name, values in data.data_vars.items() if "label" in values.dims}
    columns = {
        f"{name} {label}": values.sel(label=label, drop=True)
        for name, values in spread.items()
        for label in data["label"].values
    }
    return data.drop_vars([*spread, "label"]).assign(columns)


def score_records(panel: Panel, scores: Scores) -> pd.DataFrame:
    """One row per item and agent: category, score (NaN: unscored) and human score."""
    rows = [
        {
            "item": item.id,
            "agent": agent.name,
            "category": agent.category,
            "reference": agent.reference,
            "score": float(value),
            "human": item.human.get(agent.name),
        }
        for item, values in zip(panel.items, scores.agent.values, strict=True)
        for agent, value in zip(panel.agents, values, strict=True)
    ]
    return pd.DataFrame(rows)


def text_records(panel: Panel) -> pd.DataFrame:
    """One row per item and agent: the text as the mechanism saw it. Trackers do not get this."""
    rows = [
        {"item": item.id, "agent": agent.name, "text": text}
        for item, texts in zip(panel.items, panel.texts, strict=True)
        for agent, text in zip(panel.agents, texts, strict=True)
    ]
    return pd.DataFrame(rows)


def pair_records(directed: xr.DataArray) -> pd.DataFrame:
    """One row per item, candidate and reference: the score of the one against the other."""
    table = directed.drop_vars("reference", errors="ignore").to_dataframe("score").reset_index()
    return table.dropna(subset="score").reset_index(drop=True)
