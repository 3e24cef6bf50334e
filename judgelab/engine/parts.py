"""The parts of one run: built from a config, and matched with each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from judgelab.agents import Agents
from judgelab.attack.protocol import Attack
from judgelab.config import ROLES, WRITER, build, writer_nodes
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, EvaluationLM, is_lm
from judgelab.core.step import Step
from judgelab.dataset import Dataset
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Mechanism

WRITTEN = ROLES[:-1]  # axes for which an LM may write
BASES: Mapping[str, type] = {  # whose defaults the parts of an axis need
    "evaluation_lm": EvaluationLM,
    "agents": Agents,
    "mechanism": Mechanism,
    "study": Study,
}


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What takes part in measuring, one object for each axis."""

    dataset: Dataset
    agents: Agents
    evaluation_lm: EvaluationLM
    synopsis: Step
    preprocessor: Step
    attack: Attack
    mechanism: Mechanism
    study: Study
    # role -> who writes texts in place of the evaluation LM: ``writer_lm``, or ``lms.AXIS`` for one
    writers: Mapping[str, EvaluationLM] = field(default_factory=dict)

    def writer_role(self, axis: str = "") -> str:
        """The role of who writes for an axis."""
        roles = (f"lms.{axis}", WRITER)
        return next((role for role in roles if role in self.writers), "evaluation_lm")

    def writer(self, axis: str = "") -> EvaluationLM:
        """The LM that writes texts: for an axis, or for those that have none of their own."""
        return self.writers.get(self.writer_role(axis), self.evaluation_lm)

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with every LM, by its role, as ``use`` returns it: cached, counted."""
        return replace(
            self,
            evaluation_lm=use("evaluation_lm", self.evaluation_lm),
            writers={role: use(role, lm) for role, lm in self.writers.items()},
            agents=self.agents.with_lms(lambda name, lm: use(f"agents.models.{name}", lm)),
            study=self.study.with_lms(lambda name, lm: use(f"study.{name}", lm)),
        )


def assigned(config: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The config with a part for each LM of ``lms``: one whose axis asks nobody is left out, and
    the critic of a mechanism that asks in words is its evaluation LM. And whether there is one.

    What the evaluation LM would have written it still writes. So runs of a sweep that differ in
    no question are one run.
    """
    given = {role: node for role, node in (config.get("lms") or {}).items() if node is not None}
    rest = {key: value for key, value in config.items() if key != "lms"}
    has_critic = False
    if critic := given.pop("critic", None):
        asks = frozenset().union(*build(config["mechanism"], "mechanism").requires)
        has_critic = bool(asks & {Capability.CHAT, Capability.LABELS})
    if has_critic:
        rest |= {"evaluation_lm": critic, WRITER: config.get(WRITER) or config["evaluation_lm"]}
    for axis, node in given.items():  # studies attack texts on their own account, too
        if axis == "attack" or build(config[axis], axis).requires:
            rest.setdefault("lms", {})[axis] = node
    return rest, has_critic


def build_parts(config: Mapping[str, Any]) -> Parts:
    """Every axis that takes part in measuring, instantiated (nothing heavy is loaded) and matched.

    Raises:
        ConfigError: a key is unknown, missing or of the wrong type.
        CapabilityError: the LM cannot do what the agents or the mechanism need.
    """
    writers = {role: build(node, role) for role, node in writer_nodes(config).items()}
    axes = [one.name for one in fields(Parts) if one.name != "writers"]
    built = {axis: build(config[axis], axis) for axis in axes}
    for key, part in {**built, **writers}.items():
        base = EvaluationLM if key in writers else BASES.get(key, object)
        if base not in type(part).__mro__:
            raise ConfigError(
                f"{key}._target_: {type(part).__name__} must derive from "
                f"{base.__module__}.{base.__name__}."
            )
    parts = Parts(**built, writers=writers)
    for key, (by, judge) in parts.study.asks(parts.mechanism, parts.evaluation_lm).items():
        if not is_lm(judge):
            raise ConfigError(
                f"{key} names no LM to build: add one with '+evaluation_lm@{key}=OPTION', or "
                f"take the judge out with '~{key}'."
            )
        _check(f"mechanism={by.name}", by.requires, judge, key)
    for axis in WRITTEN:
        step: Agents | Step = getattr(parts, axis)
        who = "agents" if axis == "agents" else f"{axis}={getattr(step, 'name', '')}"
        role = f"lms.{axis}" if f"lms.{axis}" in parts.writers else WRITER
        _check(who, (step.requires,), parts.writer(axis), role)
    return parts


def _check(
    who: str, requires: Collection[frozenset[Capability]], lm: EvaluationLM, axis: str
) -> None:
    if any(needed <= lm.capabilities for needed in requires):
        return
    wanted = " or ".join(sorted("+".join(sorted(needed)) for needed in requires))
    key = "evaluation_lm" if axis == "evaluation_lm" else f"evaluation_lm@{axis}"
    raise CapabilityError(
        f"{who} needs an LM with {wanted}, but {lm.identity.split()[0]} only has "
        f"{', '.join(sorted(lm.capabilities))}: choose another with {key}=OPTION "
        "(smollm2 has all, without a key or a network)."
    )
