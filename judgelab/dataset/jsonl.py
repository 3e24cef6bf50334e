"""A user's own panel: one JSON object a line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Agent, Item, Panel
from judgelab.dataset.jsonl_rows import Listing, Problems, Record, listing, near
from judgelab.dataset.rows import at_least_one

CATEGORIES = tuple(sorted(GOOD_FAITH | PROBLEMATIC | {"Other"}))


class Jsonl:
    """Items, responses and human scores of a user's own.

    A line holds ``id`` (text or a whole number), ``source``, and optionally ``reference``,
    ``synopsis``, ``responses`` (agent: text) and ``human`` (agent: score)::

        {"id": "a1", "source": "...", "responses": {"gpt": "...", "me": "..."}, "human": {"me": 4}}

    An agent that is absent from a line, or null there, did not answer that item: its text is
    None and stays unscored. Columns follow ``agents``, else the order of first appearance.

    Args:
        path: the file; UTF-8, a byte order mark and blank lines are tolerated.
        task: summarization, translation, peer_review, or a word of your own.
        task_description: one line for prompts.
        noun: what a source is called in prompts.
        agents: every agent's name and category (Faithful, Style, Strategic, Low Effort, Other,
            or null); null: all agents found, without categories.
        reference_agent: the agent that is the human reference, a peer but not itself tested.
        strict: whether an unknown key is a fault; if not, the provenance lists those ignored.
        limit: the first so many items; ``load`` may override it. The whole file is checked.

    Raises:
        ConfigError: no path, an unknown category, or a limit below 1.
    """

    def __init__(
        self,
        *,
        path: str,
        task: str = "summarization",
        task_description: str = "Summarise a text",
        noun: str = "text",
        agents: Mapping[str, str | None] | None = None,
        reference_agent: str | None = None,
        strict: bool = True,
        limit: int | None = None,
    ) -> None:
        if not path:
            raise ConfigError("dataset=jsonl needs dataset.path=FILE.")
        for name, category in (agents or {}).items():
            if category is not None and category not in CATEGORIES:
                raise ConfigError(
                    f"dataset.agents.{name}={category!r} is no category"
                    f"{near(str(category), CATEGORIES) or ': use ' + ', '.join(CATEGORIES)}"
                )
        self.path, self.task = str(path), task
        self.task_description, self.noun = task_description, noun
        self.agents = None if agents is None else {str(k): v for k, v in agents.items()}
        self.reference_agent, self.strict = reference_agent, strict
        self.limit = at_least_one(limit)

    def load(self, limit: int | None = None) -> Panel:
        """The panel.

        Returns:
            Items, agents and texts; its provenance holds dataset, source, file, rows, the hash
            of the file, and the keys ignored (strict=false).

        Raises:
            ConfigError: the limit is below 1, or reference_agent is not in the file.
            DataError: there is no such file, it has no rows, or lines have faults: all faults
                are counted and the first twenty listed with line and reason.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        file = Path(self.path).expanduser()
        if not file.is_file():
            raise DataError(f"There is no file {self.path!r}: check dataset.path.")
        raw = file.read_bytes()
        problems, ignored = Problems(), set[str]()
        listed = listing(raw, problems, None if self.strict else ignored)
        names = self._names(listed, problems)
        problems.refuse(self.path)
        found = listed.records[:limit]
        if not found:
            raise DataError(f"{self.path!r} has no rows.")
        facts: dict[str, object] = {"dataset": file.stem, "source": "path", "file": self.path}
        facts |= {"rows": len(found), "sha256": hashlib.sha256(raw).hexdigest()}
        facts |= {"ignored_keys": sorted(ignored), "task_description": self.task_description}
        return self._panel(found, names, facts)

    def _names(self, listed: Listing, problems: Problems) -> list[str]:
        """The agents in order; those that are named but cannot be are faults."""
        answering, scored = listed.answering, listed.scored
        if self.agents is None:
            for name in sorted(scored.keys() - answering.keys(), key=scored.__getitem__):
                reason = f"human scores {name!r}, who has no response in this file"
                problems.add(f"line {scored[name]}", reason + near(name, answering))
            return list(answering)
        for name, line in sorted({**scored, **answering}.items(), key=lambda pair: pair[1]):
            if name not in self.agents:
                reason = f"agent {name!r} is not declared in dataset.agents"
                problems.add(f"line {line}", reason + near(name, self.agents))
        for name in self.agents:
            if name not in answering:
                problems.add("dataset.agents", f"{name!r} has no response in this file")
        return list(self.agents)

    def _panel(self, found: Sequence[Record], names: list[str], facts: dict[str, object]) -> Panel:
        if self.reference_agent is not None and self.reference_agent not in names:
            raise ConfigError(
                f"dataset.reference_agent={self.reference_agent!r} is not an agent of "
                f"{self.path!r}{near(self.reference_agent, names)}"
            )
        categories = self.agents or {}
        return Panel(
            items=tuple(
                Item(r.id, r.source, r.reference, r.synopsis, human=dict(r.human)) for r in found
            ),
            agents=tuple(
                Agent(name, categories.get(name), reference=name == self.reference_agent)
                for name in names
            ),
            texts=tuple(tuple(r.responses.get(name) for name in names) for r in found),
            task=self.task,
            provenance=facts,
        )
