"""Interface of the exams: a paper is set once, and every judge takes it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.intervals.arrays import Floats, Mask


class NotHeldError(ConfigError):
    """An exam needs a setting that was not given and that the panel does not tell."""


@dataclass(frozen=True)
class ExamPaper:
    """What an exam asks."""

    panels: tuple[Panel, ...]  # the questions, as panels of answers to be compared
    rows: NDArray[np.int64]  # [questions] number of the study's item that each row belongs to
    items: int  # how many items the study has
    facts: dict[str, Any] = field(default_factory=dict)  # how the paper was set, for the result
    # (id of the study's item, Q') of each question, where judges write the second answer themselves
    questions: tuple[tuple[str, str], ...] = ()

    def by_item(self, values: Floats) -> Floats:
        """[questions, k] answers as [items, questions of an item * k]; NaN where one has fewer."""
        of_item = pd.Series(self.rows)
        place = of_item.groupby(of_item).cumcount().to_numpy()
        cells = np.full((self.items, place.max(initial=-1) + 1, values.shape[1]), np.nan)
        cells[self.rows, place] = values
        return cells.reshape(self.items, -1)

    def mask(self, values: Mask) -> Mask:
        """``by_item`` of [questions, k] whether each was asked; false where an item has fewer."""
        return np.asarray(self.by_item(values.astype(np.float64)) == 1.0)


@dataclass(frozen=True)
class Answers:
    """What one judge answered, in arrays [items, ...] with NaN where nothing could be read."""

    scored: Floats  # P_c or P_p: 1 or 0 for every answer; P_s: confidence on the easy set
    asked: Mask  # whether the question was put at all
    hard: Floats | None = None  # P_s: the same of the hard set
    hard_asked: Mask | None = None
    tied: float = math.nan  # P_c: share of the scored answers that are ties before and after
    absence: str = ""  # why the judge could not take the exam, as a clause
    way: str = ""  # how this judge was asked, where that may differ between judges
    # what preferring the longer answer gets for the same questions; None where the right answer
    # does not follow from what texts say
    by_length: Floats | None = None


class Exam(Protocol):
    """An exam. Derive from it: what is usual has a default."""

    @property
    @abstractmethod
    def requires(self) -> frozenset[Capability]:
        """What a judge must be able to do."""
        ...

    @property
    def needs_writer(self) -> bool:
        """Whether an LM that can chat, the run's writer, writes a part of the paper."""
        return False

    @abstractmethod
    def prepare(self, panel: Panel, writer: EvaluationLM, *, seed: int) -> ExamPaper:
        """Set the paper, once for all judges.

        Raises:
            NotHeldError: a setting is missing without which there is no paper.
        """
        ...

    @abstractmethod
    def take(self, paper: ExamPaper, judge: EvaluationLM, *, seed: int) -> Answers:
        """Have a judge answer it."""
        ...


def pairs_of(panel: Panel) -> Mask:
    """[items, agents, agents] whether there are two texts to be compared."""
    there = np.array([[text is not None for text in row] for row in panel.texts], dtype=np.bool_)
    there = there.reshape(len(panel.items), len(panel.agents))
    return np.asarray(
        there[:, :, None] & there[:, None, :] & ~np.eye(len(panel.agents), dtype=bool)
    )


def place_of(panel: Panel, name: str, key: str) -> int:
    """Number of the agent that a setting names; a ConfigError where it is unknown."""
    names = [agent.name for agent in panel.agents]
    if name not in names:
        raise ConfigError(f"{key}: no agent is called {name!r}.{did_you_mean(name, names)}")
    return names.index(name)


def pair_panel(
    panel: Panel,
    items: list[Item],
    texts: list[tuple[str | None, str | None]],
    names: tuple[str, str] = ("first", "second"),
) -> Panel:
    """A panel of two answers to each item, with the task of another panel."""
    facts = {"task_description": panel.provenance.get("task_description") or ""}
    agents = tuple(map(Agent, names))
    return replace(panel, items=tuple(items), agents=agents, texts=tuple(texts), provenance=facts)
