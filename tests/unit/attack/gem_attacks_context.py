"""Reviews and odd texts, and the attacks of the GEM paper as their YAML has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from judgelab.config import build
from judgelab.core.sentences import HEADERS
from tests.scripted import NOBODY, panel_of

CONF = Path(__file__).resolve().parents[3] / "conf" / "attack"
REVIEW = """Summary Of The Paper:
A method sorts mail. It reads the stamps. Then it files them.
Strengths And Weaknesses:
The idea is neat. The tests are few. Is it fast? Nobody says!
Clarity, Quality, Novelty And Reproducibility:
It reads well.
Summary Of The Review:
I lean to accept. The tests should grow."""


LINES = st.lists(
    st.sampled_from(
        ["", " ", "Short. Long!", "1. One. 2) Two?", "- a\t", "ü. ß? 中文。", "3.5 e.g., x", "..."]
        + [f"{header}:" for header in HEADERS]
        + ["# Strength And Weaknesses", "**Summary Of The Review** Fine.", "---", "\r", "A."]
    )
    | st.text(max_size=20)
)


ODD = LINES.map("\n".join)


def attack(name: str, **settings: object) -> Any:
    node = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    return build({**node, **settings}, "attack")


def only(name: str, text: str | None, lm: Any = NOBODY, **settings: object) -> str | None:
    """What becomes of the one text of a panel with one item and one agent."""
    return attack(name, **settings).apply(panel_of([[text]]), lm, seed=0).texts[0][0]  # type: ignore[no-any-return]
