"""log P(y | prompt with x): what GEM, GEM-S, GEM-raw and BARTScore share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import measured

ABSENT = "Not available"
"""What stands in a prompt where there is no synopsis or no first response (as released)."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Setting:
    """How a text y is predicted from a text x.

    Attributes:
        prompt: fields synopsis and response.
        synopsis: whether the prompt shows the item's synopsis.
        truncate: only so many characters of x and of y count; None for all.
    """

    prompt: Prompt
    synopsis: bool
    truncate: int | None

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


@runtime_checkable
class Conditional(Protocol):
    """A mechanism that predicts one text of an item from another one."""

    @property
    def setting(self) -> Setting:
        """How it does so."""
        ...


@dataclass
class _Questions:
    """Contexts and targets of one item, each once, and the cells that their answers fill."""

    contexts: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    fill: list[Callable[[float, float], None]] = field(default_factory=list)

    def ask(self, context: str, target: str, fill: Callable[[float, float], None]) -> None:
        self.pairs.append((_place(self.contexts, context), _place(self.targets, target)))
        self.fill.append(fill)

    def put(self, lm: EvaluationLM) -> None:
        table = lm.logprob(self.contexts, self.targets, self.pairs)
        for fill, total, count in zip(self.fill, table.total, table.tokens, strict=True):
            fill(float(total), float(count))


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
    for k, item in enumerate(panel.items):
        if setting.synopsis and not item.synopsis:
            continue  # log P(y | x, z) does not exist without z
        questions = _Questions()
        if alone:
            _targets(questions, panel, k, setting, wanted, (marginal, tokens))
        _pairs(questions, panel, k, setting, wanted, (conditional, tokens))
        if whole:
            _marginals(questions, panel, k, setting, wanted, uncut)
        questions.put(lm)
    data = measured(
        panel,
        conditional=(("item", "agent", "peer"), conditional),
        marginal=(("item", "agent"), marginal),
        tokens=(("item", "agent"), tokens),
    )
    if whole:
        data["marginal_whole"] = (("item", "agent"), uncut)
    return data.assign_attrs(prompt=setting.prompt.identity)


def _targets(
    questions: _Questions,
    panel: Panel,
    k: int,
    setting: Setting,
    wanted: Mask,
    into: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """Ask for every target without x."""
    marginal, tokens = into
    for j, y in enumerate(panel.texts[k]):
        if y is None or not wanted[:, j].any():
            continue

        def unconditional(total: float, count: float, j: int = j) -> None:
            marginal[k, j], tokens[k, j] = total, count

        questions.ask(setting.context(panel.items[k], None), setting.cut(y), unconditional)


def _pairs(
    questions: _Questions,
    panel: Panel,
    k: int,
    setting: Setting,
    wanted: Mask,
    into: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """Ask for every target y after every x that is wanted with it."""
    conditional, tokens = into
    item, row = panel.items[k], panel.texts[k]
    for i, x in enumerate(row):
        for j, y in enumerate(row):
            if x is None or y is None or not wanted[i, j]:
                continue

            def given(total: float, count: float, i: int = i, j: int = j) -> None:
                conditional[k, i, j] = total
                if np.isnan(tokens[k, j]):
                    tokens[k, j] = count

            questions.ask(setting.context(item, x), setting.cut(y), given)


def _marginals(
    questions: _Questions,
    panel: Panel,
    k: int,
    setting: Setting,
    wanted: Mask,
    into: NDArray[np.float64],
) -> None:
    """Ask for the marginals of whole targets."""
    for j, y in enumerate(panel.texts[k]):
        if y is None or not wanted[:, j].any():
            continue

        def alone(total: float, count: float, j: int = j) -> None:
            into[k, j] = total

        questions.ask(setting.context(panel.items[k], None), y.strip(), alone)


def _place(texts: list[str], text: str) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)
