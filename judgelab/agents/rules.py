"""Offline, deterministic writers that do what each strategy's description says.

Strategies (TVD-MI paper, Tables 7 to 9) are rows of ``words/<task>.yaml``. Only those are here that
do in at least four of five real texts what their name says; what else a taxonomy holds, an LM
writes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from judgelab.agents import Agents
from judgelab.agents.reading import TABLES, Sentence, Source, has_letters
from judgelab.agents.rewriting import CHANGES, choose, compress, deal, embed, finish, quoted
from judgelab.agents.taxonomy import Strategy, Taxonomy, taxonomy_for
from judgelab.core import resources
from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel, rng_for

Writer = Callable[[Source, np.random.Generator], str]  # carries out a strategy on a text

TASKS = ("summarization", "translation", "peer_review")
_OWN = re.compile(r"\b(?:we|our|this (?:paper|work|study))\b", re.IGNORECASE)
_TABLE = re.compile(r"^\W*(?:table|figure|fig|\d+)\b|(?:\d\S*\s+){3}", re.IGNORECASE)


@dataclass(frozen=True)
class Rules(Agents):
    """A synthetic panel: the strategies of a taxonomy that text rules can carry out.

    The others are left out, and named in the provenance (``agents_without_rule``). A text depends
    on the item's source, the strategy and the seed alone. Translation: rules rewrite the item's
    literal English gloss (``meta["gloss"]``) where the dataset has one, else the human reference
    (the provenance says how many); without either, the text is None: unscored.
    """

    taxonomy: str | None = None  # a name under conf/taxonomy or a path; None takes the panel's task
    seed: int = 0  # of all choices
    noun: str | None = None  # what a source is called; None takes the taxonomy's word
    most: Count | None = None  # so many strategies of each category; None takes all

    def answer(self, panel: Panel, lm: EvaluationLM | None = None) -> Panel:
        """The panel's items answered by all strategies, instead of the responses it had; a
        ConfigError where the taxonomy is unknown, or rules carry out none of its strategies."""
        taxonomy = taxonomy_for(panel, self.taxonomy)
        strategies, without = _with_rules(taxonomy, self.most)
        noun = self.noun or taxonomy.noun
        bases = [_base(item, taxonomy.task) for item in panel.items]
        texts = []
        for item, (base, _) in zip(panel.items, bases, strict=True):
            source = Source(base, noun, original=item.source)
            row = {s.name: item.reference if s.reference else None for s in strategies}
            for strategy, writer in strategies.items():
                if writer and base:
                    rng = rng_for(self.seed, "rules", item.id, strategy.name)
                    row[strategy.name] = writer(source, rng)
            texts.append(tuple(row.values()))
        origins = dict(sorted(Counter(origin for _, origin in bases).items()))
        return panel.with_agents(
            [s.agent(synthetic="false" if s.reference else "true") for s in strategies],
            tuple(texts),
            agents="rules (synthetic)",
            taxonomy=taxonomy.task,
            taxonomy_sha=taxonomy.sha,
            agents_seed=self.seed,
            agents_without_rule=without,
            **({"base_translation": origins} if taxonomy.task == "translation" else {}),
        )


def _base(item: Item, task: str) -> tuple[str, str]:
    """The text to work on, and where it comes from."""
    texts = {"source": item.source}
    if task == "translation":
        texts = {"gloss": item.meta.get("gloss") or "", "reference": item.reference or ""}
    return next(((text, of) for of, text in texts.items() if has_letters(text)), ("", "none"))


def _with_rules(
    taxonomy: Taxonomy, most: int | None
) -> tuple[dict[Strategy, Writer | None], list[str]]:
    """The reference and what rules carry out, in order; and the names of what they cannot."""
    rules = writers(taxonomy.task) if taxonomy.task in TASKS else {}
    strategies: dict[Strategy, Writer | None] = {}
    without, numbers = list[str](), Counter[str]()
    for one in taxonomy.strategies:
        if one.reference:
            strategies[one] = None
        elif one.name not in rules:
            without.append(one.name)
        elif most is None or numbers[one.category] < most:
            strategies[one] = rules[one.name]
            numbers[one.category] += 1
    if not any(strategies.values()):
        raise ConfigError(
            f"agents=rules carries out no strategy of the taxonomy {taxonomy.task!r} (it knows "
            f"tasks {', '.join(TASKS)}): use agents=prompted."
        )
    return strategies, without


@dataclass(frozen=True)
class Recipe:
    """Lines made of sentences of the source, changed one after the other and framed.

    In frames and fixed lines, ``{s}`` stands inside a sentence and ``{S}`` opens one, ``{topic}``
    and ``{other}`` are what the text is most about, ``{t}`` and ``{u}`` any two of its topics,
    ``{noun}`` what such a text is called, ``{title}`` its heading, ``{choice}`` one of ``choices``.
    """

    # which sentences: salient (of most weight), first, minor (of least weight), parts (one of each
    # quarter of the text), all, or none
    pick: str = "salient"
    # tables of words: two sentences of most weight for each that hold such words
    cues: Sequence[str] = ()
    without: str = ""  # a table of words: sentences with one of them are passed over
    n: int = 0  # how many sentences; 0 for three or four. (Of each cue, with cues.)
    limit: int = 30  # words that a sentence is shortened to; 0 leaves it
    change: Sequence[str] = ()  # what is done to the sentences, of CHANGES
    frames: Sequence[str] = ()  # dealt to the lines
    framed: str = "all"  # lines, or the first alone
    lines: int = 0  # how many framed lines, of as many sentences; 0 for one a sentence
    # head, tail: fixed lines before and after, ``drawn`` of ``stock`` before the tail
    head: Sequence[str] = ()
    stock: Sequence[str] = ()
    drawn: int = 0
    tail: Sequence[str] = ()
    choices: Sequence[str] = ("",)

    def write(self, source: Source, rng: np.random.Generator) -> list[str]:
        """The lines."""
        lines = []
        for sentence in self._picked(source, rng):
            text = compress(sentence.text, self.limit) if self.limit else sentence.text
            lines.append(f"{sentence.speaker} says: {quoted(text)}" if sentence.speaker else text)
        for change in self.change:
            lines = CHANGES[change](lines, source, rng) if lines else lines
        topics = [*source.topics[:8], "this subject", "people"]
        fields = {
            "topic": topics[0],
            "other": topics[1],
            "noun": source.noun,
            "title": _title(source),
            "choice": choose(rng, self.choices),
        }
        if self.frames:
            usable = [frame for frame in self.frames if lines or "{s}" not in frame.lower()]
            count = 1 if self.framed == "first" else self.lines or len(lines)
            frames = deal(rng, usable or ["The {noun} says nothing of this"], count)
            about = deal(rng, topics[:-2] or topics, count + 1)
            framed = []
            for i, frame in enumerate(frames):
                bare = lines[i % len(lines)].rstrip(" .!") if lines else ""
                if bare.endswith("?"):
                    bare = f"The question is {quoted(bare)}"
                own = {"s": embed(bare, source), "S": bare, "t": about[i], "u": about[i + 1]}
                framed.append(frame.format(**fields, **own))
            rest = lines[1:] if self.framed == "first" else []
            lines = list(dict.fromkeys([*framed, *rest]))
        stock = deal(rng, self.stock, self.drawn) if self.stock else []
        head, stock, tail = (
            [line.format(**fields) for line in own] for own in (self.head, stock, self.tail)
        )
        return [*head, *lines, *stock, *tail]

    def _picked(self, source: Source, rng: np.random.Generator) -> Sequence[Sentence]:
        every = source.sentences
        n = self.n or min(3 + int(rng.integers(2)), len(every))
        if self.cues:
            each = self.lines or self.n or 2
            by_cue = [s for cue in self.cues for s in self._with(cue, source, rng, each)]
            return list(dict.fromkeys(by_cue)) or ([] if self.frames else source.salient(rng, n))
        if self.pick in ("none", "first", "all"):
            return every[: {"none": 0, "first": 3, "all": None}[self.pick]]
        if self.pick == "minor":
            longer = [s for s in every if len(s.text.split()) >= 5] or every
            least = sorted(longer, key=lambda s: s.salience)[: min(3, max(1, len(every) - 1))]
            return sorted(least, key=lambda s: s.position)
        if self.pick == "parts" and len(every) >= 4:
            quarters = pairwise(len(every) * part // 4 for part in range(5))
            return [max(every[a:b], key=lambda s: s.salience) for a, b in quarters]
        return self._with("", source, rng, n)

    def _with(
        self, cue: str, source: Source, rng: np.random.Generator, n: int
    ) -> Sequence[Sentence]:
        """The sentences of most weight; with a cue, what a paper says of itself in its words."""

        def weight(sentence: Sentence) -> float:
            if self.without and _cue(self.without).search(sentence.text):
                return 0.0
            if not cue:
                return 1.0
            own = _OWN.search(sentence.text) and not _TABLE.search(sentence.text)
            return float(min(len(_cue(cue).findall(sentence.text)), 3)) if own else 0.0

        return source.salient(rng, n, weight)


@cache
def _cue(name: str) -> re.Pattern[str]:
    phrases = sorted(TABLES[name], key=len, reverse=True)
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, phrases))})(?![\w'’-])", re.I)


def _title(source: Source) -> str:
    """The first line if it looks like a title, else a phrase with the main topic."""
    first = next(line for line in source.text.splitlines() if line.strip())
    bare = first.strip(" #").removeprefix("Title:").strip()
    if 1 < len(bare.split()) <= 25 and bare[-1:] not in {".", "?", "!"}:
        return bare
    return f"a paper on {[*source.topics, 'this subject'][0]}"


@cache
def writers(task: str) -> Mapping[str, Writer]:
    """The strategies of a task that rules carry out."""
    book: Mapping[str, Any] = resources.words(f"agents/words/{task}.yaml")
    rows = book["strategies"]
    if task != "peer_review":
        layout = _bullets if task == "summarization" else _prose
        return {name: partial(_text, Recipe(**row), layout) for name, row in rows.items()}
    reviewers: dict[str, Writer] = {}
    for name, row in rows.items():
        parts = {part: {**book["recipe"], **its} for part, its in row.items() if part != "scores"}
        recipes = {part: Recipe(**its) for part, its in parts.items()}
        reviewers[name] = partial(_review, recipes, row["scores"], book["headings"])
    return reviewers


def _text(
    recipe: Recipe,
    layout: Callable[[Sequence[str]], str],
    source: Source,
    rng: np.random.Generator,
) -> str:
    text = layout(recipe.write(source, rng))
    return text if has_letters(text) else source.text


def _review(
    recipes: Mapping[str, Recipe],
    scores: tuple[int, int],
    headings: Sequence[str],
    source: Source,
    rng: np.random.Generator,
) -> str:
    """The sections of the review form; scores from the lowest to the highest given."""
    lines = {name: recipe.write(source, rng) for name, recipe in recipes.items()}
    kinds = ("strengths", "weaknesses")
    points = "\n".join(f"{kind.capitalize()}:\n{_bullets(lines[kind])}" for kind in kinds)
    summary, remarks, verdict = (_prose(lines[name]) for name in ("summary", "remarks", "verdict"))
    grades = map(str, rng.integers(scores[0], scores[1] + 1, size=3))
    bodies = zip(headings, (summary, points, remarks, verdict, *grades), strict=True)
    return "\n\n".join(f"# {heading}\n{body}" for heading, body in bodies)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {finish(line)}" for line in lines if has_letters(line))


def _prose(lines: Sequence[str]) -> str:
    return " ".join(finish(line) for line in lines if line.strip())
