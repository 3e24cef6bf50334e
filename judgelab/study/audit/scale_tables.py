"""Tables of how judges use a scale, and of what people say where a judge says k."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.trust.calibration import calibration
from judgelab.stats.trust.scale_use import scale_use


def scale_tables(table: JudgmentTable, bins: int) -> Iterator[Table]:
    """Of grades their use; of all kinds the calibration curve."""
    if table.kind == "grade":
        yield _use(table)
    yield _curve(table, bins)


def _use(table: JudgmentTable) -> Table:
    found = scale_use(table.values, table.labels, table.truth, table.clusters)
    rows: list[Row] = [
        {
            "judge": one.name,
            "distinct": int(found.distinct[k]),
            "entropy": float(found.entropy[k]),
            "entropy_of_people": found.people,
            "slope": float(found.slope[k]),
            "slope_low": float(found.slope_low[k]),
            "slope_high": float(found.slope_high[k]),
            "bias": float(found.bias[k]),
            "bias_low": float(found.bias_low[k]),
            "bias_high": float(found.bias_high[k]),
            "spread": float(found.spread[k]) if found.same_scale[k] else float("nan"),
            "n": int(found.labelled[k]),
            "clusters": int(found.clusters[k]),
        }
        for k, one in enumerate(table.judges)
        if not one.control
    ]
    note = (
        "distinct: different grades given. entropy: of their distribution, in bits: 0 where all "
        "grades are equal. slope: how much people's grade grows for one more of the judge's. "
        "bias: judge's mean minus people's, in standard deviations of people's grades; spread: "
        "standard deviation over that of people; both only where a judge uses people's levels. "
        "95 % intervals over items."
    )
    return Table("scale_use", "How do judges use the scale?", rows, note)


def _curve(table: JudgmentTable, bins: int) -> Table:
    """Of categories, ``people`` is the share of people's labels that are the judge's category."""
    known = table.labels[~np.isnan(table.labels)]
    bounds = (0.0, 1.0) if table.kind != "grade" or not known.size else (known.min(), known.max())
    rows: list[Row] = []
    named = table.kind == "category"
    for one, values in zip(table.judges, table.values, strict=True):
        if one.control:
            continue
        truth = table.truth
        if named:
            truth = np.where(np.isnan(truth) | np.isnan(values), np.nan, truth == values)
        for level in calibration(values, truth, table.clusters, bounds, bins):
            rows.append(
                {
                    "judge": one.name,
                    "judge_says": table.levels[int(level.value)] if named else level.value,
                    "share": level.share,
                    "people": level.people,
                    "people_low": level.low,
                    "people_high": level.high,
                    "n": level.n,
                }
            )
    said = {
        "preference": "judge_says: 1 where both orders prefer the text stored first, 0 the other, "
        ".5 where they differ or tie; people: how often people prefer the text stored first",
        "grade": "judge_says: the judge's grade (mean of a tenth of them where it scores on a "
        "line); people: mean of people's grades there",
        "category": "people: how often people choose this category where the judge does",
    }[table.kind]
    note = f"{said}. share: of the judge's values. n: labelled. 95 % intervals over items."
    return Table("calibration", "What do people say where a judge says so?", rows, note)
