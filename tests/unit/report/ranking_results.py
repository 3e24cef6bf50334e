"""Small tables of the ranking studies, for tests of the report."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame

ESTIMATE: dict[str, Any] = {"value": 0.8, "low": 0.7, "high": 0.9, "n": 12, "unscored": 0}
MODELS = {"algorithm_1": 0.8, "bias": 0.75, "line": 0.85}


def ranking_tables() -> dict[str, DataFrame]:
    """One or two rows of every table that a drawing of rankings needs."""
    curve = {"confidence": 0.9, "standard_error": 0.01, "closed_form": 0.9}
    return {
        "systems": DataFrame(
            [
                {"rank": 1, "system": "a", "above_next_people": 0.9, **ESTIMATE},
                {"rank": 2, "system": "b", "above_next_people": None, **ESTIMATE},
            ]
        ),
        "by_items": DataFrame([{"r": 0.4, "n": n, "delta": 0.1, **curve} for n in (50, 100)]),
        "by_correlation": DataFrame([{"r": r, "n": 9, "delta": 0.1, **curve} for r in (0.2, 0.4)]),
        "trade_off": DataFrame(
            [
                {"delta": 0.1, "r": r, "confidence": 0.95, "items": 80 / r, "items_with_bias": bias}
                for r, bias in ((0.2, None), (0.4, 900.0))
            ]
        ),
        "errors": DataFrame(
            {
                "from": [0.0, 0.3],
                "to": [0.3, None],
                "simulated": [0.7, 0.3],
                "value": [0.6, 0.4],
                "low": [0.5, 0.3],
                "high": [0.7, 0.5],
                "n": [40, 40],
                "unscored": [0, 0],
            }
        ),
        "observed": DataFrame(
            [{"items": i, "delta": 0.1, **MODELS, **ESTIMATE} for i in ("unpaired", "paired")]
        ),
        "calibration": DataFrame(
            [{"model": m, "predicted": p, **ESTIMATE} for m, p in (("x", 0.7), ("y", 0.8))]
        ),
        "noise": DataFrame(
            [
                {"noise": s, "r": r, "simulated": r, "simulated_sd": 0.01, "n": 90}
                for s, r in ((0.1, 0.9), (1.0, 0.2))
            ]
        ),
        "plan": DataFrame(
            [{"r": 0.3, "delta": 0.1, "sd": 1, "confidence": 0.95, "ceiling": 0.99, "items": 50.0}]
        ),
        "plan_curve": DataFrame([{"r": 0.3, "n": n, "confidence": n / 120} for n in (60, 110)]),
    }
