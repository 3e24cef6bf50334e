"""Lines of a user's panel file: every line is checked, every fault is kept with its number."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgelab.core.errors import DataError
from judgelab.dataset.rows import finite

KEYS = ("id", "source", "reference", "synopsis", "responses", "human")
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Record:
    """One line: an item, the responses to it and their human scores (absent ones left out)."""

    line: int
    id: str
    source: str
    reference: str | None
    synopsis: str | None
    responses: Mapping[str, str]
    human: Mapping[str, float]


@dataclass(slots=True)
class Problems:
    """Faults of a file, in the order found; the first ``SHOWN`` are written out."""

    total: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, where: str, reason: str) -> None:
        """Keep one fault."""
        self.total += 1
        if len(self.shown) < SHOWN:
            self.shown.append(f"  {where}: {reason}")

    def refuse(self, path: str) -> None:
        """Raise if there is any.

        Raises:
            DataError: how many faults the file has, and the first of them.
        """
        if not self.total:
            return
        noun = "problem" if self.total == 1 else "problems"
        head = f"{path!r} has {self.total} {noun}; mend them, nothing was loaded"
        more = f" (the first {SHOWN} of them):" if self.total > SHOWN else ":"
        raise DataError("\n".join([head + more, *self.shown]))


class Fault(Exception):
    """Why a line cannot be read at all."""


@dataclass(slots=True)
class Listing:
    """What a file holds: its sound lines, and the line where each agent is first met.

    Agents of unsound lines are noted too, so that one fault does not bring forth others.
    """

    records: list[Record] = field(default_factory=list)
    answering: dict[str, int] = field(default_factory=dict)
    scored: dict[str, int] = field(default_factory=dict)

    def note(self, line: int, row: Mapping[str, Any]) -> None:
        """Note who answers and who is scored in a line."""
        for key, seen in (("responses", self.answering), ("human", self.scored)):
            part = row.get(key)
            for name, value in part.items() if isinstance(part, Mapping) else ():
                if value is not None:
                    seen.setdefault(name, line)


def listing(raw: bytes, problems: Problems, ignored: set[str] | None) -> Listing:
    """What the bytes of a file hold; faults go to ``problems``.

    UTF-8 with or without a byte order mark, any line ends; blank lines are passed over.
    Unknown keys are faults, unless a set is given to collect them.
    """
    found = Listing()
    first: dict[str, int] = {}
    for line, text in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            row = _parsed(text)
        except Fault as fault:
            problems.add(f"line {line}", str(fault))
            continue
        found.note(line, row)
        id_ = str(row.get("id"))
        if row.get("id") is not None and first.setdefault(id_, line) != line:
            problems.add(f"line {line}", f"the id {id_!r} was used in line {first[id_]}")
        record = _record(line, row, problems, ignored)
        if record is not None:
            found.records.append(record)
    return found


def near(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` where a known name is close; otherwise nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        row = json.loads(text.decode("utf-8"), object_pairs_hook=_no_repeats)
    except UnicodeDecodeError as cause:
        raise Fault(f"not valid UTF-8 (byte {cause.start + 1} of the line)") from cause
    except json.JSONDecodeError as cause:
        raise Fault(f"not valid JSON ({cause.msg}, character {cause.pos + 1})") from cause
    except RecursionError as cause:
        raise Fault("not usable JSON (nested too deeply)") from cause
    except ValueError as cause:  # Python refuses whole numbers of thousands of digits
        raise Fault("not usable JSON (a number with too many digits)") from cause
    if not isinstance(row, dict):
        raise Fault("not a JSON object")
    return row


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):  # JSON would keep the last of them and drop the others silently
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise Fault(f"the key {repeated!r} occurs twice in one object")
    return row


def _record(
    line: int, row: Mapping[str, Any], problems: Problems, ignored: set[str] | None
) -> Record | None:
    faults = list(_unknown_keys(row, ignored))
    id_ = row.get("id")
    if isinstance(id_, int) and not isinstance(id_, bool):
        id_ = str(id_)
    responses, human = ({} if row.get(key) is None else row[key] for key in ("responses", "human"))
    faults += _text_faults("id", id_, required=True)
    faults += _text_faults("source", row.get("source"), required=True)
    for key in ("reference", "synopsis"):
        faults += _text_faults(key, row.get(key), required=False)
    faults += _response_faults(responses)
    faults += _human_faults(human)
    for fault in faults:
        problems.add(f"line {line}", fault)
    if faults:
        return None
    return Record(
        line=line,
        id=str(id_),
        source=row["source"],
        reference=_blank_to_none(row.get("reference")),
        synopsis=_blank_to_none(row.get("synopsis")),
        responses={name: text for name, text in responses.items() if text is not None},
        human={name: float(score) for name, score in human.items() if score is not None},
    )


def _unknown_keys(row: Mapping[str, Any], ignored: set[str] | None) -> Iterator[str]:
    for key in row:
        if key in KEYS:
            continue
        if ignored is None:
            yield f"unknown key {key!r}{near(key, KEYS) or ', known are ' + ', '.join(KEYS)}"
        else:
            ignored.add(key)


def _text_faults(what: str, value: object, *, required: bool) -> Iterator[str]:
    if value is None:
        if required:
            yield f"{what} is missing"
    elif not isinstance(value, str):
        yield f"{what} is not text but {_kind(value)}"
    elif required and not value.strip():
        yield f"{what} is empty"
    elif not _encodes(value):
        yield f"{what} is not valid Unicode (half of a surrogate pair)"


def _response_faults(responses: object) -> Iterator[str]:
    if not isinstance(responses, Mapping):
        yield f"responses is not an object of agent: text but {_kind(responses)}"
        return
    for name, text in responses.items():
        if not name.strip() or not _encodes(name):
            yield f"responses has an agent with the unusable name {name!r}"
        for fault in _text_faults(f"the response of {name!r}", text, required=text is not None):
            yield fault + (" (leave it out where there is none)" if "empty" in fault else "")


def _human_faults(human: object) -> Iterator[str]:
    if not isinstance(human, Mapping):
        yield f"human is not an object of agent: score but {_kind(human)}"
        return
    for name, score in human.items():
        if score is None:
            continue
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            yield f"the human score of {name!r} is not a number but {_kind(score)}"
        elif not finite(score):
            yield f"the human score of {name!r} is not finite ({score})"


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _blank_to_none(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


def _kind(value: object) -> str:
    names = {bool: "true/false", int: "a number", float: "a number", str: "text"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")
