"""study=audit on a user's own table, with judges of known faults behind a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judgelab
from tests.reports import write_csv
from tests.servers.judging import JUDGES
from tests.servers.process import scripted

OTHERS = ("padding", "pattern", "repetition", "authority", "instruction")
PARTS = ["gate", "agreement", "estimate", "exchange", "biases", "manipulation"]
WANTED = {
    "oracle": ("trust", "agrees enough"),
    "noisy": ("trust after correction", "saves labels"),
    "lengthy": ("do not trust", "no better than a control"),
    "first": ("do not trust", "not good enough"),
    "markers": ("do not trust", "falls for manipulation"),
    "garbage": ("cannot say yet", "replies without a verdict"),
}


def entries(url: str) -> list[dict[str, Any]]:
    """Of judges.yaml."""
    shared = {
        "evaluation_lm": "openai",
        "evaluation_lm.base_url": url,
        "evaluation_lm.server": "scripted",
        "evaluation_lm.api_key_env": None,
        "evaluation_lm.limits.breaker": None,
    }
    return [{"name": name, "evaluation_lm.model": name, **shared} for name in JUDGES]


@pytest.mark.slow
def test_judges_of_known_faults_get_the_verdicts_they_deserve(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv")
    with scripted(tmp_path / "server") as server:
        found = judgelab.audit(
            tmp_path / "labels.csv",
            entries(server.url),
            parts=PARTS,
            paths__root=str(tmp_path),
            questions={"manipulation": {"probes": dict.fromkeys(OTHERS)}},
        )
    assert found is not None
    table = found.tables["verdicts"].set_index("judge")
    said = {name: (table["verdict"][name], table["because"][name]) for name in JUDGES}
    print(json.dumps(said, indent=1))
    assert said == WANTED
