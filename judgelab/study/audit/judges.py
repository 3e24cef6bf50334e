"""The judges that an audit asks."""

from __future__ import annotations

from collections.abc import Mapping

from judgelab.core.errors import ConfigError
from judgelab.engine.context import Context
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.study.common.judges import NamedJudge


def asked_in(context: Context, judges: Mapping[str, NamedJudge]) -> dict[str, Context]:
    """Judge -> the context in which it is asked.

    Without judges of the study's own, the run's mechanism and evaluation LM are the one judge;
    nobody is asked where the mechanism takes what was recorded.

    Raises:
        ConfigError: a judge has no mechanism to be asked by.
    """
    recorded = context.mechanism.name == RecordedScores.name
    if not judges:
        return {} if recorded else {_name(context): context}
    for name, judge in judges.items():
        if recorded and judge.mechanism is None:
            raise ConfigError(
                f"study.judges.{name} says not by which mechanism it is asked: add "
                f"'+mechanism@study.judges.{name}.mechanism=pairwise', or mechanism=pairwise for "
                "all."
            )
    return {name: judge.within(context) for name, judge in judges.items()}


def _name(context: Context) -> str:
    asks_nobody = frozenset() in context.mechanism.requires
    model = context.evaluation_lm.presentation.model
    return context.mechanism.name if asks_nobody else f"{context.mechanism.name} with {model}"
