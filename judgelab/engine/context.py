"""The parts of one run, built from a config and matched with each other; and how data flow through
them: panels and their references, measurements, scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from judgelab.agents import Agents
from judgelab.attack.protocol import Attack
from judgelab.config import ROLES, WRITER, build, writer_nodes
from judgelab.core.errors import CapabilityError, ConfigError, DataError, did_you_mean
from judgelab.core.estimator import Estimator
from judgelab.core.lm import Capability, EvaluationLM, is_lm
from judgelab.core.panel import Agent, Panel, keeping, without
from judgelab.core.scores import Scores
from judgelab.core.step import Step
from judgelab.dataset import Dataset
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition, Mechanism
from judgelab.scale.local import Spread, alone
from judgelab.store.run_dir import RunDir

if TYPE_CHECKING:
    import xarray as xr


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


def with_lms(config: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The config with a part for each LM of ``lms`` whose axis asks somebody, so that runs that
    differ in no question are one run; and whether the critic is the evaluation LM, as it is of a
    mechanism that asks in words."""
    nodes = {role: node for role, node in (config.get("lms") or {}).items() if node is not None}
    rest = {key: value for key, value in config.items() if key != "lms"}
    has_critic = False
    if critic := nodes.pop("critic", None):
        asks = frozenset().union(*build(config["mechanism"], "mechanism").requires)
        has_critic = bool(asks & {Capability.CHAT, Capability.LABELS})
    if has_critic:
        rest |= {"evaluation_lm": critic, WRITER: config.get(WRITER) or config["evaluation_lm"]}
    for axis, node in nodes.items():  # studies attack texts on their own account, too
        if axis == "attack" or build(config[axis], axis).requires:
            rest.setdefault("lms", {})[axis] = node
    return rest, has_critic


def build_parts(config: Mapping[str, Any]) -> Parts:
    """Every axis that takes part in measuring, instantiated (nothing heavy is loaded) and matched
    (ConfigError: a key is unknown, missing or of the wrong type; CapabilityError: the LM cannot do
    what the agents or the mechanism need)."""
    writers = {role: build(node, role) for role, node in writer_nodes(config).items()}
    axes = [one.name for one in fields(Parts) if one.name != "writers"]
    parts_by_axis = {axis: build(config[axis], axis) for axis in axes}
    for key, part in {**parts_by_axis, **writers}.items():
        base = EvaluationLM if key in writers else BASES.get(key, object)
        if base not in type(part).__mro__:
            raise ConfigError(
                f"{key}._target_: {type(part).__name__} must derive from "
                f"{base.__module__}.{base.__name__}."
            )
    parts = Parts(**parts_by_axis, writers=writers)
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
    if any(needs <= lm.capabilities for needs in requires):
        return
    alternatives = " or ".join(sorted("+".join(sorted(needs)) for needs in requires))
    key = "evaluation_lm" if axis == "evaluation_lm" else f"evaluation_lm@{axis}"
    raise CapabilityError(
        f"{who} needs an LM with {alternatives}, but {lm.identity.split()[0]} only has "
        f"{', '.join(sorted(lm.capabilities))}: choose another with {key}=OPTION "
        "(smollm2 has all, without a key or a network)."
    )


def _unheard(*event: object) -> None:
    """Nobody is told of stages and curves."""


@dataclass(frozen=True, kw_only=True)
class Context(Parts):
    """The parts of one run while its study runs."""

    run_dir: RunDir
    seed: int
    limit: int | None
    tell: Callable[[str, int], None] = _unheard  # a stage begins, of so many items (0: not known)
    # a curve grows: the name of its table, and a row
    draw: Callable[[str, Mapping[str, float]], None] = _unheard
    # lets workers answer what a stage would ask the evaluation LM, before it asks
    spread: Spread = alone
    spreads: Mapping[str, Spread] = field(default_factory=dict)  # the same of writers, by role
    force: bool = False  # a finished run is repeated: only cached calls are taken over from it

    @classmethod
    def of(cls, parts: Parts, **rest: Any) -> Context:
        """Of parts that were built, and the fields that a run adds."""
        return cls(**vars(parts), **rest)

    def panels(
        self,
        references: Sequence[str] | None = None,
        *,
        spare_references: bool = False,
        item_references: bool = False,
        raw: bool = False,
    ) -> dict[str, Panel]:
        """``clean`` and, under an attack, ``attacked``: the same items and agents.

        Args:
            references: agents that are references; None for those the data marks.
            spare_references: whether the attack leaves the references' texts alone.
            item_references: whether the items' own references are, where neither names nor the data
                say who is (of mechanisms that hold texts against others).
            raw: texts as written, also where the mechanism reads preprocessed ones (``read``).
        """
        self.tell("texts", 0)
        raw_panel = self.dataset.load(limit=self.limit)
        clean = self.write(
            "agents", self.agents.requires, lambda lm: self.agents.answer(raw_panel, lm)
        )
        clean = with_references(clean, references)
        if item_references and references is None and self.mechanism.subject != "text":
            clean = with_item_references(clean)
        clean = self._apply("synopsis", clean)
        panels = {"clean": clean}
        if self.attack.name != "none":
            victims = without_reference_texts(clean) if spare_references else clean
            changed = self._apply("attack", victims)
            if spare_references:  # GEM paper, Algorithm 1: x is replaced by x', y stays
                changed = keeping(changed, clean, _references(clean))
            panels["attacked"] = changed
        return panels if raw else {state: self.read(panel) for state, panel in panels.items()}

    def read(self, panel: Panel) -> Panel:
        """The texts as the mechanism sees them: those written, or preprocessed ones."""
        if self.mechanism.reads == "raw":
            return panel
        return self._apply("preprocessor", panel)

    def no_attack(self, study: str) -> None:
        """For studies of texts as they are (ConfigError: an attack is chosen)."""
        if self.attack.name != "none":
            raise ConfigError(f"study={study} looks at texts as they are: set attack=none.")

    def measure(self, panel: Panel, whole: Panel | None = None) -> xr.Dataset:
        """The mechanism's measurements on a panel, whose items are some of those of ``whole``
        (None: they are all): asked of the LM, or read from the data (DataError: no response has a
        text, and the data hold no scores of them; ConfigError: the mechanism is for another
        task)."""
        if _without_texts(panel):
            data = self.dataset.load(limit=self.limit)  # what no LM has written yet is no fault
            if _without_texts(data) and not any(item.scores for item in data.items):
                raise DataError(
                    "No response has a text: give texts in a column 'text' "
                    "(dataset.columns.text=COLUMN); verdicts that are there already can be audited "
                    "(docs/start/own_judges.md)."
                )
        self.mechanism.fits(panel)

        def part(lm: EvaluationLM) -> xr.Dataset:
            return self.mechanism.measure_part(panel, whole or panel, lm, seed=self.seed)

        if self.mechanism.measurement != "text":
            stage = filter(None, (self.mechanism.name, panel.provenance.get("attack")))
            self.tell(", ".join(map(str, stage)), len(panel.items))
            self.spread(part)
        return part(self.evaluation_lm)

    def score(self, data: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """The mechanism's scores, with what they are estimates by."""
        scores = self.mechanism.score(data, definition)
        return replace(scores, estimator=self.estimator(data.attrs, definition))

    def estimator(
        self, attrs: Mapping[str, object], definition: Definition = "corrected"
    ) -> Estimator:
        """What the mechanism's scores are estimates by; see ``estimator_of``."""
        by = self.mechanism, self.evaluation_lm, self.preprocessor.name
        return estimator_of(*by, attrs, definition)

    def write(
        self, axis: str, requires: frozenset[Capability], step: Callable[[EvaluationLM], Panel]
    ) -> Panel:
        """A step that may ask the axis's writer for texts: workers answer first, then it runs."""
        role = self.writer_role(axis)
        if requires:
            (self.spreads.get(role, alone) if role in self.writers else self.spread)(step)
        return step(self.writer(axis))

    def _apply(self, axis: str, panel: Panel) -> Panel:
        step: Step = getattr(self, axis)
        return self.write(axis, step.requires, lambda lm: step.apply(panel, lm, seed=self.seed))


def _without_texts(panel: Panel) -> bool:
    return bool(panel.agents) and all(text is None for row in panel.texts for text in row)


def with_references(panel: Panel, names: Sequence[str] | None) -> Panel:
    """The panel with these agents as its references; None leaves those the data marks (ConfigError:
    a name that no agent has)."""
    if names is None:
        return panel
    agent_names = [agent.name for agent in panel.agents]
    for name in names:
        if name not in agent_names:
            raise ConfigError(
                f"study.references: no agent is called {name!r}.{did_you_mean(name, agent_names)}"
            )
    agents = tuple(replace(agent, reference=agent.name in names) for agent in panel.agents)
    return replace(panel, agents=agents)


def with_item_references(panel: Panel) -> Panel:
    """The panel with the items' own references as texts of one agent more, which is a reference, so
    that nobody's texts are given up for them; one that marks references stays as it is."""
    own = [item.reference if (item.reference or "").strip() else None for item in panel.items]
    if _references(panel).any() or not any(own):
        return panel
    names, name = {agent.name for agent in panel.agents}, "reference"
    while name in names:
        name += "*"
    texts = tuple((*row, text) for row, text in zip(panel.texts, own, strict=True))
    agents = (*panel.agents, Agent(name, reference=True))
    return panel.with_agents(agents, texts, references="of the data")


def without_reference_texts(panel: Panel) -> Panel:
    """The panel with candidates' texts only, so that no LM is paid to rewrite the others."""
    return without(panel, _references(panel))


def _references(panel: Panel) -> NDArray[np.bool_]:
    return np.array([agent.reference for agent in panel.agents], dtype=np.bool_)


def estimator_of(
    mechanism: Mechanism,
    lm: EvaluationLM,
    preprocessor: str,
    attrs: Mapping[str, object],
    definition: Definition,
) -> Estimator:
    """What scores are estimates by; ``attrs`` are of what was measured: ``prompt``; ``critic``
    where a mechanism has two; ``reply``. A mechanism that reads texts as written has no
    preprocessor."""
    capabilities = frozenset().union(*mechanism.requires)
    critic = attrs.get("critic", "" if capabilities == {Capability.LOGPROB} else "chat")
    asks_lm = bool(capabilities) or "critic" in attrs
    chat, presentation = critic == "chat", lm.presentation
    prompt, place = str(attrs.get("prompt", "")), "in the user's message"
    if not chat and presentation.template != "chat":
        place = "before the text"
    elif not chat and presentation.system:
        place += f", after a system message ({presentation.system})"
    reads = mechanism.reads == "preprocessed" and preprocessor != "identity"
    return Estimator(
        mechanism=mechanism.name,
        model=presentation.model if asks_lm else "none",
        lm=lm.identity if asks_lm else "",
        template=("chat" if chat else presentation.template) if asks_lm else "",
        end_token=presentation.end_token if asks_lm and not chat else "",
        instructions=place if prompt and asks_lm else "none",
        reply=str(attrs.get("reply", "generated")) if asks_lm and chat else "",
        preprocessor=preprocessor if reads else "none",
        precision=presentation.precision if asks_lm else "",
        prompt=prompt,
        definition=definition,
    )


def estimators(*scores: Scores) -> tuple[Estimator, ...]:
    """Those of several scores, each once."""
    return tuple(dict.fromkeys(one.estimator for one in scores if one.estimator is not None))
