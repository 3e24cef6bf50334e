"""What judges were shown and said in one run, call by call, from its records on disk."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.report.judged_texts import JudgedTexts, judged_texts, table
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    from pandas import DataFrame

PANELS = ("clean", "attacked")
READ = ("verdict", "rating", "value")
"""Columns of measurements that hold what was read in a single reply."""

UNIT = ("item", "agent", "peer")
Cell = tuple[str, ...]
"""Item and agent, or item and two agents in the order in which they were shown."""


@dataclass(frozen=True)
class JudgedCall:
    """One question to a judge; or one text that a metric scored, where nobody was asked.

    Attributes:
        inputs: panel (clean, attacked), judge, item, agent, of a pair also peer (``agent`` was
            shown first), detail and draw (from 1) where there are any, and the prompt; without
            one, the source and the text.
        output: the reply as it was written, and why it was not scored; "" where it was.
        scores: ``score``, what was read in the reply: a grade, or of a pair 1 (the text shown first
            is better), 0 (the other), .5 (neither); ``people`` says the same. ``agent_score``,
            ``peer_score``, ``agent_people``, ``peer_people``: of the texts, where several calls
            make the score of one. What is not known is missing. ``unscored``: whether the call
            gave no score.
    """

    inputs: Mapping[str, Any]
    output: Mapping[str, Any]
    scores: Mapping[str, float | bool]


def judged_calls(run_dir: RunDir) -> list[JudgedCall]:
    """Every reply of a run's judges; of a judge without any, every text that it scored.

    Empty where the records hold no texts, as then there is no page of items either.
    """
    summary = run_dir.read_json("result.json")["summary"]
    rows = judged_texts(run_dir, str(summary.get("mechanism") or "score"))
    if rows is None:
        return []
    found, asked = list[JudgedCall](), set[tuple[str, str]]()
    for panel in PANELS:
        replies = _replies(run_dir, panel)
        spoken = {one["judge"] for one in replies if one["reply"] or one["prompt"]}
        asked |= {(panel, judge) for judge in spoken}
        told = [one for one in replies if one["judge"] in spoken]
        found += _Panel(panel, rows, run_dir).calls(told)
    return [*found, *_texts(rows, run_dir, asked)]


class _Panel:
    """What is known of the texts and pairs of one panel."""

    def __init__(self, panel: str, rows: JudgedTexts, run_dir: RunDir) -> None:
        self._panel, self._rows = panel, rows
        self._place = {cell: k for k, cell in enumerate(_cells(rows))}
        self._judge = {name: k for k, name in enumerate(rows.judges)}
        self._own = rows.attacked[:, None] if panel == "attacked" else rows.said
        self._apart, self._read = _read(table(run_dir, f"{panel}_measurements"))

    def calls(self, replies: Sequence[Mapping[str, Any]]) -> Iterator[JudgedCall]:
        """One for each reply."""
        often = Counter(self._key(line) for line in replies)
        for line in replies:
            scores = self._scores(line, often[self._key(line)] == 1)
            names = ("judge", "item", "agent", "peer", "detail", "draw", "prompt")
            inputs = {name: line[name] for name in names if line[name]}
            output = {"reply": line["reply"], "reason": line["reason"] or ""}
            if line["probabilities"]:
                output["probabilities"] = line["probabilities"]
            unscored = {"unscored": bool(line["reason"])}
            yield JudgedCall({"panel": self._panel, **inputs}, output, scores | unscored)

    def _key(self, line: Mapping[str, Any]) -> Cell:
        """What tells calls apart whose figures were kept apart."""
        return line["judge"], *(str(line[name] or "") for name in self._apart)

    def _scores(self, line: Mapping[str, Any], alone: bool) -> dict[str, float | bool]:
        """Known figures; those of the call itself only where no other call is about the same."""
        judge, about = line["judge"], _about(line)
        read = self._read.get(self._key(line)[1:], math.nan) if alone else math.nan
        own: dict[str, float] = {}
        if about in self._place or _turned(about) in self._place:
            said, people = self._unit(judge, about)
            whole = alone and self._apart == UNIT  # no other call is about this text
            own = {"score": said} if whole else {"score": read, "agent_score": said}
            own["people"] = people
        elif len(about) == 3:
            own = {"score": read}
            for name, agent in zip(("agent", "peer"), about[1:], strict=True):
                said, people = self._unit(judge, (about[0], agent))
                own |= {f"{name}_score": said, f"{name}_people": people}
        return {name: value for name, value in own.items() if not math.isnan(value)}

    def _unit(self, judge: str, about: Cell) -> tuple[float, float]:
        """What the judge and people say of a text, or of a pair as it was shown."""
        k, turned = self._place.get(about), False
        if k is None:
            k, turned = self._place.get(_turned(about)), True
        if k is None:
            return math.nan, math.nan
        j, people = self._judge.get(judge), float(self._rows.people[k])
        said = math.nan if j is None else float(self._own[k, j])
        if len(about) == 2:
            return said, people
        if j is not None:
            said = float(self._rows.values[k, j, min(int(turned), self._rows.values.shape[2] - 1)])
        return (1 - said, 1 - people) if turned else (said, people)


def _texts(rows: JudgedTexts, run_dir: RunDir, asked: set[tuple[str, str]]) -> Iterator[JudgedCall]:
    """One for each text, or pair, and judge that was not asked in words."""
    sources, reasons = _column(run_dir, "source_texts", "source"), dict[tuple[str, Cell], str]()
    for panel in PANELS:
        for line in _replies(run_dir, panel):
            reasons[panel, _about(line)] = line["reason"]
    people = rows.people
    for panel, own in {"clean": rows.said, "attacked": rows.attacked[:, None]}.items():
        if panel == "attacked" and np.isnan(own).all():
            continue
        texts = _column(run_dir, f"{panel}_texts", "text")
        for j, judge in enumerate(rows.judges):
            for k, cell in enumerate(_cells(rows)):
                if (panel, judge) in asked or not rows.asked[k, j].any():
                    continue
                item, *agents = cell
                names = dict(zip(("agent", "peer"), agents, strict=False))
                shown = {f"{name}_text": texts.get((item, agent)) for name, agent in names.items()}
                inputs: dict[str, Any] = {"panel": panel, "judge": judge, "item": item, **names}
                inputs |= {"source": sources.get((item,)), **shown}
                numbers = {"score": float(own[k, min(j, own.shape[1] - 1)]), "people": people[k]}
                scores = {name: float(v) for name, v in numbers.items() if not math.isnan(v)}
                lost = "score" not in scores
                reason = reasons.get((panel, cell), "no value") if lost else ""
                output = {"reply": None, "reason": reason}
                yield JudgedCall(inputs, output, scores | {"unscored": lost})


def _cells(rows: JudgedTexts) -> list[Cell]:
    named = zip(rows.item, rows.first, rows.second, strict=True)
    return [tuple(str(name) for name in names if name) for names in named]


def _turned(about: Cell) -> Cell:
    """The texts of a pair the other way round."""
    return about[0], *about[:0:-1]


def _about(line: Mapping[str, Any]) -> Cell:
    return tuple(str(line[name]) for name in ("item", "agent", "peer") if line[name])


def _replies(run_dir: RunDir, panel: str) -> list[dict[str, Any]]:
    """What judges replied, None for what is missing; also of records that hold no prompts."""
    found = table(run_dir, f"{panel}_reply_texts")
    if found is None:
        return []
    plain = found.reindex(columns=[*found, *{"prompt"}.difference(found)]).astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _read(data: DataFrame | None) -> tuple[Cell, dict[Cell, float]]:
    """Columns of replies that tell calls apart; and by their values what was read in each."""
    figure = None if data is None else next((name for name in READ if name in data), None)
    if data is None or figure is None:
        return UNIT, {}
    named = {"detail": "metric", "draw": "draw"}  # as measurements call it
    apart = (*UNIT, *(name for name, column in named.items() if column in data))
    columns = [named.get(name, name) for name in apart]
    keys = (data[name] if name in data else [""] * len(data) for name in columns)
    cells = (tuple(str(part or "") for part in key) for key in zip(*keys, strict=True))
    return apart, dict(zip(cells, data[figure].astype(float), strict=True))


def _column(run_dir: RunDir, name: str, column: str) -> dict[Cell, str | None]:
    """Item, or item and agent, -> text."""
    data = table(run_dir, name)
    if data is None:
        return {}
    keys = [data[key].astype(str) for key in ("item", "agent") if key in data]
    texts = data[column].astype(object).where(data[column].notna(), None)
    return dict(zip(zip(*keys, strict=True), texts, strict=True))
