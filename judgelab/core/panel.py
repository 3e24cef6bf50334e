"""The texts of an experiment: items x agents. Values only; nothing here calls a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgmentTable, require_unique

GIVE_REFERENCES = (
    "give each item a reference (the key 'reference' of its line in dataset=jsonl, a column "
    "'reference' in dataset=table, dataset.fields.reference=COLUMN in others)"
)
"""What to do where no text is known to be good."""

HALVED = "a text holds half a character (a lone surrogate)"
"""Why an LM is not asked about a text that is ``halved``."""

GOOD_FAITH = frozenset({"Faithful", "Style"})
"""Categories that preserve information (TVD-MI paper, section 4.1)."""

PROBLEMATIC = frozenset({"Strategic", "Low Effort"})
"""Categories that degrade information (TVD-MI paper, section 4.1)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One source that every agent answered."""

    id: str
    source: str  # the text the agents worked on
    reference: str | None = None  # a human answer, if there is one
    synopsis: str | None = None  # a short public description of the source, if there is one
    human: Mapping[str, float] = field(default_factory=dict)  # agent -> score of its response
    meta: Mapping[str, str] = field(default_factory=dict)
    # metric -> agent name -> score of that agent's response that came with the data
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """Who wrote a response."""

    name: str
    category: str | None = None  # Faithful, Style, Strategic, Low Effort, Other; None: unknown
    reference: bool = False  # the human reference text: a peer of the others, not itself tested
    meta: Mapping[str, str] = field(default_factory=dict)


Texts = tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Panel:
    """Items x agents, and ``texts[item][agent]`` (None where an agent did not answer).

    Raises:
        DataError: ids or names repeat, the texts have another shape, or are not Unicode.
    """

    items: tuple[Item, ...]  # the sources, in order
    agents: tuple[Agent, ...] = ()  # the writers, in order; none before agents have answered
    texts: Texts = ()  # one row per item, one entry per agent
    task: str = "summarization"  # summarization, translation, peer_review, or a user's own word
    # how the panel was made; copied into every result
    provenance: Mapping[str, object] = field(default_factory=dict)
    # recorded judgments, and labels of people, rater by rater, where the data have such; whoever
    # takes the head of the panel takes that of the judgments
    judgments: JudgmentTable | None = None
    # criterion -> the same, where the data hold several questions; ``judgments`` is then None
    criteria: Mapping[str, JudgmentTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_unique("item id", (item.id for item in self.items))
        require_unique("agent name", (agent.name for agent in self.agents))
        if not self.texts:
            object.__setattr__(self, "texts", tuple(() for _ in self.items))
        widths = {len(row) for row in self.texts}
        if len(self.texts) != len(self.items) or widths - {len(self.agents)}:
            raise DataError(
                f"A panel of {len(self.items)} items x {len(self.agents)} agents needs texts of "
                f"that shape, but got {len(self.texts)} rows of width {sorted(widths)}."
            )
        for item, row in zip(self.items, self.texts, strict=True):
            for text in (item.source, item.reference, *row):
                if text is not None and halved(text):
                    raise DataError(f"Item {item.id!r}: {HALVED}: repair it at its source.")

    def with_agents(self, agents: Iterable[Agent], texts: Texts, /, **provenance: object) -> Panel:
        """The same items answered by these agents."""
        noted = {**self.provenance, **provenance}
        return replace(self, agents=tuple(agents), texts=texts, provenance=noted)

    @property
    def task_description(self) -> str:
        """What prompts say the task is."""
        return str(self.provenance.get("task_description") or self.task)

    def head(self, limit: int | None) -> Panel:
        """The first ``limit`` items (all where limit is None)."""
        if limit is None:
            return self
        items, texts = self.items[:limit], self.texts[:limit]
        names = [item.id for item in items]
        judgments = self.judgments and self.judgments.about(names)
        criteria = {name: table.about(names) for name, table in self.criteria.items()}
        return replace(self, items=items, texts=texts, judgments=judgments, criteria=criteria)

    @property
    def digest(self) -> str:
        """A hash of all that a mechanism can see: ids, texts, names, and scores that came along."""
        sha = hashlib.sha256()
        for item, row in zip(self.items, self.texts, strict=True):
            for part in (item.id, item.source, item.reference, item.synopsis, *row):
                sha.update(b"\x00" if part is None else b"\x01" + part.encode() + b"\x02")
            if item.scores:
                plain = {name: dict(by_agent) for name, by_agent in item.scores.items()}
                sha.update(json.dumps(plain, sort_keys=True).encode() + b"\x05")
        for agent in self.agents:
            sha.update(f"{agent.name}\x03{agent.category}\x03{agent.reference}\x04".encode())
        for table in filter(None, (self.judgments, *self.criteria.values())):
            sha.update(table.digest.encode())
        return sha.hexdigest()[:16]


def without(panel: Panel, agents: NDArray[np.bool_]) -> Panel:
    """The panel with no text of the masked agents, so that no LM is paid to rewrite them."""
    return keeping(panel, replace(panel, texts=((None,) * len(agents),) * len(panel.items)), agents)


def keeping(changed: Panel, before: Panel, agents: NDArray[np.bool_]) -> Panel:
    """The changed panel with the masked agents' texts as they were before."""
    rows = (
        tuple(old if keep else new for old, new, keep in zip(was, now, agents, strict=True))
        for was, now in zip(before.texts, changed.texts, strict=True)
    )
    return replace(changed, texts=tuple(rows))


def rng_for(seed: int, *parts: str) -> np.random.Generator:
    """A generator that depends on the seed and the names given, and on nothing else."""
    digest = hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


def folds(item_ids: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """[items] fold of each item: shuffled by seed and id, whatever their order, and dealt out."""
    order = np.argsort([rng_for(seed, "folds", item_id).random() for item_id in item_ids])
    result = np.empty(len(item_ids), dtype=np.int64)
    result[order] = np.arange(len(item_ids)) % count
    return result


def halved(text: str) -> bool:
    """Whether a text is no Unicode, as of a JSON file or a cut reply: no tokenizer takes it."""
    return len(text.encode(errors="ignore")) < len(text.encode(errors="surrogatepass"))
