"""What a score is an estimate by: the same mechanism is another estimator on another footing.

GEM with a chat template and its end token, GEM on raw text without one, GEM in 4 bits: one name,
three estimators. Every score says which it is, and a comparison that would mix two says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from judgelab.core.errors import listed

UNKNOWN = "not known"


@dataclass(frozen=True)
class Presentation:
    """How an LM puts texts to its model when it is asked for log-probabilities.

    Attributes:
        model: which one, in a few words for readers.
        template: none, chat, or not known.
        end_token: of the sum over a text: counted, not counted, or not known.
        system: hash of a system message of the user's; empty where there is none.
        precision: of weights and arithmetic; empty where that is not known or has no meaning.
    """

    model: str
    template: str = UNKNOWN
    end_token: str = UNKNOWN
    system: str = ""
    precision: str = ""


@dataclass(frozen=True)
class Estimator:
    """The identity of an estimator.

    Attributes:
        mechanism: as on the command line.
        model: of the LM, for readers; ``none`` where no LM is asked.
        lm: the LM's whole identity; empty where none is asked.
        template: none or chat; empty where no LM is asked.
        end_token: whether log P(text) counts the token that ends it; empty where no
            log-probabilities of texts are summed.
        instructions: the place of the mechanism's prompt; ``none`` where it has none.
        reply: how replies come about (generated, labels); empty where no LM replies.
        preprocessor: what made the texts that are scored; ``none`` for texts as written.
        precision: of the LM; empty where it is not known or has no meaning.
        prompt: file and hash; empty where there is none.
        definition: whose definition of the score.
    """

    mechanism: str
    model: str
    lm: str
    template: str
    end_token: str
    instructions: str
    reply: str
    preprocessor: str
    precision: str
    prompt: str
    definition: str

    @property
    def line(self) -> str:
        """One line for readers."""
        who = "no LM" if self.model == "none" else self.model
        parts = [f"{self.mechanism} with {who}", *self.words(("template", "end_token", "reply"))]
        if self.instructions != "none":
            parts += self.words(("instructions",))
        parts += [*self.words(("preprocessor", "precision")), *self.words(("prompt",))]
        return f"{', '.join(parts)} ({self.definition})"

    def words(self, names: Collection[str]) -> list[str]:
        """The named parts that it has, in words that need no heading."""
        held = ((field.name, str(getattr(self, field.name))) for field in fields(self))
        return [_said(name, value) for name, value in held if name in names and value]


_WORDS = {
    "template": {"none": "no chat template", "chat": "chat template"},
    "end_token": {"counted": "end token counted", "not counted": "end token not counted"},
    "preprocessor": {"none": "texts as written"},
    "instructions": {"none": "no instructions"},
    "model": {"none": "no LM"},
}
_PHRASES = {
    "template": "chat template {}",
    "end_token": "end token {}",
    "reply": "replies {}",
    "preprocessor": "preprocessor {}",
    "instructions": "instructions {}",
    "definition": "definition {}",
    "prompt": "prompt {}",
}
NAMES = {
    "model": "the LM",
    "template": "the chat template",
    "end_token": "the end token",
    "instructions": "the place of the instructions",
    "reply": "how replies come about",
    "preprocessor": "the preprocessor",
    "precision": "the precision",
    "prompt": "the prompt",
    "definition": "the definition",
}
"""What is compared, as a sentence calls it."""
LM = ("model", "template", "end_token", "precision")
"""What a comparison names that names its LMs one by one, each with its settings."""


def differences(
    found: Sequence[Estimator | None], named: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Mechanism -> in what its estimators differ; mechanisms with one estimator are absent.

    An unknown precision differs from none. Where the template differs, so does the place
    of the instructions, which then goes without saying.

    Args:
        named: parts whose differences the comparison shows as what it compares.
    """
    groups: dict[str, list[Estimator]] = {}
    for one in found:
        if one is not None:
            groups.setdefault(one.mechanism, []).append(one)
    differ = {}
    for mechanism, group in groups.items():
        values = {name: {getattr(one, name) for one in group} for name in NAMES}
        values["precision"] -= {""}
        parts = [name for name in NAMES if len(values[name]) > 1 and name not in named]
        if "template" in parts and "instructions" in parts:
            parts.remove("instructions")
        if parts:
            differ[mechanism] = tuple(parts)
    return differ


def mixed(found: Sequence[Estimator | None], named: Collection[str] = ()) -> tuple[str, ...]:
    """A sentence for each mechanism under whose name there are several estimators."""
    said = []
    for mechanism, parts in differences(found, named).items():
        of = [one for one in found if one is not None and one.mechanism == mechanism]
        each = []
        for name in parts:
            values = dict.fromkeys(word for one in of for word in one.words([name]))
            each.append(f"{NAMES[name]} ({'; '.join(values)})")
        said.append(
            f"Different estimators under one name: rows of {mechanism} differ in {listed(each)}, "
            "so their scores do not measure the same quantity."
        )
    return tuple(said)


def marks(found: Sequence[Estimator | None], named: Collection[str] = ()) -> list[str]:
    """For each, what it has where others of its mechanism have something else; empty for most."""
    differ = differences(found, named)
    return [
        "" if one is None else ", ".join(one.words(differ.get(one.mechanism, ()))) for one in found
    ]


def read_estimators(result: Mapping[str, Any]) -> list[Estimator]:
    """The estimators of a result that was read back; none from before results had them."""
    return [Estimator(**values) for values in result.get("estimators", ())]


def lines(result: Mapping[str, Any]) -> list[str]:
    """One line for each estimator of a result that was read back."""
    return [f"Estimator: {one.line}." for one in read_estimators(result)]


def _said(name: str, value: str) -> str:
    return _WORDS.get(name, {}).get(value) or _PHRASES.get(name, "{}").format(value)
