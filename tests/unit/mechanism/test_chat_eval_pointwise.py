"""A debate about one answer: grades of the last round, their mean, and what became of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.prompt import Prompt
from judgelab.core.scores import MISSING
from judgelab.mechanism.chat_eval_pointwise import ChatEvalPointwise
from tests.scripted import ScriptedChat, panel_of

PROMPT = Prompt("chat_eval_pointwise.txt")
ROLES = {"reader": "who reads", "checker": "who checks", "mute": "who says nothing"}


def test_the_roles_last_grades_are_averaged_and_silence_is_counted() -> None:
    """The checker corrects itself after it has heard the reader; 9 lies outside the scale."""

    def speak(request: Any) -> str | None:
        text = request.messages[0].content
        if "mute" in request.key:
            return None
        if "checker" in request.key:
            return "Out of 5, I say\n2" if "reader: Of 3 claims" in text else "too early: 5"
        return "Of 3 claims all hold.\n9" if "[Answer]\nb\n" in text else "Of 3 claims all hold.\n4"

    lm = ScriptedChat(speak)
    panel = panel_of([["a", "b"], ["c", None]])
    debate = ChatEvalPointwise(PROMPT, ROLES)
    data = debate.measure(panel, lm, seed=0)
    assert len(lm.seen) == 3 * 3 * 2  # texts, roles, rounds
    assert "from 1 to 5" in lm.seen[0].messages[0].content
    np.testing.assert_array_equal(data["value"].values, [[3, 2], [3, np.nan]])
    assert (data.attrs["calls"], data.attrs["failed_calls"], data.attrs["unread_calls"]) == (
        18,
        6,
        1,
    )
    np.testing.assert_array_equal(data[MISSING].values, [[2, 3], [2, 0]])
    np.testing.assert_array_equal(debate.score(data).agent.values, data["value"].values)


def test_a_debate_without_roles_or_scale_is_refused() -> None:
    with pytest.raises(ConfigError, match="mechanism=chat_eval_pointwise needs mechanism.roles"):
        ChatEvalPointwise(PROMPT)
    with pytest.raises(ConfigError, match="low=5"):
        ChatEvalPointwise(PROMPT, ROLES, low=5.0)
