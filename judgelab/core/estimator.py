"""What a score is an estimate by: the same mechanism is another estimator on another footing.

GEM with a chat template and its end token, GEM on raw text without one, GEM in 4 bits: one name,
three estimators. Every score says which it is, and a comparison that would mix two says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from judgelab.core.errors import listed
from judgelab.core.resources import words

UNKNOWN = "not known"


@dataclass(frozen=True)
class Presentation:
    """How an LM puts texts to its model when it is asked for log-probabilities."""

    model: str  # which one, in a few words for readers
    template: str = UNKNOWN  # none, chat, or not known
    end_token: str = UNKNOWN  # of the sum over a text: counted, not counted, or not known
    system: str = ""  # hash of a system message of the user's; empty where there is none
    precision: str = ""  # of weights and arithmetic; empty where not known or without meaning


@dataclass(frozen=True)
class Estimator:
    """The identity of an estimator; what has no meaning for it is empty, or ``none``."""

    mechanism: str  # as on the command line
    model: str  # of the LM, for readers; ``none`` where no LM is asked
    lm: str  # the LM's whole identity
    template: str  # none or chat
    end_token: str  # whether log P(text) counts the token that ends it
    instructions: str  # the place of the mechanism's prompt; ``none`` where it has none
    reply: str  # how replies come about (generated, labels)
    preprocessor: str  # what made the texts that are scored; ``none`` for texts as written
    precision: str  # of the LM
    prompt: str  # file and hash
    definition: str  # whose definition of the score

    @property
    def line(self) -> str:
        """One line for readers."""
        who = "no LM" if self.model == "none" else self.model
        placed = ["instructions"] if self.instructions != "none" else []
        parts = ("template", "end_token", "reply", *placed, "preprocessor", "precision", "prompt")
        phrases = [f"{self.mechanism} with {who}", *(self.words(part) for part in parts)]
        return f"{', '.join(filter(None, phrases))} ({self.definition})"

    def words(self, part: str) -> str:
        """A part in words that need no heading; '' where it has none."""
        value, own = str(getattr(self, part)), _parts()[part]
        return value and str(own.get("values", {}).get(value, own["phrase"].format(value)))


@cache
def _parts() -> Mapping[str, Mapping[str, Any]]:
    """Part -> what it is called, in the order in which a sentence names them."""
    return dict(words("core/words/estimator.yaml"))


LM = ("model", "template", "end_token", "precision")
"""What a comparison names that names its LMs one by one, each with its settings."""


def differences(
    estimators: Sequence[Estimator | None], axes: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Mechanism -> in what its estimators differ; mechanisms with one estimator are absent.

    An unknown precision differs from none. Where the template differs, so does the place of the
    instructions, which then goes without saying, as do the ``axes`` of the comparison.
    """
    differ, present = {}, [one for one in estimators if one is not None]
    for mechanism in dict.fromkeys(one.mechanism for one in present):
        group = [one for one in present if one.mechanism == mechanism]
        values = {name: {getattr(one, name) for one in group} for name in _parts()}
        values["precision"] -= {""}
        parts = [name for name in _parts() if len(values[name]) > 1 and name not in axes]
        if "template" in parts and "instructions" in parts:
            parts.remove("instructions")
        if parts:
            differ[mechanism] = tuple(parts)
    return differ


def mixtures(estimators: Sequence[Estimator | None], axes: Collection[str] = ()) -> tuple[str, ...]:
    """A sentence for each mechanism under whose name there are several estimators."""
    sentences = []
    for mechanism, parts in differences(estimators, axes).items():
        group = [one for one in estimators if one is not None and one.mechanism == mechanism]
        each = []
        for part in parts:
            values = dict.fromkeys(filter(None, (one.words(part) for one in group)))
            each.append(f"{_parts()[part]['called']} ({'; '.join(values)})")
        sentences.append(
            f"Different estimators under one name: rows of {mechanism} differ in {listed(each)}, "
            "so their scores do not measure the same quantity."
        )
    return tuple(sentences)


def marks(estimators: Sequence[Estimator | None], axes: Collection[str] = ()) -> list[str]:
    """For each, what it has where others of its mechanism have something else; empty for most."""
    differ = differences(estimators, axes)
    return [
        ", ".join(filter(None, map(one.words, differ.get(one.mechanism, ())))) if one else ""
        for one in estimators
    ]


def read_estimators(result: Mapping[str, Any]) -> list[Estimator]:
    """The estimators of a result that was read back."""
    return [Estimator(**values) for values in result.get("estimators", ())]


def lines(result: Mapping[str, Any]) -> list[str]:
    """A line for each of them."""
    return [f"Estimator: {one.line}." for one in read_estimators(result)]
