"""What is made of what a server sends: reasons, and whether the call is settled."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from judgelab.endpoint.limits import Limits
from judgelab.evaluation_lm.openai import OpenAI
from tests.servers.process import scripted

HASTY = Limits(timeout=2.0, backoff=0.01, longest_wait=0.05, retries=1, concurrency=4)
TARGETS = [f"word {k}" for k in range(12)]
PAIRS = [(0, t) for t in range(len(TARGETS))]


@pytest.mark.parametrize("mode", ["echo", "prompt"])
@pytest.mark.parametrize(
    ("fault", "reason", "settled"),
    [
        ("500xall", "HTTP 500: trouble with Bearer *** after 2 attempts", False),
        ("400", "HTTP 400: trouble with Bearer ***", True),
        ("malformed", "malformed answer (not JSON)", True),
        ("empty", "malformed answer (it answers without the field that ", True),
    ],
)
def test_a_pair_without_a_score_says_why_and_whether_it_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, fault: str, reason: str,
    settled: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    with scripted(tmp_path) as server:
        lm = OpenAI("m", server.url, HASTY, logprobs=mode)  # type: ignore[arg-type]
        assert not math.isnan(lm.logprob(["x "], ["y"], [(0, 0)]).total[0])
        server.change(faults=[fault], share=1)
        rows = lm.logprob(["So then: "], TARGETS, PAIRS).rows
        lm.close()
    missing = [row for row in rows if math.isnan(row.total)]
    assert len(missing) == len(rows)
    assert {row.settled for row in missing} == {settled}
    assert all(str(row.reason).startswith(reason) for row in missing), missing[0]
