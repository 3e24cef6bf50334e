"""Small audits as their study leaves them, one of each kind of data, for tests of the report."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tests.judgment_tables import audited, made_classes, made_grades, made_pairs, made_raters


def written(result: Any) -> dict[str, Any]:
    """What Result.to_json gives after a round through JSON (keys sorted)."""
    return dict(json.loads(json.dumps(result.to_json(), sort_keys=True)))


def audit_result(accuracies: tuple[float, ...] = (0.95, 0.78, 0.5, 0.93)) -> dict[str, Any]:
    """Judges of pairs that are right with these probabilities."""
    return written(audited(made_pairs(200, accuracies), minimum=0.8))


def kinds() -> dict[str, dict[str, Any]]:
    """Kind of data -> an audit."""
    gate = made_classes([[14, 13], [5, 88]], unlabelled=[53, 347])
    many = made_pairs(200, tuple(np.linspace(0.4, 0.97, 40)))
    tables = {
        "category": audited(gate, sampled=True),
        "pairs": audited(made_raters(judges=(0.7,))),
        "grades": audited(made_grades(noise=(0.6,))),
        "many judges": audited(many, minimum=0.8),
    }
    return {name: written(one) for name, one in tables.items()}
