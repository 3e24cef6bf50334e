"""The estimator of a run: what its mechanism, its LM and its preprocessor are together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from judgelab.core.estimator import Estimator
from judgelab.core.lm import Capability, EvaluationLM
from judgelab.core.scores import Scores
from judgelab.mechanism.protocol import Definition, Mechanism

Way = Literal["none", "chat", "logprob"]


def estimator_of(
    mechanism: Mechanism,
    lm: EvaluationLM,
    preprocessor: str,
    attrs: Mapping[str, object],
    definition: Definition,
) -> Estimator:
    """What scores are estimates by.

    Args:
        preprocessor: the run's; a mechanism that reads texts as written has none.
        attrs: of what was measured: ``prompt``; ``critic`` where a mechanism has two; ``reply``.
    """
    way, shown = _way(mechanism, attrs), lm.presentation
    prompt = str(attrs.get("prompt", ""))
    reads = preprocessor if mechanism.reads == "preprocessed" and preprocessor != "identity" else ""
    asked = way != "none"
    reply = str(attrs.get("reply", "generated"))
    return Estimator(
        mechanism=mechanism.name,
        model=shown.model if asked else "none",
        lm=lm.identity if asked else "",
        template=(shown.template if way == "logprob" else "chat") if asked else "",
        end_token=shown.end_token if way == "logprob" else "",
        instructions=_place(way, shown.template, shown.system) if prompt and asked else "none",
        reply=reply if way == "chat" else "",
        preprocessor=reads or "none",
        precision=shown.precision if asked else "",
        prompt=prompt,
        definition=definition,
    )


def estimators(*scores: Scores) -> tuple[Estimator, ...]:
    """Those of several scores, each once."""
    return tuple(dict.fromkeys(one.estimator for one in scores if one.estimator is not None))


def _way(mechanism: Mechanism, attrs: Mapping[str, object]) -> Way:
    """How the LM was asked."""
    critic = attrs.get("critic")
    if critic is not None:
        return "chat" if critic == "chat" else "logprob"
    needed = frozenset().union(*mechanism.requires)
    if not needed:
        return "none"
    return "logprob" if needed == {Capability.LOGPROB} else "chat"


def _place(way: Way, template: str, system: str) -> str:
    """The place of the mechanism's prompt."""
    if way == "chat":
        return "in the user's message"
    if template != "chat":
        return "before the text"
    after = f", after a system message ({system})" if system else ""
    return f"in the user's message{after}"
