"""Panels whose truth is known to us and not to the screen: planted agents, categories, grades."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.peer_prediction.release import read_domain
from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.intervals.arrays import Floats

ITEMS = 60  # of each domain of the TVD-MI release, by the order of their ids
RECORDED = {"GPT-4o-mini, TVD-MI": "tvd_mi", "Llama-3.3-70B, MI": "mi"}
DOMAINS = ("billsum", "reddit_tifu", "samsum", "xsum", "opus")
PLANTED = ("boilerplate", "other item", "copy", "facts swapped")
BOILERPLATE = (
    "The text reports on an event, describes what happened, and how people reacted afterwards.",
    "This is about a recent development, its background, and what may come next.",
    "The author describes a situation in detail, gives points of view and closes with an outlook.",
)
_FACT = re.compile(r"\b(?:\d[\d.,]*|(?<!^)(?<![.!?]\s)[A-Z][\w’'-]+)\b")


@dataclass(frozen=True)
class KnownSet:
    """Texts, and what only a last column may use."""

    name: str
    panel: Panel
    people: Floats = field(default_factory=lambda: np.empty(0))  # [agents] mean grade, or NaN
    recorded: Mapping[str, Floats] = field(default_factory=dict)  # LM -> [agents] mean score


def known_set(name: str, data: Path) -> KnownSet:
    """One of them, from a folder of released data."""
    if name in GRADED:
        return with_planted(name, *GRADED[name][1](data / FILES[name]))
    release = read_domain(data / "peer_prediction", name)
    panel = release.panel(ITEMS)
    items = tuple(Item(one.id, "") for one in panel.items)  # nobody is cleared by sources here
    recorded = {
        lm: np.nanmean((cells + cells.transpose(0, 2, 1)) / 2, axis=(0, 2))
        for lm, mechanism in RECORDED.items()
        if (cells := release.pairs(mechanism)) is not None
    }
    return KnownSet(name, replace(panel, items=items), recorded=recorded)


def with_planted(name: str, texts: pd.DataFrame, people: pd.Series) -> KnownSet:
    """A set with four agents more, made of its own texts (items x agents)."""
    first, second, third = (texts.iloc[:, k] for k in range(3))
    turned = np.roll(np.arange(len(texts)), 7)
    more: dict[str, Any] = {
        "boilerplate": [text for text, _ in zip(cycle(BOILERPLATE), texts.index, strict=False)],
        "other item": first.to_numpy()[turned],
        "copy": [" ".join(np.delete(text.split(), np.s_[7::20])) for text in second],
        "facts swapped": list(map(_swapped, third, third.to_numpy()[turned])),
    }
    whole = texts.assign(**more)
    rows = whole.where(whole.notna(), None).to_numpy(object)
    items = tuple(Item(str(item), "") for item in whole.index)
    agents = tuple(Agent(str(agent)) for agent in whole.columns)
    grades = people.reindex(whole.columns).to_numpy(np.float64)
    return KnownSet(name, Panel(items, agents, tuple(map(tuple, rows))), grades)


def _swapped(text: str, other: str) -> str:
    """Every number and name in the place of which the other text has one."""
    facts = cycle(_FACT.findall(other) or ["17"])
    return _FACT.sub(lambda _: next(facts), text)


Graded = tuple[pd.DataFrame, pd.Series]


def _with_grades(rows: pd.DataFrame, item: str, system: str, text: str, *grades: str) -> Graded:
    """Texts [items, systems], and the mean grade of each system."""
    texts = rows.pivot_table(index=item, columns=system, values=text, aggfunc="first")
    return texts, rows[[*grades]].astype(float).mean(axis=1).groupby(rows[system]).mean()


def _auto_pre(folder: Path) -> Graded:
    rows = pd.read_parquet(folder / "answers.parquet")
    rows = rows[(rows["dataset"] == "XSum") & (rows["task_prompt"].astype(str) == "1")]
    grades = pd.read_parquet(folder / "human_pointwise.parquet")
    grades = grades[grades["dataset"] == "XSum"]
    return _with_grades(
        rows.merge(grades, on=["task_id", "model"]), "task_id", "model", "answer", "median"
    )


def _wmt21(file: Path) -> Graded:
    """MQM: minus 5 for a major and 1 for a minor error, .1 for punctuation; one rater a segment.

    Human translations are no systems here: they are what translations are held against elsewhere.
    """
    rows = pd.read_csv(file, sep="\t", quoting=csv.QUOTE_NONE)
    rows = rows[~rows["system"].str.startswith("ref")]
    rows["lost"] = rows["severity"].map({"Major": 5.0, "Minor": 1.0}).fillna(0.0)
    small = (rows["severity"] == "Minor") & (rows["category"] == "Fluency/Punctuation")
    rows.loc[small, "lost"] = 0.1
    rows["text"] = rows["target"].str.replace(r"</?v>", "", regex=True)
    whole = rows.groupby(["seg_id", "system"]).agg({"text": "first", "lost": "sum"}).reset_index()
    texts, errors = _with_grades(whole, "seg_id", "system", "text", "lost")
    return texts[texts.index % 5 == 0], -errors  # sentences that do not follow each other


def _replies(file: Path, path: str | None = None, meta: str | None = None) -> pd.DataFrame:
    return pd.json_normalize(json.loads(file.read_text(encoding="utf-8")), path, meta)


GRADED: Mapping[str, tuple[str, Callable[[Path], Graded]]] = {
    "summeval": (
        "summeval/summeval_1200_human.parquet",
        lambda file: _with_grades(
            pd.read_parquet(file),
            *("doc_id", "system_id", "summary"),
            *("coherence", "consistency", "fluency", "relevance"),
        ),
    ),
    "rose": (
        "rose/rose_cnndm_100docs_x_12systems.parquet",
        lambda file: _with_grades(pd.read_parquet(file), "example_id", "system", "summary", "acu"),
    ),
    "auto_pre": ("auto_pre", _auto_pre),
    "wmt21_zh_en": ("public/wmt21_ted/mqm_ted_zhen.tsv", _wmt21),
    "wmt21_en_de": ("public/wmt21_ted/mqm_ted_ende.tsv", _wmt21),
    "topical_chat": (
        "public/topical_chat/topical_chat.json",
        lambda file: _with_grades(
            _replies(file), "source", "system_id", "system_output", "scores.overall"
        ),
    ),
    "persona_chat": (
        "public/persona_chat/pc_usr_data.json",
        lambda file: _with_grades(
            _replies(file, "responses", "context").explode("Overall"),
            *("context", "model", "response", "Overall"),
        ),
    ),
    "gem": (
        "gem/gem_iclr2023_300x3_reviews.parquet",
        lambda file: _with_grades(
            pd.read_parquet(file).query("paper_idx < 100"),
            *("paper_id", "review_no", "review_summary_gpt4o"),
        ),
    ),
}
"""Set -> its file or folder within the data, and who reads it. In the dialogues two of the systems
are people."""
FILES = dict.fromkeys(DOMAINS, "peer_prediction") | {name: one for name, (one, _) in GRADED.items()}
"""Of all sets; those with 30 agents, which take longest, first."""
