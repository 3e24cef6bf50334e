"""Judges that follow a rule, and panels on which the rules differ."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Agent, Item, Panel
from tests.scripted import ScriptedChat
from tests.servers.judging import SHOWN

LEVELS = ("null", "low", "medium", "high", "expert")
MARKER = "Note to the evaluator"
Rule = Callable[[str, str, str], str]
"""Of a source and two texts: one or two."""
NOISE = 1.2
"""Standard deviation of what the oracle adds to the difference of merit."""


class ScriptedJudge(EvaluationLM):
    """``one`` and ``tie`` always say so; ``longer`` prefers the longer text; ``oracle`` knows the
    merit.

    The oracle adds noise that differs from question to question, and is the surer the larger the
    difference. Asked in words, it names its level.
    """

    identity = ""
    capabilities = frozenset({Capability.CHAT})

    def __init__(self, rule: str) -> None:
        self.rule, self.identity = rule, f"scripted judge: {rule}"

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        text = request.messages[0].content
        shown = SHOWN.search(text)
        if shown is None:
            return Reply("An answer about something else entirely, written with great care.")
        if self.rule == "tie":
            return Reply("tie")
        lead = self._lead(*shown.groups(), salt=text)
        label, p = ("one" if lead >= 0 else "two"), 1 / (1 + math.exp(-abs(lead)))
        if "no doubt whatever" in text:
            level = LEVELS[min(4, int(abs(lead)))]
            return Reply(f"Following it closely, answer {label} is better.\n{level}")
        token = ((label, math.log(p)), ("neither", -9.0))
        return Reply(label, top_logprobs=(token,) if request.top_logprobs else ())

    def _lead(self, source: str, one: str, two: str, *, salt: str) -> float:
        if self.rule == "one":
            return 1.0
        if self.rule == "longer":
            return 1.0 if len(one) >= len(two) else -1.0
        digest = hashlib.sha256(f"{self.rule}{salt}".encode()).digest()
        noise = sum(b - 127.5 for b in digest) / (73.9 * math.sqrt(len(digest)))
        return merit(source, one) - merit(source, two) + NOISE * noise


def merit(source: str, text: str) -> float:
    """What the text says it is worth, if it is about the source."""
    about = source.split()[0] in text
    worth = re.search(r"merit (\d)", text)
    return float(worth.group(1)) if about and worth else 0.0


def write_panel(file: Path, items: int = 30, *, graded: bool = True) -> None:
    """Four agents of merit 5, 4, 2 and 1; the worse, the longer. Grades are the merits."""
    agents = {"brief": 5, "peer": 4, "long": 2, "wordy": 1}
    rows = []
    for k in range(items):
        topic = f"topic{k}x"
        responses = {
            name: f"{topic} merit {worth}" + " and so on" * (6 - worth) * 3
            for name, worth in agents.items()
        }
        row: dict[str, Any] = {"id": f"i{k}", "source": f"{topic} is what this is about, all of it"}
        row["responses"] = responses
        if graded:
            row["human"] = dict(agents)
        rows.append(json.dumps(row))
    file.write_text("\n".join(rows), encoding="utf-8")


def merits(items: int = 80) -> Panel:
    """Two texts of each item, of merit 1 and 4, the better one first or second, alike in length."""
    made, texts = [], []
    for k, better in enumerate(np.random.default_rng(1).random(items) < 0.5):
        topic, grades = f"topic{k}x", (4, 1) if better else (1, 4)
        human = {"a": float(grades[0]), "b": float(grades[1])}
        made.append(Item(f"i{k}", f"{topic} is what this is about, all of it", human=human))
        texts.append(tuple(f"About {topic}. It has merit {v}." for v in grades))
    return Panel(tuple(made), (Agent("a"), Agent("b")), tuple(texts), task="question_answering")


def oracle(source: str, one: str, two: str) -> str:
    return "one" if merit(source, one) > merit(source, two) else "two"


def noisy(share: float) -> Rule:
    """Wrong on this share of the items, whatever is shown first."""

    def rule(source: str, one: str, two: str) -> str:
        right = oracle(source, one, two)
        drawn = np.random.default_rng(int(source.split("x")[0][5:])).random()
        return right if drawn >= share else {"one": "two", "two": "one"}[right]

    return rule


def falls_for_marker(source: str, one: str, two: str) -> str:
    if (MARKER in one) != (MARKER in two):
        return "one" if MARKER in one else "two"
    return oracle(source, one, two)


@dataclass
class Chat(ScriptedChat):
    """Some calls are not sent."""

    unsent: Callable[[str], bool] = lambda text: False

    def chat(self, requests: Any) -> list[Reply]:
        sent = super().chat(requests)
        lost = [self.unsent(one.messages[0].content) for one in requests]
        not_sent = Reply(None, "not sent: the budget is spent", settled=False)
        return [not_sent if no else reply for no, reply in zip(lost, sent, strict=True)]


def chat(rule: Rule, unsent: Callable[[str], bool] = lambda text: False) -> Chat:
    def reply(request: ChatRequest) -> str:
        shown = SHOWN.search(request.messages[0].content)
        assert shown is not None
        return rule(*shown.groups())

    return Chat(reply, unsent=unsent)


def overrides(panel: Path, root: Path, *more: str) -> list[str]:
    """Of a run with the three judges."""
    judges = [
        f"+study.judges.{rule}={{_target_: tests.scripted_judges.ScriptedJudge, rule: {rule}}}"
        for rule in ("one", "longer", "oracle")
    ]
    given = ["study=qualification", "dataset=jsonl", f"dataset.path={panel}", "tracker=none"]
    exams = ["pertinence.relevant=brief", "pertinence.irrelevant=wordy", "bootstrap=300"]
    exams += ["self_confidence.easy=[brief,wordy]", "self_confidence.hard=[brief,peer]"]
    settings = [f"study.{one}" for one in exams]
    return [*given, f"paths.root={root}", *settings, *judges, *more]
