"""What a discernment run reads from YAML, suites of perturbations and weights of metrics (appendix
E), and references beside what a suite makes of them."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import yaml
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from judgelab.attack.protocol import Attack
from judgelab.calls.cached import CountingLM
from judgelab.config import build
from judgelab.core.errors import CapabilityError, ConfigError, DataError, did_you_mean
from judgelab.core.panel import GIVE_REFERENCES, Agent, Panel
from judgelab.core.resources import conf, of_yaml
from judgelab.core.step import By
from judgelab.engine.context import Context
from judgelab.stats.intervals.arrays import Mask

WEIGHTS, FOLDER = conf() / "expert_weights", conf() / "perturbation"
WeightTable = dict[str, dict[str, Annotated[float, Field(ge=0, strict=True)]]]
"""Perturbation (or attack) -> metric -> weight."""
ORIGINAL = "original"  # the agent of a panel that holds the texts as they were
Shape = TypeVar("Shape")


@dataclass(frozen=True)
class ExpertWeights:
    """Weights of one task."""

    table: WeightTable  # empty where all metrics weigh alike
    identity: str  # file name and hash, for the record

    @property
    def file(self) -> str:
        """Its name."""
        return self.identity.split()[0]

    @property
    def in_words(self) -> str:
        """In words: uniform, or expert weights with the name of their file."""
        return f"expert weights ({self.file})" if self.table else "uniform weights"

    def of(self, names: Sequence[str], metrics: Sequence[str]) -> list[float] | None:
        """Weights of the rated metrics, scaled to 1, for the first of ``names`` that is listed;
        None, that is equal ones, without any. ConfigError: no rated metric has a weight."""
        listed = [self.table[name] for name in names if name in self.table]
        if not listed:
            return None
        own = [listed[0].get(metric, 0.0) for metric in metrics]
        if not sum(own) > 0:
            raise ConfigError(
                f"{self.file} gives {names[0]!r} no weight on any of the metrics rated "
                f"({', '.join(metrics)}): use study.weights=uniform or other metrics."
            )
        return [weight / sum(own) for weight in own]

    def unlisted(self, perturbations: Mapping[str, str]) -> list[str]:
        """Perturbations (name -> attack) without an entry; none where the table is empty.
        ConfigError: no entry is of any of them, so that the file would say nothing."""
        absent = [n for n, attack in perturbations.items() if not {n, attack} & self.table.keys()]
        if self.table and len(absent) == len(perturbations):
            raise ConfigError(
                f"{self.file} has weights for {', '.join(sorted(self.table))}, and none of them is "
                f"tested ({', '.join(perturbations)}): name perturbations or their attacks as they "
                "are called there, or use study.weights=uniform."
            )
        return absent if self.table else []

    def unrated(self, metrics: Sequence[str]) -> list[str]:
        """Metrics that have weight somewhere and were not rated."""
        own = {m for weights in self.table.values() for m, weight in weights.items() if weight}
        return sorted(own - set(metrics))


def load_weights(name_or_path: str, task: str) -> ExpertWeights:
    """Weights by name (``conf/expert_weights/<name>.yaml``), or from a YAML.

    Raises:
        ConfigError: there is no such name, or there are weights, but none of this task.
        DataError: the file is not of its kind.
    """
    path = _named_file("study.weights", name_or_path, WEIGHTS)
    needs = "A file of weights maps tasks to perturbations to metrics with numbers from 0 up."
    tables, identity = _validated(path, TypeAdapter(dict[str, WeightTable | None]), needs)
    others = sorted(name for name, own in tables.items() if own and name != task)
    table = tables.get(task)
    if table is None and others:  # the file is meant for those
        raise ConfigError(
            f"{str(path)!r} has weights for {', '.join(others)}, none for the task {task!r} of the "
            "dataset: add them, or use study.weights=uniform."
        )
    return ExpertWeights(table or {}, identity)


def _named_file(key: str, name_or_path: str, folder: Path) -> Path:
    """A YAML of the user, or one of the folder by its name."""
    if name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    names = sorted(file.stem for file in folder.glob("*.yaml"))
    if name_or_path not in names:
        raise ConfigError(f"{key}={name_or_path!r}.{did_you_mean(name_or_path, names)}")
    return folder / f"{name_or_path}.yaml"


def _validated(path: Path, shape: TypeAdapter[Shape], needs: str) -> tuple[Shape, str]:
    """What a YAML file holds, and its name and hash; ``needs`` says which shape it is to have."""
    try:
        raw = path.read_bytes()
        content = shape.validate_python(of_yaml(raw.decode("utf-8-sig")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as cause:
        raise DataError(f"{str(path)!r} is not readable as YAML: {cause}.") from cause
    except ValidationError as cause:
        fault = cause.errors()[0]
        place = ", ".join([path.name, *(str(part) for part in fault["loc"] if part != "[key]")])
        raise DataError(f"{place}: {fault['msg']}. {needs}") from cause
    return content, f"{path.name} sha256:{hashlib.sha256(raw).hexdigest()[:12]}"


class Entry(BaseModel, extra="forbid"):
    """An entry of a file."""

    level: Literal["character", "word", "sentence"]
    attack: dict[str, Any]


Name = Annotated[str, StringConstraints(pattern=r"\S", strict=True)]
Entries = Annotated[dict[Name, Entry], Field(min_length=1)]


@dataclass(frozen=True)
class SuiteEntry:
    """One way to degrade a text."""

    name: str  # unique within its suite, and not ``original``
    level: str  # character, word or sentence (DHP paper, Table 1)
    attack: Attack  # what does it


@dataclass(frozen=True)
class Suite:
    """Perturbations in order, and where they come from."""

    perturbations: tuple[SuiteEntry, ...]
    identity: str

    @property
    def attacks(self) -> dict[str, str]:
        """Name of each perturbation -> name of its attack."""
        return {one.name: one.attack.name for one in self.perturbations}


def load_suite(
    name_or_path: str | None,
    dataset: str,
    task: str,
    only: Sequence[str] | None = None,
    by: By | None = None,
) -> Suite:
    """A suite by name (``conf/perturbation/<name>.yaml``) or from a user's own YAML; None: that of
    the dataset, or of its task.

    Raises:
        ConfigError: there is no such suite or perturbation, or an attack is misconfigured.
        DataError: the file is no suite; the message names the entry.
    """
    here = [name for name in (dataset, task) if (FOLDER / f"{name}.yaml").is_file()]
    if name_or_path is None and not here:
        names = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise ConfigError(
            f"There are no perturbations for dataset {dataset!r} or task {task!r}: set "
            f"study.perturbations to one of {names}, or to a YAML file of your own."
        )
    path = _named_file("study.perturbations", name_or_path or here[0], FOLDER)
    needs = (
        "A suite maps names (put them in quotation marks) to level and attack (a mapping with a "
        "_target_)."
    )
    content, identity = _validated(path, TypeAdapter(Entries), needs)
    if ORIGINAL in content:
        raise DataError(f"{path.name}: {ORIGINAL!r} is the name of the unperturbed texts.")
    for name in only or ():
        if name not in content:
            raise ConfigError(f"study.only: {name!r}.{did_you_mean(name, content)}")
    entries = tuple(
        SuiteEntry(name, one.level, _attack(one.attack, f"{path.name}, {name}", by))
        for name, one in content.items()
        if only is None or name in only
    )
    if only is not None or by == "lm":
        return Suite(entries, identity)
    # no rule does these, and nobody asked for an LM that writes
    gone = [e for e in entries if e.attack.requires and "by" not in content[e.name].attack]
    if gone:
        identity += f", without {', '.join(e.name for e in gone)} (an LM writes them: study.by=lm)"
    return Suite(tuple(e for e in entries if e not in gone), identity)


def _attack(node: dict[str, Any], where: str, by: By | None) -> Attack:
    attack = build(node, f"{where}: attack")
    if not isinstance(attack, Attack):
        raise DataError(
            f"{where}: attack: {node['_target_']} is no attack: name a class with name, expects, "
            "requires, apply and check (judgelab/attack/protocol.py)."
        )
    writers = inspect.signature(type(attack)).parameters.get("by")
    if by is not None and writers is not None and writers.default != "lm":
        again: Attack = build({**node, "by": by}, where)
        return again
    return attack


@dataclass(frozen=True)
class Degraded:
    """References and their perturbed versions, as agents of one panel, as written."""

    panel: Panel  # agent ``original`` first, then one agent a perturbation
    suite: Suite  # the perturbations, in the order of the agents
    changed: Mask  # [agents, items] whose text the perturbation changed, or could not write
    # perturbation -> id of each item whose text is not what the perturbation claims, its unchanged
    # ones among them -> why; such a text is excluded: the panel has None
    failed: dict[str, dict[str, str]]
    facts: dict[str, dict[str, object]]  # perturbation -> what its attack says of itself


def originals(context: Context) -> Panel:
    """The items that have a reference, answered by it.

    Raises:
        ConfigError: an attack was chosen beside the perturbations.
        DataError: no item has a reference.
    """
    if context.attack.name != "none":
        raise ConfigError(
            "study=discernment perturbs texts itself: leave attack=none, and choose with "
            "study.perturbations or study.only."
        )
    context.tell("texts", 0)
    panel = context.dataset.load(limit=context.limit)
    items = [item for item in panel.items if item.reference and item.reference.strip()]
    if not items:
        name = panel.provenance.get("dataset", "unnamed")
        raise DataError(
            f"study=discernment perturbs references, and the dataset {name!r} has none: "
            f"{GIVE_REFERENCES}, or use dataset=summeval."
        )
    # no judge may hold a text against the very text that it is
    bare = tuple(replace(item, reference=None) for item in items)
    base = replace(panel, items=bare, agents=(), texts=())
    texts, without = tuple((item.reference,) for item in items), len(panel.items) - len(items)
    return base.with_agents((Agent(ORIGINAL),), texts, items_without_reference=without)


def degrade(context: Context, base: Panel, suite: Suite) -> Degraded:
    """Perturb the references of ``originals`` by a suite. CapabilityError: perturbations are to be
    written by an LM that cannot write."""
    ids, before = [item.id for item in base.items], [row[0] for row in base.texts]
    agents, columns, changed = [Agent(ORIGINAL)], [before], [[False] * len(ids)]
    failed, facts = dict[str, dict[str, str]](), {}
    keys = ("attack", "attack_settings", "attack_written_by", "attack_unwritten")
    for one in suite.perturbations:
        attack, writer = one.attack, context.writer("attack")
        if not attack.requires <= writer.capabilities:
            raise CapabilityError(
                f"The perturbation {one.name} is to be written by an LM that can "
                f"{'+'.join(sorted(attack.requires))}, but {writer.identity.split()[0]} "
                "cannot: choose evaluation_lm@lms.attack=NAME, or study.by=rules."
            )
        write = partial(attack.apply, base, seed=context.seed)
        version = context.write("attack", attack.requires, write)
        after, origin = [row[0] for row in version.texts], version.provenance
        changed.append([text != other for text, other in zip(before, after, strict=True)])
        wrong = failed[one.name] = {
            item: reason
            for item, text, other in zip(ids, before, after, strict=True)
            if text is not None and other is not None
            if (reason := attack.check(text, other))
        }
        facts[one.name] = {key: origin[key] for key in keys if key in origin}
        columns.append([None if i in wrong else text for i, text in zip(ids, after, strict=True)])
        agents.append(Agent(one.name, meta={"level": one.level, "attack": attack.name}))
    panel = base.with_agents(agents, tuple(zip(*columns, strict=True)))
    return Degraded(panel, suite, np.array(changed, dtype=np.bool_), failed, facts)


def refuse_unfit(context: Context, base: Panel) -> None:
    """Find out before anything is asked or paid for that a mechanism does not fit (ConfigError): it
    holds texts against one another, is for other tasks, or scores texts only as they came."""
    mechanism, lm = context.mechanism, context.evaluation_lm
    if mechanism.subject != "text":
        raise ConfigError(
            "study=discernment has a judge score each text by itself, but mechanism="
            f"{mechanism.name} holds texts against one another: choose rating (an LM that chats), "
            "rating_likelihood (one that gives log-probabilities), or one of lm_examiner, "
            "pointwise5, acu_rating, gptscore, length."
        )
    mechanism.fits(base)
    if mechanism.measurement == "text":  # refuses attacked texts where its scores are recorded
        base = base.with_agents(base.agents, base.texts, attack="perturbations")
    mechanism.measure(base, CountingLM(lm), seed=context.seed)
