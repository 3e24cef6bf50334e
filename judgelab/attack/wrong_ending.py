"""The wrong ending that the data has for an item (DHP paper, Table 2, story completion)."""

from __future__ import annotations

from judgelab.attack.protocol import PanelAttack
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.step import Written, present, with_texts


class WrongEnding(PanelAttack):
    """Puts what the dataset calls the wrong answer of an item in the place of every text.

    It is the item's ``wrong`` in ``meta``. Items without one, or with an empty one, get None:
    unscored, counted (``attack_unwritten``).
    """

    name = "wrong_ending"

    def rewrite(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Exchange every text; a DataError where no item has a wrong answer."""
        wrong = [str(item.meta.get("wrong") or "").strip() for item in panel.items]
        if panel.items and not any(wrong):
            raise DataError(
                f"attack={self.name}: no item of the dataset has a wrong answer (meta 'wrong'): "
                "use dataset=story_cloze, or a dataset whose fields.references names two columns "
                "and whose fields.right numbers the right one."
            )
        endings = {
            (i, j): Written(wrong[i] or None, "no wrong answer recorded") for i, j in present(panel)
        }
        return with_texts(panel, endings, **self.facts(endings.values()))
