"""A review of the synopsis alone (GEM paper, appendix D.3.3)."""

from __future__ import annotations

import re

from judgelab.attack.protocol import WritingAttack
from judgelab.attack.sentence_deletion import line_sentences
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.resources import words
from judgelab.core.step import Cell, Place, Written, present, write_texts

# what can be said of a paper by a reader of its synopsis alone
REMARKS: dict[str, list[str]] = words("attack/words/generic_review.yaml")
LONGEST = 160  # characters of a quotation
LACKING = Written(None, "the item has no synopsis")


class AbstractOnly(WritingAttack):
    """Puts a review by a reader of the item's synopsis alone in the place of every text.

    With ``by: lm`` the LM writes one review per item (the prompt's field is synopsis), and every
    agent gets it; the study gives references their own texts back. With ``by: rules`` it consists
    of general remarks and quotations of the synopsis, drawn for each item and agent. Texts of an
    item without a synopsis become None.
    """

    name = "abstract_only"

    def rule(self, text: str, at: Place) -> str:
        """A review in the four sections of ICLR 2023, drawn for this item and agent: four reasons
        for and four against."""

        def draw(kind: str, count: int = 1) -> list[str]:
            places = at.rng.choice(len(REMARKS[kind]), size=count, replace=False)
            return [REMARKS[kind][k] for k in places]

        synopsis = (at.item.synopsis or "").strip()
        sentences = [piece for line in synopsis.splitlines() for piece in line_sentences(line)]
        sentences = sentences or [" ".join(synopsis.split())]
        points = [
            f"{k % 4 + 1}. {reason}\n   - This concerns what the synopsis says here: "
            + _quote(sentences[k % len(sentences)])
            for k, reason in enumerate([*draw("for", 4), *draw("against", 4)])
        ]
        strengths_and_weaknesses = "\n".join(
            ["Strengths:", *points[:4], "", "Weaknesses:", *points[4:], "", "Questions:"]
            + [f"- {question}" for question in draw("questions", 3)]
        )
        bodies = {
            "Summary Of The Paper": " ".join([*draw("opening"), *sentences[:4]]),
            "Strength And Weaknesses": strengths_and_weaknesses,
            "Clarity, Quality, Novelty And Reproducibility": draw("remarks")[0],
            "Summary Of The Review": draw("verdict")[0],
        }
        return "\n\n".join(f"{header}:\n\n{body}" for header, body in bodies.items())

    def by_rules(self, panel: Panel, seed: int) -> dict[Cell, Written]:
        return {
            cell: review if (panel.items[cell[0]].synopsis or "").strip() else LACKING
            for cell, review in super().by_rules(panel, seed).items()
        }

    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[Cell, Written]:
        cells = present(panel)
        synopses = {i: (panel.items[i].synopsis or "").strip() for i, _ in cells}
        reviews = write_texts(
            lm, {i: self.request(panel.items[i].id, synopsis=s) for i, s in synopses.items() if s}
        )
        return {cell: reviews.get(cell[0], LACKING) for cell in cells}


def _quote(line: str) -> str:
    if len(line) <= LONGEST:
        return f'"{line}"'
    start = re.sub(r"\s+\S*$", "", line[:LONGEST])
    return f'"{start} ..."'
