"""Whether a mechanism scores each text by itself, or holds texts against one another."""

from __future__ import annotations

from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.engine.context import Context
from judgelab.evaluation_lm.dry_run_lm import Counted


def refuse_unfit(context: Context, originals: Panel) -> None:
    """Find out before anything is asked or paid for that a mechanism does not fit.

    Raises:
        ConfigError: the mechanism holds texts against one another, is for other tasks, has
            settings that do not fit the panel, or scores texts only as they came.
    """
    mechanism, lm = context.mechanism, context.evaluation_lm
    if mechanism.subject != "text":
        raise ConfigError(
            "study=discernment has a judge score each text by itself, but mechanism="
            f"{mechanism.name} holds texts against one another: choose rating (an LM that chats), "
            "rating_likelihood (one that gives log-probabilities), or one of lm_examiner, "
            "pointwise5, acu_rating, gptscore, length."
        )
    if mechanism.tasks and originals.task not in mechanism.tasks:
        raise ConfigError(
            f"mechanism={mechanism.name} is for {', '.join(sorted(mechanism.tasks))}, and the task "
            f"of the dataset is {originals.task!r}: choose another mechanism, or give criteria of "
            "your own (mechanism.criteria=FILE)."
        )
    if mechanism.measurement == "text":  # refuses attacked texts where its scores are recorded
        originals = originals.with_agents(originals.agents, originals.texts, attack="perturbations")
    elif Capability.RECORDED in lm.capabilities:
        return
    mechanism.measure(originals, Counted(lm), seed=context.seed)
