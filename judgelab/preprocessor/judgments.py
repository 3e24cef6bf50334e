"""One judgment a line, written by an LM (GEM paper, section 3.1 and appendix C.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.step import AskingStep, Cell, Written, present, with_texts, write_texts

VERBS = ("appreciates", "criticizes", "questions", "suggests")
"""What a reviewer does in a line, in the paper's words."""

Subject = Annotated[str, Field(pattern=r"^\S+( \S+)*$")]  # how a line begins: words on one line

NO_JUDGMENT = "no judgment in the reply"
BLANK = "the text is blank"

_LIST_MARK = re.compile(r"^(?:[-*•–—>]|\(?\d{1,3}[.):])\s*")


def judgment_lines(reply: str, subject: str) -> tuple[list[str], int]:
    """The lines that say what ``subject`` appreciates, criticizes, questions or suggests.

    Marks of a list before a line are taken off; a line without anything after the verb counts
    as none. Also returns how many others (blank ones aside) there were.
    """
    opening = re.compile(rf"{re.escape(subject)} (?:{'|'.join(VERBS)})\b.*\w", re.DOTALL)
    lines = [_LIST_MARK.sub("", line.strip()) for line in reply.splitlines() if line.strip()]
    good = [line for line in lines if opening.match(line)]
    return good, len(lines) - len(good)


@dataclass(frozen=True)
class Judgments(AskingStep):
    """Rewrites every text as short judgments without style, length or particulars of the work.

    Only lines of the prescribed form are kept; ``preprocessor_lines_dropped`` in the provenance
    counts the others. A reply without any is unscored: the text becomes None and is counted.
    Lines are joined by one line break (in the authors' data a blank line stands between them). The
    prompt's fields are text and subject. The prompt that is here refuses texts of another task.
    """

    subject: Subject = "The reviewer"
    task: str = "peer_review"
    axis: ClassVar[str] = "preprocessor"
    name: ClassVar[str] = "judgments"

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        if self.prompt.shipped or self.prompt.marked:
            check_reviews(panel, self.name, self.task)
        texts = present(panel)
        requests = {
            cell: self.request_on(panel, cell, text=text, subject=self.subject)
            for cell, text in texts.items()
            if text.strip()
        }
        dropped = dict[Cell, int]()

        def read(cell: Cell, text: str) -> Written:
            lines, dropped[cell] = judgment_lines(text, self.subject)
            return Written("\n".join(lines) or None, NO_JUDGMENT)

        revised = dict.fromkeys(texts, Written(None, BLANK)) | write_texts(lm, requests, read)
        facts = self.facts(revised.values()) | self.writer("lm", lm)
        return with_texts(panel, revised, **facts, preprocessor_lines_dropped=sum(dropped.values()))


def check_reviews(panel: Panel, name: str, task: str = "peer_review") -> None:
    """ConfigError where texts are of another task: their lines would say what nobody judged."""
    if panel.task != task:
        raise ConfigError(
            f"preprocessor={name} rewrites texts of the task {task!r}, and the task of the dataset "
            f"is {panel.task!r}: use preprocessor=identity, or, where its texts are such reviews, "
            f"say so (dataset.task={task})."
        )
