"""The wrong ending that the data has for an item (DHP paper, Table 2, story completion)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import PanelAttack
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.step import Written, present, with_texts


@dataclass(frozen=True)
class WrongEnding(PanelAttack):
    """Puts what the dataset calls the wrong answer of an item in the place of every text.

    Items without one, or with an empty one, get None: unscored, counted (``attack_unwritten``).

    Args:
        key: under which the item's ``meta`` holds it.
    """

    key: str = "wrong"
    name: ClassVar[str] = "wrong_ending"

    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Exchange every text.

        Raises:
            DataError: no item has a wrong answer.
        """
        wrong = [str(item.meta.get(self.key) or "").strip() for item in panel.items]
        if panel.items and not any(wrong):
            raise DataError(
                f"attack={self.name}: no item of the dataset has a wrong answer (meta "
                f"{self.key!r}): use dataset=story_cloze, or a dataset whose fields.references "
                "names two columns and whose fields.right numbers the right one."
            )
        made = {
            (i, j): Written(wrong[i] or None, "no wrong answer recorded") for i, j in present(panel)
        }
        return with_texts(panel, made, **self.facts(made.values()))
