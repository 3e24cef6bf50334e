"""The judges that a study asks: each an LM, or none, and the mechanism by which it is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from judgelab.calls.log import CallLog
from judgelab.calls.remote import Remote
from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.lm import EvaluationLM, is_lm
from judgelab.core.result import Value
from judgelab.core.step import Step
from judgelab.engine.context import Context
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Mechanism
from judgelab.scale.local import alone


@dataclass(frozen=True)
class NamedJudge:
    """Who is asked, and how; what is None is the run's."""

    evaluation_lm: EvaluationLM | None = None  # the LM that answers
    mechanism: Mechanism | None = None  # asks it
    preprocessor: Step | None = None  # of the texts, where the mechanism reads preprocessed ones
    place: str = ""  # where in the config its LM stands, for messages

    def within(self, context: Context) -> Context:
        """The context in which it is asked."""
        lm = self.evaluation_lm
        return replace(
            context,
            mechanism=self.mechanism or context.mechanism,
            preprocessor=self.preprocessor or context.preprocessor,
            evaluation_lm=lm or context.evaluation_lm,
            spread=alone if lm else context.spread,  # workers know the run's evaluation LM alone
        )


class JudgesStudy(Study):
    """A study that asks ``judges``: each by an LM, mechanism and preprocessor of its own, or the
    run's. Derive from it with a field of that name.
    """

    judges: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", named_judges(self.judges))

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """See Study."""
        judges: dict[str, NamedJudge] = {**self.judges}
        for name, one in judges.items():
            if lm := one.evaluation_lm:
                judges[name] = replace(one, evaluation_lm=use(f"judges.{name}", lm))
        return replace(self, judges=judges)  # type: ignore[type-var]  # those derived are dataclasses

    def contexts(self, context: Context) -> dict[str, Context]:
        """Judge -> the context in which it is asked."""
        return {name: one.within(context) for name, one in self.judges.items()}

    def asks(
        self, mechanism: Mechanism, lm: EvaluationLM
    ) -> Mapping[str, tuple[Mechanism, EvaluationLM]]:
        """The judges, each by its own mechanism or the run's; without any the run's LM."""
        judges = {
            one.place or f"study.judges.{name}.evaluation_lm": (
                one.mechanism or mechanism,
                one.evaluation_lm or lm,
            )
            for name, one in self.judges.items()
        }
        return judges or {"evaluation_lm": (mechanism, lm)}


def named_judges(judges: Mapping[str, Any] | None) -> dict[str, NamedJudge]:
    """Judges as a config gives them: an LM, or a mapping of what is the judge's own.

    Raises:
        ConfigError: a key or value that a judge cannot have.
    """
    if judges is not None and not isinstance(judges, Mapping):
        raise ConfigError(f"study.judges={judges!r} is no list of judges, and no file with one.")
    return {name: _judge(f"study.judges.{name}", own) for name, own in (judges or {}).items()}


def _judge(key: str, setting: Any) -> NamedJudge:
    if NamedJudge in type(setting).__mro__:
        return setting  # type: ignore[no-any-return]
    if is_lm(setting):
        return NamedJudge(setting, place=key)
    if setting is None:
        raise ConfigError(
            f"{key} names no LM to build: add one with '+evaluation_lm@{key}=OPTION', or take the "
            f"judge out with '~{key}'."
        )
    keys = [one.name for one in fields(NamedJudge) if one.name != "place"]
    if not isinstance(setting, Mapping):
        raise ConfigError(f"{key}={setting!r} is no judge: give it {', '.join(keys)}.")
    for name in setting:
        if name not in keys:
            raise ConfigError(f"{key}.{name} is not a known key.{did_you_mean(name, keys)}")
    judge = NamedJudge(**setting)
    for part, base in (("evaluation_lm", EvaluationLM), ("mechanism", Mechanism)):
        value = getattr(judge, part)
        if value is not None and base not in type(value).__mro__:
            option = f"'+{part}@{key}.{part}=OPTION'"
            raise ConfigError(f"{key}.{part} names nothing to build: add it with {option}.")
    return judge


def asks_nobody(mechanism: Mechanism) -> bool:
    """Whether a mechanism needs no LM, so that it is one judge, whatever LMs there are."""
    return frozenset() in mechanism.requires


def cost_columns(log: CallLog, lm: EvaluationLM, prices: str | None) -> dict[str, Value]:
    """Calls, tokens and cost of a judge; of a model without a price no cost, of no calls nothing.
    DataError: the price list of models behind an endpoint (None: ours) cannot be read."""
    (calls, tokens_in, tokens_out), model = log.bill, lm.unwrapped
    if not calls:
        return {}
    row: dict[str, Value] = {"calls": calls, "input_tokens": tokens_in, "output_tokens": tokens_out}
    if isinstance(model, Remote):
        price = model.price(prices)
        row["cost"] = price.cost(tokens_in, tokens_out) if price else math.nan
        if price:
            row["currency"] = price.currency
    return row
