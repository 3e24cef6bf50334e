"""A user's own panel: one JSON object a line; every fault of the file is kept with its line."""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, FiniteFloat, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.judgments import JudgmentTable, Units
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Agent, Item, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.files import Records, Row, read_records, refuse

CATEGORIES = tuple(sorted(GOOD_FAITH | PROBLEMATIC | {"Other"}))
PEOPLE = "people"  # who gave scores that come without names

FAULTS = {
    "missing": "is missing",
    "blank": "is empty",
    "string_type": "is not text but {kind}",
    "unicode": "is not valid Unicode (half of a surrogate pair)",
    "float_type": "is not a number but {kind}",
    "finite_number": "is not finite ({value})",
}
"""What pydantic finds -> how it is said; of a whole object: ``OBJECTS``."""

OBJECTS = {
    "responses": "responses is not an object of agent: text but {kind}",
    "human": "human is not an object of agent: score but {kind}",
}


def _unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("unicode", "half of a surrogate pair") from None
    return text


def _full(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "nothing but space")
    return text


Text = Annotated[str, AfterValidator(_unicode)]
FullText = Annotated[Text, AfterValidator(_full)]


class Record(BaseModel):
    """One line: an item, the responses to it and their human scores (absent ones left out)."""

    model_config = ConfigDict(strict=True, frozen=True)

    id: FullText
    source: FullText
    reference: Text | None = None
    synopsis: Text | None = None
    responses: dict[FullText, FullText] = {}
    human: dict[str, FiniteFloat] = {}
    raters: dict[str, dict[str, float]] = {}  # rater -> agent -> score, behind the means of human


KEYS = tuple(name for name in Record.model_fields if name != "raters")


@dataclass(frozen=True, kw_only=True)
class Jsonl(LimitedDataset):
    """Items, responses and human scores of a user's own.

    A line holds ``id`` (text or a whole number), ``source``, and optionally ``reference``,
    ``synopsis``, ``responses`` (agent: text) and ``human`` (agent: score, or rater: score)::

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
    """

    path: str
    task: str = "summarization"
    task_description: str = "Summarise a text"
    noun: str = "text"
    agents: Mapping[str, str | None] | None = None
    reference_agent: str | None = None
    strict: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise ConfigError("dataset=jsonl needs dataset.path=FILE.")
        refuse_categories(self.agents)

    def _panel(self, limit: int | None) -> Panel:
        file = Path(self.path).expanduser()
        records = read_records(self.path)
        ignored = set[str]()
        listed = listing(records, None if self.strict else ignored)
        names, misnamed = self._names(listed)
        refuse(repr(self.path), [*listed.faults, *misnamed])
        items = listed.records[:limit]
        facts: dict[str, object] = {"dataset": file.stem, "source": "path", "file": self.path}
        sha = hashlib.sha256(file.read_bytes()).hexdigest()
        facts |= {"rows": len(items), "sha256": sha, "ignored_keys": sorted(ignored)}
        facts["task_description"] = self.task_description
        return self._of_records(items, names, facts)

    def _names(self, listed: Listing) -> tuple[list[str], list[str]]:
        """The agents in order, and faults: those that are named but cannot be."""
        answering, scored = listed.answering, listed.scored
        if self.agents is None:
            faults = [
                f"line {scored[name]}: human scores {name!r}, who has no response in this file"
                + near(name, answering)
                for name in sorted(scored.keys() - answering.keys(), key=scored.__getitem__)
            ]
            return list(answering), faults
        faults = [
            f"line {line}: agent {name!r} is not declared in dataset.agents"
            + near(name, self.agents)
            for name, line in sorted({**scored, **answering}.items(), key=lambda pair: pair[1])
            if name not in self.agents
        ]
        faults += [
            f"dataset.agents: {name!r} has no response in this file"
            for name in self.agents
            if name not in answering
        ]
        return list(self.agents), faults

    def _of_records(
        self, found: Sequence[Record], names: list[str], facts: dict[str, object]
    ) -> Panel:
        if self.reference_agent is not None and self.reference_agent not in names:
            raise ConfigError(
                f"dataset.reference_agent={self.reference_agent!r} is not an agent of "
                f"{self.path!r}{near(self.reference_agent, names)}"
            )
        categories = {str(k): v for k, v in (self.agents or {}).items()}
        return Panel(
            items=tuple(
                Item(r.id, r.source, _present(r.reference), _present(r.synopsis), human=r.human)
                for r in found
            ),
            agents=tuple(
                Agent(name, categories.get(name), reference=name == self.reference_agent)
                for name in names
            ),
            texts=tuple(tuple(r.responses.get(name) for name in names) for r in found),
            task=self.task,
            provenance=facts,
            judgments=self._judgments(found, names),
        )

    def _judgments(self, found: Sequence[Record], names: Sequence[str]) -> JudgmentTable | None:
        """Grades rater by rater, where several are named."""
        if not any(r.raters for r in found):
            return None
        said = {r.id: r.raters or {PEOPLE: r.human} for r in found}
        raters = list(dict.fromkeys(who for given in said.values() for who in given if given[who]))
        units = [
            (r.id, name)
            for r in found
            for name in names
            if name != self.reference_agent and (name in r.responses or name in r.human)
        ]
        labels = [[said[i].get(who, {}).get(name, np.nan) for who in raters] for i, name in units]
        return JudgmentTable(
            "grade",
            Units.of([i for i, _ in units], [name for _, name in units]),
            tuple(raters),
            np.array(labels, np.float64).reshape(len(units), len(raters)),
            (),
            np.empty((0, len(units), 1)),
            np.empty((0, len(units), 1), np.bool_),
        )


@dataclass(slots=True)
class Listing:
    """What a file holds: its sound lines, the faults, and the line where each agent is first met.

    Agents of unsound lines are noted too, so that one fault does not bring forth others.
    """

    records: list[Record] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    answering: dict[str, int] = field(default_factory=dict)
    scored: dict[str, int] = field(default_factory=dict)

    def note(self, line: int, row: Mapping[str, Any]) -> None:
        """Note who answers and who is scored in a line."""
        for key, seen in (("responses", self.answering), ("human", self.scored)):
            for name in row[key] if isinstance(row.get(key), dict) else ():
                seen.setdefault(name, line)


def listing(records: Records, ignored: set[str] | None) -> Listing:
    """What the rows of a file hold.

    Unknown keys are faults, unless a set is given to collect them.
    """
    found = Listing(faults=list(records.faults))
    first: dict[str, int] = {}
    for line, given in records.rows:
        row = _without_nulls(given)
        found.note(line, row)
        id_ = row.get("id")
        faults = list(_unknown_keys(row, ignored))
        if id_ is not None and first.setdefault(str(id_), line) != line:
            faults.insert(0, f"the id {str(id_)!r} was used in line {first[str(id_)]}")
        try:
            human, raters = _people(row.get("human"))
            said = row | ({} if human is None else {"human": human})
            record = Record(**{key: said[key] for key in KEYS if key in said}, raters=raters)
        except ValidationError as cause:
            faults += [_fault(error) for error in cause.errors()]
        except DataError as cause:
            faults.append(str(cause))
        found.faults += [f"{records.noun} {line}: {fault}" for fault in faults]
        if not faults:
            found.records.append(record)
    return found


def refuse_categories(agents: Mapping[str, str | None] | None) -> None:
    """ConfigError where ``dataset.agents`` gives an agent a category that there is not."""
    for name, category in (agents or {}).items():
        if category is not None and category not in CATEGORIES:
            raise ConfigError(
                f"dataset.agents.{name}={category!r} is no category"
                f"{near(str(category), CATEGORIES) or ': use ' + ', '.join(CATEGORIES)}"
            )


def near(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` where a known name is close; otherwise nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _without_nulls(given: Row) -> dict[str, Any]:
    """A row without its nulls; an id that is a number is text."""
    row = dict(given)
    if type(row.get("id")) is int:
        row["id"] = str(row["id"])
    for key in OBJECTS:
        if isinstance(row.get(key), dict):
            row[key] = {name: value for name, value in row[key].items() if value is not None}
    return {key: value for key, value in row.items() if key not in KEYS or value is not None}


def _people(given: Any) -> tuple[Any, dict[str, dict[str, float]]]:
    """Human scores with the mean where several raters are named; rater -> agent -> score.

    Raises:
        DataError: a rater's score is no finite number.
    """
    raters: dict[str, dict[str, float]] = {}
    if not isinstance(given, dict) or not any(isinstance(one, dict) for one in given.values()):
        return given, raters
    means: dict[str, float] = {}
    for agent, said in given.items():
        scores = said if isinstance(said, dict) else {PEOPLE: said}
        for rater, score in scores.items():
            if score is None:
                continue
            if type(score) not in (int, float) or not math.isfinite(_float(score)):
                raise DataError(f"the human score of {agent!r} by {rater!r} is no finite number")
            raters.setdefault(rater, {})[agent] = _float(score)
        known = [of[agent] for of in raters.values() if agent in of]
        means |= {agent: sum(known) / len(known)} if known else {}
    return means, raters


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf


def _unknown_keys(row: Mapping[str, Any], ignored: set[str] | None) -> Iterator[str]:
    for key in row:
        if key in KEYS:
            continue
        if ignored is None:
            yield f"unknown key {key!r}{near(key, KEYS) or ', known are ' + ', '.join(KEYS)}"
        else:
            ignored.add(key)


def _fault(error: ErrorDetails) -> str:
    """What is wrong with a line, and where."""
    key, *inner = map(str, error["loc"])
    value, kind = error["input"], error["type"]
    if kind == "float_type" and type(value) is int:  # of hundreds of digits
        kind = "finite_number"
    if len(inner) > 1:
        return f"{key} has an agent with the unusable name {inner[0]!r}"
    what = key
    if inner:
        what = f"the {'response' if key == 'responses' else 'human score'} of {inner[0]!r}"
    said = OBJECTS[key] if kind == "dict_type" else f"{what} {FAULTS.get(kind, error['msg'])}"
    if inner and kind == "blank":
        said += " (leave it out where there is none)"
    return said.replace("{kind}", _kind(value)).replace("{value}", str(value)[:40])


def _present(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


def _kind(value: object) -> str:
    names = {bool: "true/false", int: "a number", float: "a number", str: "text"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")
