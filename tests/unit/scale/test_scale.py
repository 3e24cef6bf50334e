"""What is spread, and where there is room for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import Cached
from judgelab.config import build
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, EvaluationLM, Message
from judgelab.scale.ray import CHATS, Shard, missing, places
from tests.scripted import ScriptedChat, ScriptedLogProb


def node(cpus: float, gpus: float, alive: bool = True) -> dict[str, object]:
    return {"Alive": alive, "Resources": {"CPU": cpus, "GPU": gpus, "memory": 1e9}}


@pytest.mark.parametrize(
    ("cpus", "gpus", "expected"),
    [(1, 0, 6), (2, 0, 2), (1, 1, 2), (0, 1, 2), (1, 0.5, 3), (0.5, 0.5, 4), (4, 0, 0), (1, 2, 1)],
)
def test_no_worker_is_split_over_two_nodes(cpus: float, gpus: float, expected: int) -> None:
    nodes = [node(3, 2), node(3, 0), node(8, 8, alive=False)]
    assert places(nodes, {"CPU": cpus, "GPU": gpus}) == expected


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"threads": 0}, {"cpus": 0.0}, {"gpus": -1.0}])
def test_shares_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"scale\."):
        build({"_target_": "judgelab.scale.ray.Ray", **wrong}, "scale")


def test_pairs_are_collected_a_batch_at_a_time_and_once(tmp_path: Path) -> None:
    inner = ScriptedLogProb(lambda c, t: -float(len(c) + len(t)))
    lm = Cached(inner, CallCache(tmp_path / "c.sqlite"))
    lm.logprob(["a"], ["x"], [(0, 0)])

    def step(asked: EvaluationLM) -> None:
        asked.logprob(["a", "b"], ["x", "y"], [(0, 0), (1, 1), (1, 1), (0, 1)])
        asked.logprob(["b", "a"], ["y"], [(0, 0), (1, 0)])  # both known by now
        asked.logprob(["c"], ["y"], [(0, 0)])

    assert missing(step, lm) == [
        Shard("logprob", (("a", "b"), ("x", "y"), ((1, 1), (0, 1)))),
        Shard("logprob", (("c",), ("y",), ((0, 0),))),
    ]
    assert inner.seen == [("a", "x")], "collecting asks nothing"
    before = list(inner.seen)
    step(lm)
    assert inner.seen[len(before) :] == [("b", "y"), ("a", "y"), ("c", "y")], "as in one process"
    assert missing(step, lm) == []
    lm.close()


def test_chats_are_cut_small_and_what_depends_on_answers_comes_later(tmp_path: Path) -> None:
    lm = Cached(ScriptedChat(lambda r: "noted"), CallCache(tmp_path / "c.sqlite"))

    def step(asked: EvaluationLM) -> None:
        first = [ChatRequest((Message("user", f"read {k}"),)) for k in range(CHATS + 1)]
        notes = [reply.text for reply in asked.chat(first)]
        then = [ChatRequest((Message("user", f"write from {n} {k}"),)) for k, n in enumerate(notes)]
        asked.chat([request for request, note in zip(then, notes, strict=True) if note])

    asked = [shard.arguments[0] for shard in missing(step, lm)]
    assert [len(requests) for requests in asked] == [CHATS, 1]
    for requests in asked:
        lm.accept_chats(requests, lm.lm.chat(requests))
    later = [r.messages[0].content for s in missing(step, lm) for r in s.arguments[0]]
    assert later == [f"write from noted {k}" for k in range(CHATS + 1)]
    lm.close()
