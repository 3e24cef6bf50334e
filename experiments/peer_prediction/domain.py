"""What the authors of the TVD-MI paper released for one domain, with or without an attack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from judgelab.core.panel import Agent, Item, Panel, Texts

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

RUNS = ("log", "tvd_mi", "judge_with_context", "judge_without_context")
"""The four recorded runs of a domain; MI and GPPM are both read from ``log``."""

_DATA = yaml.safe_load(Path(__file__).with_name("taxonomy.yaml").read_text(encoding="utf-8"))
TAXONOMY: Mapping[str, Mapping[str, list[str]]] = _DATA["categories"]
"""Task -> category -> names, in the order in which the released code draws pairs."""

PAPER_DIFFERS: Mapping[str, Mapping[str, str]] = _DATA["paper_differs"]
"""Task -> name -> the category printed in the paper, where the released code has another."""


class Stored(NamedTuple):
    """One recorded array: its name here, its run, its keys in ``matrices/*.npz`` and in the JSON
    files of one item each, and how many axes of agents follow that of items."""

    name: str
    run: str
    npz: str
    json: str
    axes: int


ARRAYS = (
    Stored("logp_cond", "log", "logp_cond", "logp_cond", 2),
    Stored("tvd_mi", "tvd_mi", "tvd_mi", "tvd_mi_matrix", 2),
    *(Stored(run, run, run, "win_matrix", 2) for run in RUNS[2:]),
    Stored("logp_base", "log", "logp_base", "logp_base", 1),
    Stored("tokens", "log", "token_counts", "token_counts", 1),
    Stored("gppm_released", "log", "gppm_normalized_released", "gppm_normalized", 1),
)
"""Mean log P(i | j) and log P(i) per token, tokens, the critic's P - Q, the judges' verdicts (1 the
row's text, shown first, wins; .5 tie or unread), and the released GPPM (lower is better there)."""

CALLS = (
    Stored("calls_tvd_mi_p", "tvd_mi", "calls_done_tvd_P", "num_p_comparisons", 0),
    Stored("calls_tvd_mi_q", "tvd_mi", "calls_done_tvd_Q", "num_q_comparisons", 0),
    *(Stored(f"calls_{run}", run, f"calls_done_{run}", "total_comparisons", 0) for run in RUNS[2:]),
)
"""[items] completed calls; -1 where not counted."""

_BATCHES = {
    "tvd_mi": ("calls_tvd_mi_p", "calls_tvd_mi_q"),
    **{run: (f"calls_{run}",) for run in RUNS[2:]},
}


@dataclass(frozen=True, eq=False)
class Domain:
    """Recorded scores and texts of one domain; two are the same only if they are one object.

    Pair arrays are [items, agents, agents] with a NaN diagonal, row = agent i, column = agent j,
    in the order of ``agents``; NaN also where an agent took no part. A cell of 0 may be a score
    of 0 or a call that failed: the release does not tell them apart, see ``completed``.
    """

    domain: str  # e.g. ``xsum``.
    attack: str | None  # on the responses, or None
    task: str  # summarization, translation or peer_review
    task_description: str  # the task as the prompts of critic and judge name it
    # ``category`` is the released code's; ``meta['category_paper']`` is the paper's; ``reference``
    # marks the human text
    agents: tuple[Agent, ...]
    # items, and their rows of responses; rows are empty where only sources are there. They are not
    # kept in memory.
    load_texts: Callable[[], tuple[tuple[Item, ...], Texts]]
    # run -> ids of its items, increasing: places in the domain's source file
    item_ids: Mapping[str, IntArray] = field(default_factory=dict)
    # name (``ARRAYS``, ``CALLS``) -> values; what the release lacks is absent
    arrays: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """``domain`` or ``domain__attack``."""
        return self.domain if self.attack is None else f"{self.domain}__{self.attack}"

    def pairs(self, mechanism: str) -> FloatArray | None:
        """The recorded pair array of a mechanism (for GPPM: ``logp_cond``), or None."""
        if mechanism == "mi" and {"logp_cond", "logp_base"} <= self.arrays.keys():
            return np.asarray(self.arrays["logp_cond"] - self.arrays["logp_base"][:, :, None])
        return self.arrays.get({"gppm": "logp_cond"}.get(mechanism, mechanism))

    def ids(self, mechanism: str) -> IntArray:
        """Item ids of a mechanism's arrays; empty where the release lacks it."""
        run = "log" if mechanism in ("mi", "gppm") else mechanism
        return self.item_ids.get(run, np.empty(0, dtype=np.int64))

    def completed(self, mechanism: str) -> FloatArray:
        """[items] share of the critic's or a judge's cells whose calls all came back.

        A cell of the critic takes a call of both batches, which are taken to fail independently.
        1 for MI and GPPM, which have no failures; NaN where the calls were not counted.
        """
        share = np.ones(len(self.ids(mechanism)))
        for name in _BATCHES.get(mechanism, ()):
            calls = self.arrays.get(name, np.full(len(share), -1.0))
            share *= np.where(calls < 0, np.nan, np.minimum(calls / self._full(mechanism), 1))
        return share

    def failed(self, mechanism: str) -> IntArray:
        """[items] calls that did not come back, at most one a cell; 0 where not counted."""
        full = self._full(mechanism)
        counts = [self.arrays[n] for n in _BATCHES.get(mechanism, ()) if n in self.arrays]
        failures = [np.where(calls < 0, 0, np.maximum(full - calls, 0)) for calls in counts]
        none = np.zeros(len(self.ids(mechanism)))
        return np.minimum(sum(failures, none), full).astype(np.int64)

    def _full(self, mechanism: str) -> int:
        """How many ordered pairs of agents took part."""
        pairs = self.pairs(mechanism)
        agents = 0 if pairs is None else int(np.isfinite(pairs).any(axis=(0, 2)).sum())
        return agents * (agents - 1)

    def panel(self, limit: int | None = None) -> Panel:
        """The texts of the first ``limit`` items; without agents where responses are not there.

        Raises:
            DataError: the texts are missing or damaged.
        """
        items, responses = self.load_texts()
        facts = {"dataset": self.key, "task_description": self.task_description}
        agents = self.ranked_agents if any(responses) else ()
        return Panel(items, agents, responses, self.task, facts).head(limit)

    @property
    def ranked_agents(self) -> tuple[Agent, ...]:
        """The agents, each with its place in the list from which the release draws pairs."""
        names = pairing_order(self.task)
        rank = {name: place for place, name in enumerate(names)}
        return tuple(
            replace(one, meta={**one.meta, "pairing_rank": str(rank.get(one.name, len(names)))})
            for one in self.agents
        )


def with_arrays(domain: Domain, ids: Mapping[str, IntArray], arrays: Mapping[str, Any]) -> Domain:
    """The domain with its recorded arrays, by name; diagonals, never measured, become NaN."""
    values: dict[str, FloatArray] = {}
    for one in (*ARRAYS, *CALLS):
        if one.name in arrays:
            values[one.name] = np.array(arrays[one.name], dtype=np.float64)
            if one.axes == 2:
                diagonal = np.arange(values[one.name].shape[-1])
                values[one.name][..., diagonal, diagonal] = np.nan
    return replace(domain, item_ids=ids, arrays=values)


def category(task: str, name: str) -> str:
    """The code's category of an agent name; ``Other`` for a name that the release never had."""
    groups = TAXONOMY.get(task, {})
    return next((group for group, names in groups.items() if name in names), "Other")


def pairing_order(task: str) -> list[str]:
    """The names of a task in the order in which the released code pairs them."""
    return [name for names in TAXONOMY.get(task, {}).values() for name in names]


def task_of(names: Iterable[str]) -> str:
    """The task whose taxonomy knows most of these names; the first one on a tie."""
    present = set(names)
    return max(TAXONOMY, key=lambda task: len(present.intersection(pairing_order(task))))


def released_agent(name: str, task: str, **facts: object) -> Agent:
    """The agent of a name.

    Args:
        facts: ``category``, ``category_paper``, ``strategy`` and ``reading`` (prompts), where the
            release says so; otherwise the categories follow from the name.
    """
    own = str(facts.get("category") or category(task, name))
    paper = PAPER_DIFFERS.get(task, {}).get(name, category(task, name))
    meta = {
        "category_paper": facts.get("category_paper") or paper,
        "strategy": facts.get("strategy"),
        "reading": facts.get("reading"),
    }
    present = {key: str(value) for key, value in meta.items() if value}
    return Agent(name, own, reference=name == "Reference", meta=present)
