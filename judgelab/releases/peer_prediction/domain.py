"""What the authors of the TVD-MI paper released for one domain, with or without an attack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item, Panel, Texts
from judgelab.core.resources import words

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TABLES = ("log", "tvd_mi", "judge_with_context", "judge_without_context")
"""The four recorded runs of a domain; MI and GPPM are both read from ``log``."""

MECHANISMS = ("mi", "gppm", "tvd_mi", "judge_with_context", "judge_without_context")

_CALLS = {"tvd_mi": ("tvd_mi_p", "tvd_mi_q"), **{run: (run,) for run in TABLES[2:]}}
"""Mechanism -> its batches of calls."""

_DATA = words("releases/peer_prediction/taxonomy.yaml")

TAXONOMY: Mapping[str, Mapping[str, Sequence[str]]] = _DATA["categories"]
"""Task -> category -> names, in the order in which the released code draws pairs."""

PAPER_DIFFERS: Mapping[str, Mapping[str, str]] = _DATA["paper_differs"]
"""Task -> name -> the category printed in the paper, where the released code has another."""


@dataclass(frozen=True)
class ReleasedTexts:
    """The texts of one domain.

    Attributes:
        items: sources with their references, in order of item id.
        responses: one row per item, one entry per agent; rows of width 0 where the release
            holds sources but no responses.
        attacked: the responses carry the attack of the domain they belong to.
    """

    items: tuple[Item, ...]
    responses: Texts
    attacked: bool = False


@dataclass(frozen=True)
class ReleasedDomain:
    """Recorded scores and texts of one domain.

    Pair arrays are [items, agents, agents] with a NaN diagonal, row = agent i, column = agent j,
    in the order of ``agents``; NaN also where an agent took no part. A cell of 0 may be a score
    of 0 or a call that failed: the release does not tell them apart, see ``complete``. An array
    is None where the release lacks that run. Every array has its own items (``ids``).

    Attributes:
        domain: key of the domain, e.g. ``xsum``.
        attack: name of the attack on the responses, or None.
        layout: ``clone`` or ``parquet``.
        task: summarization, translation or peer_review.
        task_description: the task as the prompts of critic and judge name it.
        agents: ``category`` is the released code's; ``meta['category_paper']`` is the paper's;
            ``reference`` marks the human text.
        item_ids: run (see ``TABLES``) -> ids of its items, increasing. An id is the index of
            the item in the domain's source file.
        logp_cond: mean token log-probability of text i after text j (nats per token).
        logp_base: [items, agents], the same without a text before it.
        tokens: [items, agents], number of tokens of each text.
        gppm_released: [items, agents], the released GPPM score, higher is better. Divides by
            the token counts of another item: see the notes of the experiment.
        tvd_mi: critic score of the pair minus that of one pair across items, in [-1, 1].
        judge_with_context: verdict with i shown first: 1 it wins, 0 it loses, 0.5 tie or
            unreadable reply.
        judge_without_context: the same, without the source.
        calls_done: name of a batch of calls -> completed calls per item, -1 where not recorded.
        source_files: where it was read from, relative to the release.
        load_texts: reads the texts; they are not kept in memory.
    """

    domain: str
    attack: str | None
    layout: str
    task: str
    task_description: str
    agents: tuple[Agent, ...]
    item_ids: Mapping[str, IntArray]
    load_texts: Callable[[], ReleasedTexts]
    logp_cond: FloatArray | None = None
    logp_base: FloatArray | None = None
    tokens: FloatArray | None = None
    gppm_released: FloatArray | None = None
    tvd_mi: FloatArray | None = None
    judge_with_context: FloatArray | None = None
    judge_without_context: FloatArray | None = None
    calls_done: Mapping[str, IntArray] = field(default_factory=dict)
    source_files: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """``domain`` or ``domain__attack``."""
        return self.domain if self.attack is None else f"{self.domain}__{self.attack}"

    @property
    def mi(self) -> FloatArray | None:
        """Difference of entropies, pair array: log P(i|j) - log P(i), nats per token."""
        if self.logp_cond is None or self.logp_base is None:
            return None
        return self.logp_cond - self.logp_base[:, :, None]

    def pairs(self, mechanism: str) -> FloatArray | None:
        """The recorded pair array of a mechanism (for GPPM: ``logp_cond``), or None.

        Raises:
            DataError: there is no mechanism of that name.
        """
        if mechanism not in MECHANISMS:
            known = ", ".join(MECHANISMS)
            raise DataError(f"The release records no mechanism {mechanism!r}: use one of {known}.")
        found: FloatArray | None = getattr(self, {"gppm": "logp_cond"}.get(mechanism, mechanism))
        return found

    def ids(self, mechanism: str) -> IntArray:
        """Item ids of a mechanism's arrays; empty where the release lacks it."""
        table = "log" if mechanism in ("mi", "gppm") else mechanism
        return self.item_ids.get(table, np.empty(0, dtype=np.int64))

    def complete(self, mechanism: str) -> BoolArray:
        """Mask [items]: every call of the item was answered.

        For the critic and the judges all n(n-1) calls (the critic: of both batches) must have
        been counted as done; which of an incomplete item's cells are failures cannot be known.
        For MI and GPPM: every pair has a finite score.
        """
        pairs = self.pairs(mechanism)
        if pairs is None:
            return np.zeros(0, dtype=np.bool_)
        full = self._full(mechanism)
        done = np.isfinite(pairs).sum(axis=(1, 2)) == full
        for name in _CALLS.get(mechanism, ()):
            counted = self.calls_done.get(name)
            done &= False if counted is None else counted == full
        return np.asarray(done, dtype=np.bool_)

    def completed(self, mechanism: str) -> FloatArray:
        """[items] share of the critic's or a judge's cells whose calls all came back.

        A cell of the critic takes a call of both batches, which are taken to fail independently.
        1 for MI and GPPM, which have no failures; NaN where the calls were not counted.
        """
        share = np.ones(len(self.ids(mechanism)))
        for name in _CALLS.get(mechanism, ()):
            counted = self.calls_done.get(name, np.full(len(share), -1))
            share *= np.where(counted < 0, np.nan, np.minimum(counted / self._full(mechanism), 1))
        return share

    def failed(self, mechanism: str) -> IntArray:
        """[items] calls that did not come back, at most one a cell; 0 where not counted."""
        full = self._full(mechanism)
        counts = [
            self.calls_done[name] for name in _CALLS.get(mechanism, ()) if name in self.calls_done
        ]
        lost = [np.where(counted < 0, 0, np.maximum(full - counted, 0)) for counted in counts]
        none = np.zeros(len(self.ids(mechanism)), dtype=np.int64)
        return np.minimum(sum(lost, none), full).astype(np.int64)

    def _full(self, mechanism: str) -> int:
        """How many ordered pairs of agents took part."""
        pairs = self.pairs(mechanism)
        agents = 0 if pairs is None else int(np.isfinite(pairs).any(axis=(0, 2)).sum())
        return agents * (agents - 1)

    def panel(self, limit: int | None = None) -> Panel:
        """The texts as a panel (the first ``limit`` items that have responses).

        Item ids are the release's ids as strings. Where the release holds sources but no
        responses, the panel has no agents.

        Raises:
            DataError: the texts are missing or damaged.
        """
        texts = self.load_texts()
        answered = any(texts.responses)
        panel = Panel(
            items=texts.items,
            agents=self.ranked_agents if answered else (),
            texts=texts.responses,
            task=self.task,
            provenance={
                "dataset": "released",
                "domain": self.domain,
                "attack": self.attack,
                "layout": self.layout,
                "texts": "attacked" if texts.attacked else "clean",
                "task_description": self.task_description,
                "source_files": list(self.source_files),
            },
        )
        return panel.head(limit)

    @property
    def ranked_agents(self) -> tuple[Agent, ...]:
        """The agents, each with its place in the list from which the release draws pairs."""
        names = pairing_order(self.task)
        rank = {name: place for place, name in enumerate(names)}
        return tuple(
            replace(
                agent,
                meta={**agent.meta, "pairing_rank": str(rank.get(agent.name, len(names)))},
            )
            for agent in self.agents
        )


def without_diagonal(pairs: FloatArray) -> FloatArray:
    """A float64 copy of [items, agents, agents] whose diagonal is NaN: it was never measured."""
    copy = np.array(pairs, dtype=np.float64)
    diagonal = np.arange(copy.shape[-1])
    copy[..., diagonal, diagonal] = np.nan
    return copy


def category(task: str, name: str) -> str:
    """The code's category of an agent name; ``Other`` for a name that the release never had."""
    groups = TAXONOMY.get(task, {})
    return next((group for group, names in groups.items() if name in names), "Other")


def paper_category(task: str, name: str) -> str:
    """The category printed in the paper's Tables 7-9."""
    return PAPER_DIFFERS.get(task, {}).get(name, category(task, name))


def pairing_order(task: str) -> list[str]:
    """The names of a task in the order in which the released code pairs them."""
    return [name for names in TAXONOMY.get(task, {}).values() for name in names]


def task_of(names: Iterable[str]) -> str:
    """The task whose taxonomy knows most of these names; the first one on a tie."""
    present = set(names)
    return max(TAXONOMY, key=lambda task: len(present.intersection(pairing_order(task))))


def released_agent(name: str, task: str, **told: object) -> Agent:
    """The agent of a name.

    Args:
        told: ``category``, ``category_paper``, ``strategy`` and ``reading`` (prompts), where the
            release says so; otherwise the categories follow from the name.
    """
    meta = {
        "category_paper": told.get("category_paper") or paper_category(task, name),
        "strategy": told.get("strategy"),
        "reading": told.get("reading"),
    }
    return Agent(
        name=name,
        category=str(told.get("category") or category(task, name)),
        reference=name == "Reference",
        meta={key: str(value) for key, value in meta.items() if value},
    )
