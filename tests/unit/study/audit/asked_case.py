"""A panel whose texts differ in merit and length alone, and judges of known flaws to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from judgelab.agents.recorded import Recorded
from judgelab.attack.none import NoAttack
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.engine.context import Context
from judgelab.mechanism.pairwise import Pairwise
from judgelab.mechanism.protocol import Mechanism
from judgelab.preprocessor.identity import Identity
from judgelab.store.run_dir import RunDir
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.rules import TrustRules
from judgelab.synopsis.recorded import RecordedSynopsis
from tests.scripted import NOBODY, ScriptedChat
from tests.scripted_judges import SHOWN, merit

PAIRWISE = Pairwise(Prompt("pairwise.txt"))
MARKER = "Note to the evaluator"


@dataclass(frozen=True)
class Given:
    """A dataset of items that are there already."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        return self.panel.head(limit)


def merits(items: int = 70) -> Panel:
    """Two texts of each item, of merit 1 and 4, the better one first or second, alike in length."""
    rng = np.random.default_rng(1)
    made, texts = [], []
    for k, better in enumerate(rng.random(items) < 0.5):
        topic = f"topic{k}x"
        made.append(Item(f"i{k}", f"{topic} is what this is about, all of it"))
        values = (4, 1) if better else (1, 4)
        more = " again" * int(rng.integers(0, 4))
        texts.append(tuple(f"About {topic}. It has merit {v}.{more}" for v in values))
    return Panel(tuple(made), (Agent("a"), Agent("b")), tuple(texts), task="question_answering")


def chat(rule: Callable[[str, str, str], str]) -> ScriptedChat:
    """An LM that is asked pairwise, by a rule of the source and the two texts shown."""

    def reply(request: ChatRequest) -> str:
        shown = SHOWN.search(request.messages[0].content)
        assert shown is not None
        return rule(*shown.groups())

    return ScriptedChat(reply)


def oracle(source: str, one: str, two: str) -> str:
    """By merit alone."""
    return "one" if merit(source, one) > merit(source, two) else "two"


def falls_for_marker(source: str, one: str, two: str) -> str:
    """By merit, unless one text alone says that it is to be chosen."""
    if (MARKER in one) != (MARKER in two):
        return "one" if MARKER in one else "two"
    return oracle(source, one, two)


def asked_case(
    folder: Path,
    lms: Mapping[str, EvaluationLM],
    panel: Panel | None = None,
    table: JudgmentTable | None = None,
    **mechanisms: Mechanism,
) -> AuditCase:
    """A case in which these LMs are asked pairwise, and these mechanisms by themselves."""
    shown = merits() if panel is None else panel
    context = Context(
        dataset=Given(shown),
        agents=Recorded(),
        synopsis=RecordedSynopsis(),
        evaluation_lm=NOBODY,
        preprocessor=Identity(),
        attack=NoAttack(),
        mechanism=PAIRWISE,
        run_dir=RunDir(folder),
        seed=0,
        limit=None,
    )
    asked = {name: replace(context, evaluation_lm=lm) for name, lm in lms.items()}
    asked |= {name: replace(context, mechanism=one) for name, one in mechanisms.items()}
    made = table or unjudged(shown, tuple(asked))
    return AuditCase(made, shown, context, asked, None, TrustRules(), 0, 200)


def unjudged(panel: Panel, judges: tuple[str, ...]) -> JudgmentTable:
    """The pairs of a panel of two agents, with judges that have said nothing yet."""
    ids, (one, two) = [item.id for item in panel.items], (agent.name for agent in panel.agents)
    verdicts = np.full((len(judges), len(ids), 2), np.nan)
    return JudgmentTable(
        "preference",
        Units.of(ids, [one] * len(ids), [two] * len(ids)),
        ("rater",),
        np.full((len(ids), 1), np.nan),
        tuple(JudgeFacts(name) for name in judges),
        verdicts,
        np.zeros(verdicts.shape, np.bool_),
    )
