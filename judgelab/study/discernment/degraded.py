"""References, and what a suite of perturbations makes of them, side by side in one panel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import CapabilityError, ConfigError, DataError
from judgelab.core.panel import Agent, Panel
from judgelab.engine.context import Context
from judgelab.study.discernment.perturbations import ORIGINAL, Suite, SuiteEntry


@dataclass(frozen=True)
class Degraded:
    """References and their perturbed versions, as agents of one panel.

    Attributes:
        panel: agent ``original`` first, then one agent a perturbation.
        suite: the perturbations, in the order of the agents.
        unchanged: perturbation -> ids of the items whose text it left as it was.
        made: perturbation -> what its attack says of itself.
    """

    panel: Panel
    suite: Suite
    unchanged: dict[str, list[str]]
    made: dict[str, dict[str, object]]

    def changed(self, column: int) -> NDArray[np.bool_]:
        """[items] whose text the perturbation of this agent did not leave as it was.

        Texts that could not be written are among them: they are missing, not unchanged.
        """
        left = set(self.unchanged[self.panel.agents[column].name])
        return np.array([item.id not in left for item in self.panel.items], dtype=np.bool_)

    def telling(self, ratings: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ratings [variant, item, metric] that say something of the judge, the others NaN.

        Where no changed text of a perturbation was rated on a metric, before and after, nothing
        but unchanged texts is left, which are rated as their originals are: D would be 0, as if
        the judge had looked at changed ones and seen nothing.
        """
        told = ratings.copy()
        for column in range(1, len(ratings)):
            changed, known = self.changed(column), ~np.isnan(ratings[0] - ratings[column])
            if changed.any():
                told[column][:, ~known[changed].any(axis=0)] = np.nan
        return told


def degrade(context: Context, base: Panel, suite: Suite) -> Degraded:
    """Perturb the references of ``originals`` by a suite.

    Raises:
        CapabilityError: perturbations are to be written by an LM that cannot write.
    """
    made = {one.name: _perturbed(context, base, one) for one in suite.perturbations}
    panel = _joined(base, suite, made)
    if context.mechanism.reads == "preprocessed":
        panel = context.preprocessor.apply(panel, context.writer, seed=context.seed)
    return Degraded(
        panel=panel,
        suite=suite,
        unchanged={key: _unchanged(base, one) for key, one in made.items()},
        made={key: _said(one) for key, one in made.items()},
    )


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
    loaded = context.dataset.load(limit=context.limit)
    items = tuple(item for item in loaded.items if item.reference and item.reference.strip())
    if not items:
        name = loaded.provenance.get("dataset", "unnamed")
        raise DataError(
            f"study=discernment perturbs references, and the dataset {name!r} has none: use "
            "dataset=summeval, or map a column with dataset.fields.reference."
        )
    without = len(loaded.items) - len(items)
    texts = tuple((item.reference,) for item in items)
    # no judge may hold a text against the very text that it is
    bare = tuple(replace(item, reference=None) for item in items)
    base = replace(loaded, items=bare, agents=(), texts=())
    return base.with_agents((Agent(ORIGINAL),), texts, items_without_reference=without)


def _perturbed(context: Context, base: Panel, one: SuiteEntry) -> Panel:
    attack = one.attack
    if not attack.requires <= context.writer.capabilities:
        raise CapabilityError(
            f"The perturbation {one.name} is to be written by an LM that can "
            f"{'+'.join(sorted(attack.requires))}, but {context.writer.identity.split()[0]} "
            "cannot: choose evaluation_lm@writer_lm=NAME, or study.by=rules."
        )
    if attack.requires:
        spread = context.spread if context.writer_lm is None else context.spread_writing
        spread(lambda lm: attack.apply(base, lm, seed=context.seed))
    return attack.apply(base, context.writer, seed=context.seed)


def _joined(base: Panel, suite: Suite, made: dict[str, Panel]) -> Panel:
    agents = [Agent(ORIGINAL)]
    for one in suite.perturbations:
        meta = {"level": one.level, "severity": one.severity or "", "attack": one.attack.name}
        agents.append(Agent(one.name, meta=meta))
    rows = zip(base.texts, *(panel.texts for panel in made.values()), strict=True)
    texts = tuple(tuple(row[0] for row in columns) for columns in rows)
    return base.with_agents(agents, texts)


def _unchanged(base: Panel, made: Panel) -> list[str]:
    pairs = zip(base.items, base.texts, made.texts, strict=True)
    return [item.id for item, before, after in pairs if before == after]


def _said(made: Panel) -> dict[str, object]:
    keys = ("attack", "attack_settings", "attack_written_by", "attack_unwritten")
    return {key: made.provenance[key] for key in keys if key in made.provenance}
