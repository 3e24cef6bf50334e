"""reply=json: what is asked for, what is read and refused, and servers that take no schema."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.calls.batch import chat_key
from judgelab.calls.pace import Limits
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, Message
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.mechanism.closed import json_verdict, schema
from judgelab.mechanism.pointwise import Pointwise
from tests.scripted import ScriptedChat, panel_of
from tests.servers.process import scripted
from tests.unit.mechanism.test_closed import ALL, JUDGE, PAIRWISE, RATING, TEXTS

WORDS = {"one": 1.0, "two": 0.0}
GRADES = {str(g): float(g) for g in range(1, 6)}
GOOD = '{"reason": "It says more.", "verdict": "one"}'


@pytest.mark.parametrize(
    ("text", "choices", "value"),
    [
        (GOOD, WORDS, 1.0),
        (f"```json\n{GOOD}\n```", WORDS, 1.0),
        (f"<think>two? {{}}</think>\n{GOOD}", WORDS, 1.0),
        ('{"verdict": 4, "reason": ""}', GRADES, 4.0),
        ("", WORDS, None),
        ("one", WORDS, None),
        (f"{GOOD} So it is.", WORDS, None),
        ('{"verdict": "one"}', WORDS, None),
        (GOOD.replace("}", ', "confidence": 1}'), WORDS, None),
        (GOOD.replace("}", ', "verdict": "two"}'), WORDS, None),
        (GOOD.replace('"one"', '["one"]'), WORDS, None),
        (GOOD.replace('"one"', '"One"'), WORDS, None),
        ('{"reason": "", "verdict": "4"}', GRADES, None),
        ('{"reason": "", "verdict": true}', GRADES, None),
        ('{"reason": "", "verdict": 9}', GRADES, None),
        ("[" * 100_000, WORDS, None),
    ],
)
def test_a_reply_is_the_object_that_was_asked_for_or_unread_with_a_reason(
    text: str, choices: dict[str, float], value: float | None
) -> None:
    found, why = json_verdict(text, choices)
    assert math.isnan(found) == bool(why) == (value is None)
    assert value is None or found == value


@pytest.mark.parametrize("mechanism", ALL, ids=lambda one: one.name)
def test_every_closed_question_can_be_answered_in_json(mechanism: object) -> None:
    """What the schema allows is read; the prompt and the record say that JSON was asked for."""

    def rule(request: ChatRequest) -> str:
        form = json.loads(request.schema)["properties"]["verdict"]
        assert form["type"] == ("string" if isinstance(form["enum"][0], str) else "integer")
        assert request.messages[-1].content.count('"reason"') == 1
        return json.dumps({"reason": "so", "verdict": form["enum"][0]})

    lm, asked = ScriptedChat(rule), replace(mechanism, reply="json")  # type: ignore[type-var]
    data = asked.measure(panel_of(TEXTS), lm, seed=0)  # type: ignore[attr-defined]
    assert data.attrs["reply"] == "json" and "json.txt" in data.attrs["prompt"]
    values = data[next(iter({"verdict", "p", "value", "rating"} & set(data)))].values
    assert np.isfinite(values).any()


def test_what_json_cannot_do_is_refused_and_free_replies_keep_their_keys() -> None:
    with pytest.raises(ConfigError, match="two grades"):
        Pointwise(Prompt("pointwise5.txt"), low=0.2, high=0.8, reply="json")
    request = ChatRequest((Message("user", "Which?"),))
    assert chat_key("m", request) != chat_key("m", replace(request, schema=schema(WORDS)))
    assert (JUDGE.reply, RATING.reply) == ("auto", "auto")


@pytest.mark.parametrize("takes", [True, False])
def test_a_server_that_takes_no_schema_is_asked_in_words_and_that_is_told_once(
    tmp_path: Path, takes: bool
) -> None:
    """30 calls at once: the first one finds out, so that no breaker opens on the refusals."""
    texts = [[f"text {k} {j}" for j in range(3)] for k in range(10)]
    told: list[str] = []
    limits = Limits(concurrency=30)
    with scripted(tmp_path / "server", json=True, no_format=not takes) as server:
        lm = OpenAI("m", server.url, limits, api_key_env=None)
        lm._tell = told.append
        data = replace(PAIRWISE, reply="json").measure(panel_of(texts), lm, seed=0)
        lm.close()
        statuses = Counter(e.get("status") for e in server.events("answered"))
        seen = len(server.events("seen"))
    assert [("response_format" in one) for one in told] == [] if takes else [True]
    assert seen == 60 + (not takes)
    assert lm.facts == {"response_format": takes}
    verdict = data["verdict"].values
    assert statuses[200] == 60
    assert 20 < np.isfinite(verdict).sum() < 60  # each fourth reply is not as it must be
