"""Log-probabilities of texts: each question asked once, all ordered pairs of a panel, and texts
given another one by a prompt (what GEM, GEM-S, GEM-raw and BARTScore share)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgelab.calls.batch import About
from judgelab.core.bounds import Count
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import PAIR, TEXT, array_of, measured
from judgelab.core.step import Cell
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism
from judgelab.stats.intervals.arrays import Mask

if TYPE_CHECKING:
    import xarray as xr

Key = TypeVar("Key", bound=Hashable)

DELIMITERS = {
    "translation": "Translations:\n",
    "summarization": "Summaries:\n",
    "peer_review": "Reviews:\n",
}
"""The heading that precedes the texts (as released, one per task)."""

ABSENT = "Not available"
"""What stands in a prompt where there is no synopsis or no first response (as released)."""


@dataclass
class Questions(Generic[Key]):
    """Contexts and targets, each once, and the pairs of them to be scored, by the caller's keys."""

    _contexts: dict[str, int] = field(default_factory=dict)
    _targets: dict[str, int] = field(default_factory=dict)
    _pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    _abouts: list[About] = field(default_factory=list)
    _places: dict[Key, int] = field(default_factory=dict)

    def ask(self, key: Key, context: str, target: str, *about: str) -> None:
        """Note a question; ``about``: item, agent and peer, as far as there are any."""
        c = self._contexts.setdefault(context, len(self._contexts))
        t = self._targets.setdefault(target, len(self._targets))
        if (c, t) not in self._pairs:
            self._abouts.append(("", *about))
        self._places[key] = self._pairs.setdefault((c, t), len(self._pairs))

    def answers(self, lm: EvaluationLM) -> dict[Key, tuple[float, float]]:
        """Ask all of them: key -> nats summed over the target, and its tokens."""
        if not self._pairs:
            return {}
        batch = list(self._contexts), list(self._targets), list(self._pairs)
        table = lm.logprob(*batch)
        lm.about(*batch, self._abouts)
        answers = list(zip(table.total.tolist(), table.tokens.tolist(), strict=True))
        return {key: answers[place] for key, place in self._places.items()}


class LogprobMechanism(Mechanism):
    """Reads its scores off the log-probabilities of all ordered pairs."""

    measurement = "logprob"
    subject = "pair"
    requires = BY_LOGPROB

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """All ordered pairs and marginals: M texts cost M(M-1) + M log-probabilities an item."""
        return measure_logprob(panel, lm)


def measure_logprob(
    panel: Panel, lm: EvaluationLM, partner: NDArray[np.int64] | None = None
) -> xr.Dataset:
    """``conditional`` [item, agent, peer]: log P(text of agent | text of peer), nats, summed over
    the text; ``marginal`` [item, agent]: log P(text of agent); and ``tokens`` [item, agent].

    With ``partner`` [items, negatives], the items whose texts stand in for independent sources,
    also ``negative`` [item, agent, peer, draw]: log P(text of agent | text of the peer on a
    partner item). NaN where a text is absent and on the diagonal.
    """
    delimiter = DELIMITERS.get(panel.task, "Responses:\n")
    marginal, tokens = dict[Cell, float](), dict[Cell, float]()
    # by item, agent, peer and source, of which the first is the item itself
    nats = dict[tuple[int, int, int, int], float]()
    names = [agent.name for agent in panel.agents]
    for k, item in enumerate(panel.items):
        questions = Questions[tuple[int, int, int]]()
        present = [(i, text) for i, text in enumerate(panel.texts[k]) if text is not None]
        for i, text in present:
            questions.ask((i, i, 0), delimiter, text, item.id, names[i])
        for s, source in enumerate([k, *(() if partner is None else partner[k])]):
            for j, before in enumerate(panel.texts[source]):
                context = f"{delimiter}{before}\n"
                for i, text in present if before is not None else ():
                    if i != j:
                        questions.ask((i, j, s), context, text, item.id, names[i], names[j])
        for (i, j, s), (total, count) in questions.answers(lm).items():
            if i == j:
                marginal[k, i], tokens[k, i] = total, count
            else:
                nats[k, i, j, s] = total
    agents, draws = len(names), 0 if partner is None else partner.shape[1]
    pairs = array_of((len(panel.items), agents, agents, 1 + draws), nats)
    data = measured(
        panel,
        conditional=(PAIR, pairs[..., 0]),
        marginal=(TEXT, marginal),
        tokens=(TEXT, tokens),
    )
    if partner is not None:
        data["negative"] = ((*PAIR, "draw"), pairs[..., 1:])
    return data


@dataclass(frozen=True)
class Setting:
    """How a text y is predicted from a text x."""

    prompt: Prompt  # fields synopsis and response
    synopsis: bool  # whether the prompt shows the item's synopsis
    truncate: int | None  # only so many characters of x and of y count; None for all

    def context(self, item: Item, response: str | None) -> str:
        """Everything before y, which starts a line; ``response`` None for the marginal."""
        text = self.prompt.text(
            synopsis=(item.synopsis if self.synopsis else None) or ABSENT,
            response=ABSENT if response is None else self.cut(response),
        )
        return f"{text}\n"

    def cut(self, text: str) -> str:
        """The part of a text that counts, without white space around it."""
        return text[: self.truncate].strip()


@dataclass(frozen=True)
class ConditionalMechanism(Mechanism):
    """Predicts one text of an item from another one."""

    prompt: Prompt  # fields synopsis and response
    # ``sum`` (nats summed over what is predicted) or nats per ``token`` of it
    per: Literal["sum", "token"] = "sum"
    truncate: Count | None = None  # characters of x and y that count; None for all
    synopsis = False
    subject = "pair"
    requires = BY_LOGPROB

    @property
    def setting(self) -> Setting:
        return Setting(self.prompt, self.synopsis, self.truncate)


def measure_conditional(
    panel: Panel,
    lm: EvaluationLM,
    setting: Setting,
    directions: Mask,
    *,
    alone: bool = True,
    whole: bool = False,
) -> xr.Dataset:
    """``peer_given_agent`` [item, agent, peer] of ``directions`` [agent, peer]: log P(peer's
    text y | agent's text x), nats summed over y; ``marginal`` [item, agent]: log P(agent's text) by
    the same prompt without x (NaN unless ``alone``); ``tokens`` [item, agent]: length of agent's
    text; with ``whole`` also ``marginal_whole``, of texts that ``truncate`` shortens, uncut.

    NaN where a text is absent, or a synopsis is that the setting shows.
    """
    peer_given_agent = dict[tuple[int, int, int], float]()
    marginal, tokens, uncut = (dict[Cell, float]() for _ in range(3))
    names = [agent.name for agent in panel.agents]
    for k, item in enumerate(panel.items):
        if setting.synopsis and not item.synopsis:
            continue  # log P(y | x, z) does not exist without z
        texts = {i: text for i, text in enumerate(panel.texts[k]) if text is not None}
        targets = [j for j in texts if directions[:, j].any()]
        kinds = [("alone", j, j) for j in targets if alone]
        kinds += [("pair", i, j) for i in texts for j in targets if directions[i, j]]
        kinds += [("whole", j, j) for j in targets if whole]
        questions = Questions[tuple[str, int, int]]()
        for kind, i, j in kinds:
            context = setting.context(item, texts[i] if kind == "pair" else None)
            y = texts[j].strip() if kind == "whole" else setting.cut(texts[j])
            about = dict.fromkeys((names[i], names[j]))
            questions.ask((kind, i, j), context, y, item.id, *about)
        for (kind, i, j), (total, count) in questions.answers(lm).items():
            if kind == "pair":
                peer_given_agent[k, i, j] = total
            else:
                (marginal if kind == "alone" else uncut)[k, j] = total
            if kind != "whole" and not np.isnan(total):
                tokens.setdefault((k, j), count)
    more = {"marginal_whole": (TEXT, uncut)} if whole else {}
    data = measured(
        panel,
        peer_given_agent=(PAIR, peer_given_agent),
        marginal=(TEXT, marginal),
        tokens=(TEXT, tokens),
        **more,
    )
    return data.assign_attrs(prompt=setting.prompt.identity)
