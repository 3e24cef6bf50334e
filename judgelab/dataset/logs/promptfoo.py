"""Results of promptfoo: tests x prompts x providers, with assertions and manual ratings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgelab.dataset.files import Row
from judgelab.dataset.logs.log import Log, LogFile, Unit, each, either, part, prose, rows_of
from judgelab.dataset.rows import PEOPLE

TOOL = "promptfoo results"
ITEMS = "tests"
ALL = "all assertions"  # the judge that passes what every assertion passes
BY_CODE = re.compile(  # how types begin that code decides; models decide the others
    "(not-)?(cost|latency|perplexity|python|javascript|ruby|webhook|guardrails|equals|i?contains|"
    "starts|regex|is-|levenshtein|rouge|bleu|gleu|meteor|similar|word-count|finish|trace|tool)"
)


def recognises(content: Any) -> bool:
    """Results hold variables, a provider and whether the test passed."""
    rows = rows_of(content, "results")
    return any({"vars", "provider", "success"} <= row.keys() for row in rows)


def read(files: Sequence[LogFile], log: Log) -> None:
    """Prompts x providers are agents, model-graded assertions judges, manual ratings people's."""
    results = list(each(files, "results"))
    keys = [str(row.get("promptId") or part(row, "prompt").get("label")) for row in results]
    prompts = list(dict.fromkeys(keys))
    whole = any([*map(_by_model, _parts(row)[1])] not in ([], [True]) for row in results)
    tests = dict[str, str]()
    for key, row in zip(keys, results, strict=True):
        output = part(row, "response").get("output")
        if row.get("failureReason") == 2 or output is None:  # the call failed
            log.left_out["outputs with errors"] += 1
            continue
        item = tests.setdefault(json.dumps(row["vars"], sort_keys=True), f"test {len(tests) + 1}")
        prompt = f", prompt {prompts.index(key) + 1}" if len(prompts) > 1 else ""
        agent = f"{either(part(row, 'provider'), 'label', 'id') or row['provider']}{prompt}"
        facts = {"text": prose(output), "source": prose(part(row, "prompt").get("raw"))}
        _grade(log.unit(item, agent, alike=facts["text"], **facts), row, whole)


def _parts(row: Row) -> tuple[list[Row], list[Row]]:
    """What people gave, and what assertions gave; those of a set stand for themselves."""
    grading = part(row, "gradingResult")
    sets = rows_of(grading, "componentResults")
    parts = [x for one in sets for x in rows_of(one, "componentResults") or [one]]
    hand = [one for one in parts if part(one, "assertion").get("type") == "human"]
    if not hand and prose(grading.get("reason")).startswith("Manual result"):  # older releases
        hand = [grading]
    return hand, [one for one in parts if one not in hand]


def _by_model(one: Row) -> bool:
    return not BY_CODE.match(prose(part(one, "assertion").get("type")))


def _grade(unit: Unit, row: Row, whole: bool) -> None:
    """A person's rating is of the whole output: what one assertion alone asks, or all of them."""
    hand, own = _parts(row)
    criteria, names = set[str](), Counter[str]()
    if whole and own:
        unit.verdict(ALL, all(one.get("pass") for one in own))
    for one in own:
        kind, metric = (prose(part(one, "assertion").get(key)) for key in ("type", "metric"))
        if _by_model(one):
            criteria.add(metric)
            names[kind + metric] += 1
            name = f"{kind} {k}" if (k := names[kind + metric]) > 1 else kind
            verdict = None if part(one, "metadata").get("graderError") else one.get("pass")
            unit.verdict(name, verdict, metric, one.get("reason"))
    for one in hand:
        for criterion in {""} if whole else criteria or {""}:
            unit.label(PEOPLE, one.get("pass"), criterion)
