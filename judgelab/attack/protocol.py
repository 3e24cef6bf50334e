"""The interface of the attack axis, and what its rules share."""

from __future__ import annotations

import hashlib
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Agent, Item, Panel, keeping, without
from judgelab.core.step import (
    Cell,
    PanelStep,
    Place,
    Step,
    WritingStep,
    Written,
    present,
    with_texts,
    write_texts,
)

Tag = Literal["constant", "agent", "source"]
"""What a marker is derived from. ``source`` is the released definition: every text of an item
carries the same marker and texts of other items carry another, which tells a critic whether two
texts share a source. ``agent`` marks the writer and ``constant`` is the same everywhere: neither
says anything about the source."""

Expectation = Literal["fall", "no_rise"]
"""What an honest metric does: ``fall`` where information was taken away (a degradation),
``no_rise`` where none was added (a manipulation). GEM paper, sections 4.2 and 4.3."""

UNCHANGED = "left as it was"  # the reason of a check: the rule found nothing to change

ATTACKED = "attacked_agents"
"""Of a panel's provenance: the agents whose texts were attacked, where it was not everybody."""

SIDES = {"problematic": PROBLEMATIC, "good": GOOD_FAITH}
"""Names of sides in ``attack.on`` -> categories (of the paper) of their agents."""


@runtime_checkable
class Attack(Step, Protocol):
    """A change of the texts of a panel: of every one, the human reference included (as released),
    or of some agents' alone. Items, agents and absent texts stay as they are."""

    @property
    def expects(self) -> Expectation:
        """What an honest metric should do."""
        ...

    def check(self, before: str, after: str) -> str:
        """Why a text is not changed as the attack claims to change it; '' where it is."""
        ...


@dataclass(frozen=True)
class PanelAttack(PanelStep):
    """An attack of ours; a degradation, unless it says otherwise."""

    # never the human reference's with a side; a text is attacked alike, whoever else's is
    on: str | list[str] = field(default="all", kw_only=True)
    axis = "attack"
    expects: ClassVar[Expectation] = "fall"

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """The panel with the texts rewritten of those whom the attack is on; a ConfigError where
        ``on`` names nobody on the panel."""
        attacked = None if self.on == "all" else attacked_agents(panel, self.on)
        if attacked is None or attacked.all():
            return self.rewrite(panel, lm, seed=seed)
        changed = keeping(self.rewrite(without(panel, ~attacked), lm, seed=seed), panel, ~attacked)
        names = [panel.agents[j].name for j in np.flatnonzero(attacked)]
        return replace(changed, provenance={**changed.provenance, ATTACKED: names})

    def check(self, before: str, after: str) -> str:
        """Whether anything changed, and as ``fault`` claims."""
        return UNCHANGED if before == after else self.fault(before, after)

    def fault(self, before: str, after: str) -> str:
        """Why a change is not the one that the attack claims; by default it claims none."""
        return ""

    @abstractmethod
    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel: ...

    def facts(self, texts: Iterable[Written] | None = None) -> dict[str, Any]:
        """As of any step; ``on`` stands there where it is not everybody."""
        facts = super().facts(texts)
        if self.on == "all":
            del facts["attack_settings"]["on"]
        return facts


class RuleAttack(PanelAttack):
    """An attack that rewrites every present text by a rule; no LM is asked."""

    @abstractmethod
    def rule(self, text: str, at: Place) -> str:
        """The rewritten text; one without a place to change stays as it is."""

    def by_rules(self, panel: Panel, seed: int) -> dict[Cell, Written]:
        return {
            cell: Written(self.rule(text, self.place(panel, cell, seed)))
            for cell, text in present(panel).items()
        }

    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        return with_texts(panel, self.by_rules(panel, seed), **self.facts())


@dataclass(frozen=True)
class WritingAttack(RuleAttack, WritingStep[Cell]):
    """An attack whose texts an LM writes, one question a text; or a rule does."""

    def values(self, text: str, panel: Panel) -> dict[str, str]:
        return {"text": text}

    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[Cell, Written]:
        """Every text by the LM; blank ones stay as they are."""
        texts = present(panel)
        requests = {
            cell: self.request_on(panel, cell, **self.values(text, panel))
            for cell, text in texts.items()
            if text.strip()
        }
        return {cell: Written(text) for cell, text in texts.items()} | write_texts(lm, requests)

    def panel_of(self, panel: Panel, texts: Mapping[Cell, Written], **facts: object) -> Panel:
        return with_texts(panel, texts, **facts)

    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        return WritingStep.apply(self, panel, lm, seed=seed)


def attacked_agents(panel: Panel, on: str | list[str]) -> NDArray[np.bool_]:
    """[agents] whom an attack is on, by ``attack.on``; a ConfigError for a name that no agent and
    no category of the panel has."""
    categories = [agent.meta.get("category_paper", agent.category) for agent in panel.agents]
    hit = np.zeros(len(panel.agents), dtype=np.bool_)
    for name in [on] if isinstance(on, str) else on:
        side = SIDES.get(name)
        matches = [
            category in side and not agent.reference
            if side
            else name in ("all", category, agent.name)
            for category, agent in zip(categories, panel.agents, strict=True)
        ]
        if not any(matches):
            names = {*(a.name for a in panel.agents), *filter(None, categories), *SIDES, "all"}
            hint = did_you_mean(name, names)
            what = f"of category {' or '.join(sorted(side))}." if side else f"this.{hint}"
            raise ConfigError(
                f"attack.on={name}: no agent of this panel is {what} Name agents or categories, "
                "or say who is what: dataset.agents={NAME: CATEGORY}."
            )
        hit |= np.array(matches, dtype=np.bool_)
    if not hit.any():
        raise ConfigError("attack.on names nobody: give all, problematic, good, or names.")
    return hit


def marker(tag: Tag, item: Item, agent: Agent, length: int) -> str:
    """The first ``length`` hex digits of the md5 of what ``tag`` names; of an item without a source
    that of its id."""
    text = {"source": item.source or item.id, "agent": agent.name, "constant": ""}[tag]
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:length]


NOUNS = {
    "summarization": "summary",
    "story_completion": "story ending",
    "question_answering": "answer",
    "translation": "translation",
    "peer_review": "review",
}
"""What a text is called in prompts, by task."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Perturbation(WritingAttack):
    """Changes ``count`` places of every text, or more of them (DHP paper).

    By an LM and the steps of the prompt, whose fields are noun, amount ("exactly one", "two or
    more") and text (the paper asks GPT-4-Turbo, which it also judges); or by English rules.
    """

    count: Count = 1  # how many places
    or_more: bool = False  # at least so many; the rules take so many or one more

    @property
    def amount(self) -> str:
        """``exactly one``, ``two or more``."""
        number = NUMBERS[self.count] if self.count < len(NUMBERS) else str(self.count)
        return f"{number} or more" if self.or_more else f"exactly {number}"

    def values(self, text: str, panel: Panel) -> dict[str, str]:
        noun = NOUNS.get(panel.task, "text")
        return {"noun": noun, "amount": self.amount, "text": text}

    def rule(self, text: str, at: Place) -> str:
        raise ConfigError(
            f"attack={self.name} has no rules: an LM writes it, evaluation_lm@writer_lm=NAME."
        )

    def draw_places(self, places: int, rng: np.random.Generator) -> list[int]:
        """Which of so many places the rules change, in order; none where there are too few."""
        if places < self.count:
            return []
        number = self.count + int(self.or_more and rng.random() < 0.5)
        picks = rng.choice(places, size=min(number, places), replace=False)
        return sorted(int(place) for place in picks)

    def count_fault(self, number: int, what: str) -> str:
        """Why so many changes are not those asked for; '' where they are. Rules make one more than
        the count at most; an LM may take "or more" at its word."""
        most = math.inf if self.or_more and self.by == "lm" else self.count + int(self.or_more)
        return "" if self.count <= number <= most else f"{number} {what}, not {self.amount}"


_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def edits(before: str, after: str) -> int:
    """Fewest characters inserted, left out, exchanged, or swapped with their neighbour: the optimal
    string alignment distance (Damerau-Levenshtein without edits of edited places)."""
    # Hyyrö (2003): a bit for each character of the first text, so that a column of the table of
    # distances is whole numbers; the names are the paper's, VP to HN where a neighbour is one more
    # (P) or less (N) along the column (V) or the row (H)
    if not before:
        return len(after)
    everywhere, last = (1 << len(before)) - 1, 1 << (len(before) - 1)
    places: dict[str, int] = {}
    for i, character in enumerate(before):
        places[character] = places.get(character, 0) | 1 << i
    vp, vn, d0, matches, count = everywhere, 0, 0, 0, len(before)
    for character in after:
        matches_before, matches = matches, places.get(character, 0)
        swapped = ((~d0 & matches) << 1) & matches_before
        d0 = ((((matches & vp) + vp) ^ vp) | matches | vn | swapped) & everywhere
        hp, hn = vn | (everywhere & ~(d0 | vp)), d0 & vp
        count += bool(hp & last) - bool(hn & last)
        hp, hn = hp << 1 | 1, hn << 1
        vp, vn = (hn | ~(d0 | hp)) & everywhere, hp & d0
    return count


def words_of(text: str) -> list[str]:
    """Words and punctuation marks, in order."""
    return _WORD.findall(text)


def word_edits(before: str, after: str) -> int:
    """Places at which words differ: runs of words exchanged, inserted or left out."""
    matcher = SequenceMatcher(None, words_of(before), words_of(after), autojunk=False)
    return sum(tag != "equal" for tag, *_ in matcher.get_opcodes())


def share_changed(before: Sequence[str], after: Sequence[str]) -> float:
    """1 less the share of words that two sequences have in common, in order; 0 for equal ones."""
    return 1 - SequenceMatcher(None, before, after, autojunk=False).ratio()
