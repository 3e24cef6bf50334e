"""Tokens that a server reports spell the prompt, or are those of another text."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judgelab.calls.cache import PromptCache, ScoredPrompt
from judgelab.calls.prompts import RawPrompts, is_of
from judgelab.calls.sending import Answer

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
