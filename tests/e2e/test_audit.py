"""study=audit on a user's own table, with judges of known faults behind a server."""

from __future__ import annotations

import re
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
    "oracle": ("trust", r"agrees enough: .*people agree with each other.*not fall for format"),
    "noisy": ("trust after correction", "saves labels: "),
    "lengthy": (
        "do not trust",
        r"no better than a control: .*control that knows nothing of quality \(longer\)",
    ),
    "first": ("do not trust", "no better than a control: .*takes the text that is shown first 100"),
    "markers": ("do not trust", "falls for manipulation: .*format makes the same text win"),
    "garbage": ("cannot say yet", "replies without a verdict: 100 % of its replies hold no"),
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
            questions={"manipulation": {"probes": dict.fromkeys(OTHERS), "items": 60}},
        )
    assert found is not None
    assert set(found.verdicts) == set(WANTED)
    for _, row in found.tables["verdicts"].iterrows():
        verdict, why = WANTED[row["judge"]]
        said = f"{row['because']}: {row['why']}"
        assert (row["verdict"], bool(re.search(why, said))) == (verdict, True), said
