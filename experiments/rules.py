"""Does each rule do in four of five texts what its name says? Held against three public sets.

    python -m experiments.rules FOLDER     FOLDER holds summeval/, rose/ and peer_prediction/

An agent, attack or perturbation whose rule fails goes, or is left to an LM (docs/decisions.md).
The checks are of their own: none asks the code that it checks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.command import aligned
from judgelab.agents.reading import Source
from judgelab.agents.strategies import writers
from judgelab.attack.protocol import RuleAttack
from judgelab.core.panel import Agent, Item, rng_for
from judgelab.core.step import Place
from judgelab.study.discernment.perturbations import SuiteEntry, load_suite

TEXTS = 40
"""Of each set."""

Check = Callable[[str, str], bool]
"""Of the text before (an agent's source) and after."""

FUNCTION = re.compile(
    r"an?|the|[oi]n|of|at|by|for|to|from|with|about|into|over|under|after|before|and|or|but|so"
    r"|because|while|although|that|which|who|is|are|was|were|be|been|has|have|had|does?|did|will"
    r"|would|can|could|should|may|might|must|not|it|s?he|they|we|i|you|his|her|its|their"
)


def words(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())


def figures(text: str) -> set[str]:
    """Numbers as written."""
    return set(re.findall(r"\d+(?:[.,:]\d+)*", text))


def names(text: str) -> set[str]:
    """Words with a capital that open no sentence."""
    return set(re.findall(r"(?<=[a-z,] )[A-Z][\w'’-]+", text))


def held(part: str, whole: str) -> float:
    """Share of the longer words of a text that are in another."""
    long = [word for word in words(part) if len(word) > 3]
    return float(np.mean([word in set(words(whole)) for word in long])) if long else 1.0


def lines(text: str) -> list[str]:
    """Bullets, or sentences."""
    return [one for one in re.split(r"\n|(?<=[.!?])\s+", text) if words(one)]


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Words that follow each other, with no stop between them."""
    for clause in re.split(r"[.,;:!?()\"\n–—-]", text.lower()):
        yield from zip(words(clause), words(clause)[1:], strict=False)


def well_formed(seen: Counter[tuple[str, str]], before: str, after: str) -> bool:
    """No word doubled, a or an as it must be, no two function words that English never pairs."""
    for one, two in set(pairs(after)) - set(pairs(before)):
        doubled = one == two and one not in {"had", "that"}
        article = (one == "a" and two[0] in "aei") or (one == "an" and two[0] in "bcdfgklmnpqrst")
        if (
            doubled
            or article
            or (FUNCTION.fullmatch(one) and FUNCTION.fullmatch(two) and not seen[one, two])
        ):
            return False
    return True


def told(before: str, after: str) -> bool:
    """Only what the source says: its numbers, its names, most of its words."""
    return figures(after) <= figures(before) and held(after, before) > 0.85


def marked(mark: str, before: str, after: str) -> bool:
    """Each line in the manner of its name, and about the source."""
    said = lines(after)
    return bool(
        np.mean([bool(re.search(mark, line)) for line in said]) > 0.6 and held(after, before) > 0.4
    )


def wrong(before: str, after: str) -> bool:
    """A number that the source has not, or a name beside words where the source has another."""
    around = {(a, b) for a, b in pairs(before)}
    moved = {(a, b) for a, b in pairs(after) if {a, b} & {n.lower() for n in names(after)}} - around
    return held(after, before) > 0.7 and bool(figures(after) - figures(before) or moved)


def bare(before: str, after: str) -> bool:
    """Says next to nothing of the source: no number, no name of it, few of its words."""
    return not (figures(after) or names(after) & names(before)) and held(after, before) < 0.6


def _quarters(before: str, after: str) -> bool:
    """Lines from at least three quarters of the source, where it has four."""
    text = " ".join(words(before))
    starts = [text.find(" ".join(words(line)[1:5])) for line in lines(after)]
    hit = {4 * start // max(len(text), 1) for start in starts if start >= 0}
    return told(before, after) and len(hit) >= min(3, len(lines(before)) // 2)


AGENTS: dict[str, Check] = {
    **dict.fromkeys(("Faithful", "Original"), told),
    "Objective": lambda b, a: told(b, a) and not re.search(r"\b(I think|feel|hope|awful|!)", a),
    "Comprehensive": _quarters,
    **dict.fromkeys(("Fact Manipulation", "Misleading"), wrong),
    "Contradictory": partial(marked, "not true|false|no means"),
    "Misleading Emphasis": lambda b, a: (
        lines(a)[0].split(":")[-1].strip(" .").lower() not in lines(b)[0].lower()
    ),
    "Conspiracy Theory": partial(marked, "certain people|benefits|chance|meant to|strings"),
    "Agenda Push": partial(marked, "taxes|unions|borders|green"),
    **dict.fromkeys(("Low Effort", "Minimal Detail", "Template Response"), bare),
    "Ultra Concise": lambda b, a: len(lines(a)) <= 3 and len(a.split()) <= 18 and held(a, b) > 0.9,
    "Surface Skim": lambda b, a: held(a, " ".join(words(b)[:220])) > 0.9,
    "Academic Style": partial(marked, "reported|indicates|significance|noted|suggests"),
    "Sensationalist": partial(marked, "!"),
    "Bureaucratic": partial(marked, "competent|hereby|accordance|reference"),
    "Casual Conversational": partial(marked, "basically|Okay|you know|yeah|kidding"),
}
"""Of a summary by its strategy's name."""


def reordered(before: str, after: str) -> bool:
    """Another order of the same sentences."""
    return before != after and sorted(lines(before)) == sorted(lines(after))


PERTURBATIONS: dict[str, Check] = {
    "deletions": lambda b, a: 0 < len(b) - len(a) <= 100,
    "typos": lambda b, a: b != a and abs(len(b) - len(a)) <= 100,
    "word_deletions": lambda b, a: 4 < len(b.split()) - len(a.split()) <= 25,
    "reordering": reordered,
}
"""Of a degraded text by the perturbation's name; grammar: a pair of words that nobody wrote."""


def perturbed(one: SuiteEntry, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(before, after) of each text that a rule can change; seeded by its number."""
    attack = one.attack
    if attack.requires or not isinstance(attack, RuleAttack):
        return
    for k, text in enumerate(texts):
        rng = rng_for(0, attack.name, str(k), "original")
        yield text, attack.rule(text, Place(Item(str(k), ""), Agent("original"), rng))


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.rules", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    items = pd.read_parquet(folder / "peer_prediction" / "items.parquet")
    seen = Counter(pair for text in [*items.source, *items.reference] for pair in pairs(text))
    sources = {
        "SummEval": pd.read_parquet(folder / "summeval" / "summeval_100docs.parquet").article,
        "RoSE": pd.read_parquet(folder / "rose" / "rose_cnndm_100docs_sources.parquet").source,
        "XSum": items[items.domain == "xsum"].source,
    }
    rows = []
    for name, writer in writers("summarization").items():
        row = {"agent": name}
        for where, texts in sources.items():
            made = [
                (t, writer(Source(t), np.random.default_rng(k)))
                for k, t in enumerate(texts[:TEXTS])
            ]
            row[where] = _share(AGENTS[name](*pair) and well_formed(seen, *pair) for pair in made)
        rows.append(row)
    print(aligned("Agents: share of texts that are as the name says", rows, []))
    given = folder / "summeval" / "dhp_inputs"
    summeval, sumpubmed, wmt22 = (
        pd.read_parquet(given / f"{name}.parquet")
        for name in ("summeval_refs_100", "sumpubmed_background_100", "wmt22_de-en_general_test")
    )
    references = {
        "summarization": summeval.reference_most_sentences,
        "sumpubmed": sumpubmed.summary_background,
        "translation": wmt22.query("refA_gt300chars").ref_A,
    }
    rows = []
    for suite, texts in references.items():
        for one in load_suite(suite, "", "").perturbations:
            kind = one.name.removesuffix("_minor").removesuffix("_major")
            made = list(perturbed(one, list(texts[:TEXTS])))
            check = PERTURBATIONS.get(
                kind, lambda b, a: any(not seen[p] for p in {*pairs(a)} - {*pairs(b)})
            )
            rows.append(
                {
                    "suite": suite,
                    "perturbation": one.name,
                    "as named": _share(check(*p) for p in made),
                }
            )
    print(aligned("Perturbations", rows, []))
    return 0


def _share(passed: Iterable[bool]) -> str:
    return f"{np.mean(list(passed)):.0%}"


if __name__ == "__main__":
    sys.exit(main())
