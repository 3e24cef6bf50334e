"""log P(y | prompt with x): what GEM, GEM-S, GEM-raw and BARTScore share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from judgelab.core.bounds import Count
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import measured
from judgelab.mechanism.logprob import Questions
from judgelab.mechanism.protocol import BY_LOGPROB, Mechanism
from judgelab.stats.intervals.arrays import Mask

ABSENT = "Not available"
"""What stands in a prompt where there is no synopsis or no first response (as released)."""


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
    subject = "pair"
    requires = BY_LOGPROB


def measure_conditional(
    panel: Panel,
    lm: EvaluationLM,
    setting: Setting,
    wanted: Mask,
    *,
    alone: bool = True,
    whole: bool = False,
) -> xr.Dataset:
    """The log-probabilities of the pairs wanted, and of their targets alone.

    Args:
        wanted: [agent, peer] pairs (x, y) to score.
        alone: measure the marginals too; without them ``marginal`` is NaN everywhere.
        whole: also measure the marginals of texts that ``truncate`` shortens, uncut.

    Returns:
        ``conditional`` [item, agent, peer]: log P(peer's text y | agent's text x), nats summed
        over y; ``marginal`` [item, agent]: log P(agent's text) by the same prompt without x;
        ``tokens`` [item, agent]: length of that sum; with ``whole``, ``marginal_whole``. NaN
        where a text is absent, or a synopsis is that the setting shows.
    """
    n, m = len(panel.items), len(panel.agents)
    conditional = np.full((n, m, m), np.nan)
    marginal, tokens, uncut = (np.full((n, m), np.nan) for _ in range(3))
    names = [agent.name for agent in panel.agents]
    for k, item in enumerate(panel.items):
        if setting.synopsis and not item.synopsis:
            continue  # log P(y | x, z) does not exist without z
        texts = {i: text for i, text in enumerate(panel.texts[k]) if text is not None}
        targets = [j for j in texts if wanted[:, j].any()]
        asked = [("alone", j, j) for j in targets if alone]
        asked += [("pair", i, j) for i in texts for j in targets if wanted[i, j]]
        asked += [("whole", j, j) for j in targets if whole]
        questions, places = Questions(), list[int]()
        for kind, i, j in asked:
            context = setting.context(item, texts[i] if kind == "pair" else None)
            y = texts[j].strip() if kind == "whole" else setting.cut(texts[j])
            places.append(questions.ask(context, y, item.id, *dict.fromkeys((names[i], names[j]))))
        answers = questions.put(lm)
        for (kind, i, j), place in zip(asked, places, strict=True):
            total, count = answers[place]
            if kind == "pair":
                conditional[k, i, j] = total
            else:
                (marginal if kind == "alone" else uncut)[k, j] = total
            if kind != "whole" and np.isnan(tokens[k, j]) and not np.isnan(total):
                tokens[k, j] = count
    data = measured(
        panel,
        conditional=(("item", "agent", "peer"), conditional),
        marginal=(("item", "agent"), marginal),
        tokens=(("item", "agent"), tokens),
    )
    if whole:
        data["marginal_whole"] = (("item", "agent"), uncut)
    return data.assign_attrs(prompt=setting.prompt.identity)
