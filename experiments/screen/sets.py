"""Panels whose truth is known to us and not to the screen: planted agents, categories, grades."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.intervals.arrays import Floats

ITEMS = 60  # of each domain of the TVD-MI release, by the order of their ids
DOMAINS = ("billsum", "reddit_tifu", "samsum", "xsum", "opus")
PLANTED = ("boilerplate", "other item", "copy", "facts swapped")
BOILERPLATE = (
    "The text reports on an event that drew attention and describes what happened, who took part "
    "and how people reacted to it afterwards.",
    "This is about a recent development. Several people are mentioned, and the writer explains "
    "the background as well as what may come next.",
    "The author describes a situation in detail, gives some background, names the main points of "
    "view and closes with an outlook.",
)
_FACT = re.compile(r"\b(?:\d[\d.,]*|(?<!^)(?<![.!?]\s)[A-Z][\w’'-]+)\b")


@dataclass(frozen=True)
class KnownSet:
    """Texts, and what only a last column may use."""

    name: str
    panel: Panel
    people: Floats | None = None  # [agents] mean grade; NaN of planted agents
    categories: tuple[str, ...] = ()


def known_set(name: str, data: Path) -> KnownSet:
    """One of them, from a folder of released data."""
    if name in GRADED:
        return planted(name, *GRADED[name](data))
    if name == "gem":
        rows = pd.read_parquet(data / "gem/gem_iclr2023_300x3_reviews.parquet")
        rows["agent"] = "reviewer " + rows["review_no"].astype(str)
        rows = rows[rows["paper_idx"] < 100]
        return planted(
            name, rows.pivot(index="paper_id", columns="agent", values="review_summary_gpt4o")
        )
    rows = pd.read_parquet(data / "peer_prediction/responses.parquet")
    rows = rows[rows["domain"] == name]
    texts = rows.pivot_table(index="item_id", columns="agent", values="response", aggfunc="first")
    texts = texts.sort_index().head(ITEMS)
    category = rows.drop_duplicates("agent").set_index("agent")["category"].to_dict()
    return KnownSet(name, _panel(texts), categories=tuple(category[k] for k in texts.columns))


def planted(name: str, texts: pd.DataFrame, people: pd.Series | None = None) -> KnownSet:
    """A set with four agents more, made of its own texts (items x agents)."""
    first, second, third = (texts.iloc[:, k] for k in range(3))
    turned = np.roll(np.arange(len(texts)), 7)
    more = {
        "boilerplate": [text for text, _ in zip(cycle(BOILERPLATE), texts.index, strict=False)],
        "other item": first.to_numpy()[turned],
        "copy": [_without_some(text) for text in second],
        "facts swapped": [
            _swapped(*two) for two in zip(third, third.to_numpy()[turned], strict=True)
        ],
    }
    whole = texts.assign(**more)
    grades = None if people is None else people.reindex(whole.columns).to_numpy(np.float64)
    return KnownSet(name, _panel(whole), grades)


def _swapped(text: str, other: str) -> str:
    """Every number and name in the place of which the other text has one."""
    facts = cycle(_FACT.findall(other) or ["17"])
    return _FACT.sub(lambda _: next(facts), text)


def _without_some(text: str) -> str:
    words = text.split()
    return " ".join(word for k, word in enumerate(words) if k % 20 != 7)


def _panel(texts: pd.DataFrame) -> Panel:
    rows = texts.where(texts.notna(), None).to_numpy(object)
    items = tuple(Item(str(name), "") for name in texts.index)
    return Panel(items, tuple(Agent(str(name)) for name in texts.columns), tuple(map(tuple, rows)))


Graded = tuple[pd.DataFrame, pd.Series]


def _summeval(data: Path) -> Graded:
    rows = pd.read_parquet(data / "summeval/summeval_1200_human.parquet")
    grade = rows[["coherence", "consistency", "fluency", "relevance"]].mean(axis=1)
    texts = rows.pivot(index="doc_id", columns="system_id", values="summary")
    return texts, grade.groupby(rows["system_id"]).mean()


def _rose(data: Path) -> Graded:
    rows = pd.read_parquet(data / "rose/rose_cnndm_100docs_x_12systems.parquet")
    texts = rows.pivot(index="example_id", columns="system", values="summary")
    return texts, rows.groupby("system")["acu"].mean()


def _auto_pre(data: Path) -> Graded:
    rows = pd.read_parquet(data / "auto_pre/answers.parquet")
    rows = rows[(rows["dataset"] == "XSum") & (rows["task_prompt"].astype(str) == "1")]
    texts = rows.pivot_table(index="task_id", columns="model", values="answer", aggfunc="first")
    graded = pd.read_parquet(data / "auto_pre/human_pointwise.parquet")
    graded = graded[graded["dataset"] == "XSum"]
    people = graded.groupby("model")["median"].mean()
    return texts[[name for name in texts if name in people.index]], people


GRADED: Mapping[str, Callable[[Path], Graded]] = {
    "summeval": _summeval,
    "rose": _rose,
    "auto_pre": _auto_pre,
}
NAMES = (*DOMAINS, *GRADED, "gem")
"""Of all sets; those with 30 agents, which take longest, first."""
