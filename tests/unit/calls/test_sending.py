"""What is made of what a server sends: reasons, and whether the call is settled."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from judgelab.calls.cache import PromptCache, ScoredPrompt
from judgelab.calls.pace import Limits
from judgelab.calls.prompts import RawPrompts, is_of
from judgelab.calls.sending import FARTHEST, Answer, _retry_after
from judgelab.evaluation_lm.openai import OpenAI
from tests.odd_replies import WAITS, trial
from tests.servers.process import scripted

HASTY = Limits(timeout=2.0, backoff=0.01, longest_wait=0.05, retries=1, concurrency=4, breaker=None)
TARGETS = [f"word {k}" for k in range(12)]
NO_NUMBERS = "it reports log-probabilities that are not numbers of at most 0"
PAIRS = [(0, t) for t in range(len(TARGETS))]


@pytest.mark.parametrize("mode", ["echo", "prompt"])
@pytest.mark.parametrize(
    ("fault", "reason", "settled"),
    [
        ("500xall", "HTTP 500: trouble with Bearer *** after 2 attempts", False),
        ("400", "HTTP 400: trouble with Bearer ***", True),
        ("malformed", "malformed answer (not JSON)", True),
        ("tokens", "malformed answer (the tokens that it reports are not the prompt's)", True),
        ("logprob=-1e308", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=nan", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=1", f"malformed answer ({NO_NUMBERS})", True),
        ("logprob=word", f"malformed answer ({NO_NUMBERS})", True),
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


def test_no_reply_that_a_server_can_send_ends_a_run(tmp_path: Path) -> None:
    found = trial(300, 7, tmp_path)
    assert not found.wrong
    assert found.counts.total() == 300
    assert {state for _, _, state in found.counts} == {"read", "settled", "unsettled"}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        *((odd, None) for odd in (*WAITS[:9], str(FARTHEST + 1))),
    ],
)
def test_a_retry_after_that_is_no_time_is_ignored(value: str, seconds: float | None) -> None:
    assert _retry_after({"retry-after": value}) == seconds


B = "\ufffd"


@pytest.mark.parametrize(
    ("text", "tokens", "spelt"),
    [
        ("The cat sat", ["The", " cat", " sat"], True),
        ("The cat sat", ["<s>", "The", " cat", " sat"], True),
        ("The cat sat", ["<s>", "<user>", "The", " cat", " sat"], True),
        ("The cat sat", ["zzz", " yyy", " qqq"], False),
        ("The cat sat", ["The", " cat"], False),
        ("The cat sat", ["The", " cat", " sat", "."], False),
        ("Zu \u65e5\u672c!", ["Zu", f" {B}", B, B, "\u672c", "!"], True),
        ("\u65e5\u65e5\u65e5", [B, B, "\u65e5", B], True),
        ("Zu \u65e5\u672c!", ["Zu", f" {B}", "\u672c", "?"], False),
        ("Zu \u65e5\u672c!", [B, B, B, B, B, B], False),
        ("cafe\u0301", ["caf", "\u00e9"], True),
    ],
)
def test_tokens_spell_a_text(text: str, tokens: list[str], spelt: bool) -> None:
    assert is_of(ScoredPrompt(tuple(tokens), (-1.0,) * len(tokens)), text) is spelt


def test_a_first_token_may_have_neither_name_nor_value() -> None:
    scored = ScoredPrompt(("", " cat", " sat"), (None, -1.0, -1.0))
    assert is_of(scored, "The cat sat") and is_of(scored, " cat sat")
    assert not is_of(scored, "The dog sat")


def test_a_prompt_with_a_gap_is_not_kept_and_not_taken_from_the_cache(tmp_path: Path) -> None:
    cache = PromptCache(tmp_path / "c.sqlite", "an LM")
    raw = RawPrompts("m", "echo")
    raw.cache = cache
    gap = ScoredPrompt(("a", "b"), (None, None))
    raw._keep("ab", gap)
    assert cache.get("ab") is None
    cache.put("ab", gap)  # as an earlier execution left it
    answer = {
        "usage": {"prompt_tokens": 2},
        "choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [None, -1.0]}}],
    }

    class Healed:
        async def call(self, call: object) -> Answer:
            return Answer(answer)

    found = asyncio.run(raw._known(Healed(), "ab"))  # type: ignore[arg-type]
    assert found == ScoredPrompt(("a", "b"), (None, -1.0))
    cache.close()
