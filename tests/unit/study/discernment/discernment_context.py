"""A lab for the discernment study, and judges whose discernment is known by construction."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from judgelab.attack.protocol import Attack
from judgelab.config import build
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.rating import Rating
from judgelab.report.format import frame
from judgelab.report.style import Drawn
from tests.drawings import draw
from tests.judgment_tables import audit_context

CONF = Path(__file__).resolve().parents[4] / "conf"
SAMPLES = ("summeval", "sumpubmed", "billsum", "multi_news", "pubmed")
RATING = Rating(Prompt("rating.txt"))
TEXT = re.compile(r"\[summary\]\n(.*)\n\[End of the summary\]", re.DOTALL)
QUICK: dict[str, Any] = {"replicates": 300}


@cache
def references() -> Panel:
    """Sixty sample items of several datasets, under the name of one."""
    items: list[Item] = []
    for name in SAMPLES:
        node = yaml.safe_load((CONF / "dataset" / f"{name}.yaml").read_text(encoding="utf-8"))
        loaded: Panel = build(node, name).load()
        items += [Item(f"{name}-{k}", i.source, i.reference) for k, i in enumerate(loaded.items)]
    return Panel(tuple(items), provenance={"dataset": "summeval", "source": "sample"})


def lab(
    folder: Path,
    lm: EvaluationLM,
    mechanism: Mechanism = RATING,
    panel: Panel | None = None,
    attack: Attack | None = None,
) -> Context:
    given: dict[str, Any] = {} if attack is None else {"attack": attack}
    texts = references() if panel is None else panel
    return audit_context(texts, folder, evaluation_lm=lm, mechanism=mechanism, **given)


def rows(result: Result, table: str, key: str) -> dict[Any, Any]:
    """The rows of a table by one of their columns."""
    found = next(t for t in result.tables if t.name == table)
    return {row[key]: row for row in found.rows}


def drawn(result: Result) -> list[Drawn]:
    """All figures of a result, from its tables as they are written."""
    tables = {t["name"]: frame(t) for t in result.to_json()["tables"]}  # type: ignore[attr-defined]
    return [draw(name, tables) for name in result.figures]


def rated_text(request: ChatRequest) -> str:
    found = TEXT.search(request.messages[0].content)
    assert found is not None
    return found[1]


def at_random(request: ChatRequest) -> str:
    """1 to 5, from what was asked alone: as good as chance, and repeatable."""
    said = request.messages[0].content.encode()
    return str(1 + hashlib.sha256(said).digest()[0] % 5)


@cache
def vocabulary() -> frozenset[str]:
    texts = " ".join(item.reference or "" for item in references().items)
    return frozenset(re.findall(r"\w+", texts.lower()))


def counts_typos(request: ChatRequest) -> str:
    """A point less for every two words that nobody wrote in any reference."""
    words = re.findall(r"\w+", rated_text(request).lower())
    return str(max(1, 5 - sum(word not in vocabulary() for word in words) // 2))
