"""The endpoint client against a server process: what it asks, and what it makes of answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.calls.meter import Meter
from judgelab.calls.pace import Limits
from judgelab.calls.prompts import DRAWS
from judgelab.calls.sending import EndpointError
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability
from judgelab.evaluation_lm.openai import OpenAI
from tests.scripted import ask
from tests.servers import answers as rule
from tests.servers.process import Running, scripted

QUICK = Limits(timeout=1.0, backoff=0.05, longest_wait=0.2, retries=3)
Start = Callable[..., tuple[Running, OpenAI]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """``start(logprobs="echo", faults=[...])``: a server and a client of it."""
    with ExitStack() as stack:

        def begin(
            logprobs: Any = "none", limits: Limits = QUICK, **settings: Any
        ) -> tuple[Running, OpenAI]:
            server = stack.enter_context(scripted(tmp_path / "server", **settings))
            lm = OpenAI("some-model", server.url, limits, logprobs=logprobs)
            stack.callback(lm.close)
            return server, lm

        yield begin


def expected(context: str, target: str, **settings: Any) -> tuple[float, int]:
    """The rule's own log P(target | context)."""
    before = ["<s>", *rule.tokenise(context, settings)]
    whole = ["<s>", *rule.tokenise(context + target, settings)]
    values = [rule.logprob(whole[:i], whole[i]) for i in range(1, len(whole))]
    if whole[: len(before)] == before:
        return math.fsum(values[len(before) - 1 :]), len(whole) - len(before)
    alone = math.fsum(rule.logprob(before[:i], before[i]) for i in range(1, len(before)))
    return math.fsum(values) - alone, len(whole) - len(before)


def test_replies_come_back_in_order(start: Start) -> None:
    _, lm = start()
    texts = [f"judge {k}" for k in range(50)]
    replies = lm.chat([ask(text) for text in texts])
    options = rule.LABELS["judge"]
    assert [r.text for r in replies] == [f"I choose {options[rule.number(t) % 3]}" for t in texts]
    assert (replies[0].input_tokens, replies[0].output_tokens) == (len(texts[0]) // 4, 8)


@pytest.mark.parametrize("fault", ["429", "500", "hang", "cut", "drop"])
def test_transient_faults_are_tried_again(start: Start, fault: str) -> None:
    server, lm = start(faults=[fault], share=1)
    assert lm.chat([ask("judge this")])[0].text is not None
    first, second = (event["at"] for event in server.events("seen"))
    assert second - first >= (0.5 if fault == "429" else 0), "as Retry-After says"
    assert max(server.paid().values()) == 1


def test_no_server_a_wrong_key_and_a_wrong_address_end_the_run(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = OpenAI("m", "http://127.0.0.1:9/v1", QUICK)
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9/v1 cannot be reached"):
        dead.chat([ask("q")])
    dead.close()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-canary")
    _, lm = start(key="sk-right")
    with pytest.raises(ConfigError, match="check the environment variable that") as caught:
        lm.chat([ask("q")] * 5)
    assert "canary" not in str(caught.value)


def test_a_host_that_never_answers_ends_the_run(start: Start) -> None:
    """As one that drops packets: no refusal, no connection error, only time that passes."""
    patience = Limits(concurrency=1, timeout=0.05, backoff=0.01, retries=1)
    server, lm = start(delay=30, limits=patience)
    with pytest.raises(EndpointError, match="none of the first 3 calls of 2 attempts each"):
        lm.chat([ask(f"judge {k}") for k in range(20)])
    assert 6 <= sum(server.seen().values()) <= 8, "and no more than are under way beside them"


def test_a_missing_key_is_said_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    remote = OpenAI("m", "https://api.example.org/v1", Limits(), api_key_env="NO_SUCH_KEY")
    with pytest.raises(ConfigError, match="set the environment variable NO_SUCH_KEY"):
        remote.attach(Meter())
    OpenAI("m", "https://api.example.org/v1", Limits(), api_key_env=None).attach(Meter())
    OpenAI("m", "http://localhost:8000/v1", Limits(), api_key_env="NO_SUCH_KEY").attach(Meter())


def built(**change: Any) -> OpenAI:
    return OpenAI(**{"model": "m", "base_url": "https://a.org/v1", "limits": Limits()} | change)


@pytest.mark.parametrize(
    "wrong",
    [
        {"api_key_env": "sk-canary-123"},
        {"base_url": "https://user:canary@api.example.org/v1"},
        {"base_url": "https://api.example.org/v1?key=canary"},
    ],
)
def test_a_config_that_holds_a_secret_is_refused_without_repeating_it(wrong: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        built(**wrong)
    assert "canary" not in str(caught.value)


def test_identity_holds_what_changes_an_answer_and_nothing_else() -> None:
    same: list[dict[str, Any]] = [
        {"limits": Limits(concurrency=1, timeout=5.0)},
        {"api_key_env": "OTHER"},
        {"logprobs": "echo"},
        {"base_url": "https://a.org/v1/"},
    ]
    assert {built(**change).identity for change in same} == {built().identity}
    other: list[dict[str, Any]] = [
        {"model": "n"},
        {"base_url": "https://b.org/v1"},
        {"extra_body": {"seed": 1}},
        {"server": "mine"},
    ]
    assert len({built(**change).identity for change in [{}, *other]}) == 5


def test_alternatives_of_a_reply(start: Start, tmp_path: Path) -> None:
    _, lm = start()
    cache = CallCache(tmp_path / "c.sqlite")
    first = CachedLM(lm, cache).chat([ask("judge", top_logprobs=2)])[0]
    assert first.top_logprobs == ((("I", -0.1), ("I", -0.1)),)
    assert CachedLM(lm, cache).chat([ask("judge", top_logprobs=2)])[0] == first
    assert CachedLM(lm, cache).chat([ask("judge")])[0].top_logprobs == ()
    cache.close()
    _, silent = start(ignore=True)
    with pytest.raises(CapabilityError, match="ignores logprobs"):
        silent.chat([ask(f"judge {k}", top_logprobs=2) for k in range(3)])


@pytest.mark.parametrize("mode", ["echo", "prompt"])
@pytest.mark.parametrize("settings", [{}, {"merge": True}, {"fragments": True}, {"beside": True}])
def test_log_probs_are_the_servers(start: Start, mode: str, settings: dict[str, bool]) -> None:
    """Clean boundaries, tokens across one, tokens that cannot be spelt, a list beside choices."""
    _, lm = start(logprobs=mode, **settings)
    contexts = ["Reviews:\n", "Reviews:\na short föggy one\n"]
    targets = ["the keeper lit the lamp", "Ünder the pier", ""]
    pairs = [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)]
    table = lm.logprob(contexts, targets, pairs)
    for k, (c, t) in enumerate(pairs):
        nats, tokens = expected(contexts[c], targets[t], **settings)
        assert table.total[k] == pytest.approx(nats, abs=1e-9)
        assert table.tokens[k] == tokens
    assert lm.capabilities == {Capability.CHAT, Capability.LOGPROB}


def test_a_prompt_that_was_paid_for_is_not_asked_again(start: Start, tmp_path: Path) -> None:
    """Where a token runs across the boundary, an answer takes two prompts, and one may fail."""
    context, targets = "Reviews:\n", ["the keeper", "a lamp", "fog"]
    pairs = [(0, 0), (0, 1)]
    once = Limits(retries=0)
    server, lm = start(logprobs="echo", merge=True, refuses=context, limits=once)
    lm.server = "mine"
    first = CachedLM(lm, CallCache(tmp_path / "c.sqlite"))
    assert all(math.isnan(v) for v in first.logprob([context], targets, pairs).total)
    before = sum(server.seen().values())
    first.close()
    mended, again = start(logprobs="echo", merge=True)
    again.server = "mine"
    second = CachedLM(again, CallCache(tmp_path / "c.sqlite"))
    table = second.logprob([context], targets, [*pairs, (0, 2)])
    for k, target in enumerate(targets):
        assert table.total[k] == pytest.approx(expected(context, target, merge=True)[0])
    probes, prompts = 2, 2  # the context, and the one pair that is new
    assert sum(mended.seen().values()) - before == probes + prompts
    second.logprob([context], ["rope"], [(0, 0)])
    assert sum(mended.seen().values()) - before == probes + prompts + 1, "the context is known"
    second.close()
    assert before == probes + 3


@pytest.mark.parametrize("mode", ["echo", "prompt"])
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"ignore": "all"}, "without the field that logprobs asks for"),
        ({"ignore": "prompt"}, "prompt"),
        ({"off_by_one": True}, "belong to other positions"),
        ({"no_completions": True}, "HTTP 422: not supported here"),
        ({"faults": ["logprob=-1e308@1"]}, "not numbers of at most 0"),
        ({"faults": ["tokens@1"]}, "the tokens it drew are not those it reads back"),
    ],
)
def test_a_server_without_or_with_wrong_log_probabilities_is_refused(
    start: Start, mode: str, settings: dict[str, Any], reason: str
) -> None:
    server, lm = start(logprobs=mode, **settings)
    with pytest.raises(CapabilityError, match=reason):
        lm.logprob(["x"], ["y"], [(0, 0)])
    assert sum(server.seen().values()) <= 2 * (DRAWS if "tokens" in str(settings) else 1)
