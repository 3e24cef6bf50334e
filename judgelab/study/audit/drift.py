"""What changed since an earlier audit, on the texts or pairs that a judge was asked about in both.

People's labels are those of today: a label that was mended is no change of the judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judgelab.core.errors import ConfigError, DataError, some
from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable
from judgelab.core.result import Row, Value
from judgelab.dataset.meaning import same_levels
from judgelab.stats.intervals.ends import cluster_sums
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Sums
from judgelab.store.run_dir import RunDir
from judgelab.study.audit.credits import credits_of
from judgelab.study.audit.design import Design
from judgelab.study.common.tables import named_columns as columns

if TYPE_CHECKING:
    from pandas import DataFrame

Made = Mapping[str, Any]
"""How a judge's verdicts came about: what its estimator says, and ``answered``, the models that its
servers named; {} where verdicts came with the data."""
UNKNOWN = "which model gave these verdicts is not recorded"


class Change(NamedTuple):
    """A share before and now on the same items, and now minus before."""

    about: str  # "" of agreement, else the class that is to be found
    before: Estimate
    now: Estimate
    change: Estimate


@dataclass(frozen=True)
class JudgeDrift:
    """One judge, now and then."""

    judge: str  # judge, earlier: its name now, and then
    earlier: str
    changed: Estimate  # share of its verdicts that are others now
    agreement: Change
    classes: Sequence[Change]
    model: str  # in words: another one, the same, or not known

    @property
    def way(self) -> str:
        """less or more agreement with people, for sure; else open."""
        change = self.agreement.change
        return "less" if change.high < 0 else "more" if change.low > 0 else "open"

    @property
    def moved(self) -> list[Change]:
        """Classes that it surely finds more often now, or less."""
        return [one for one in self.classes if one.change.low > 0 or one.change.high < 0]


@dataclass(frozen=True)
class Before:
    """A finished audit.

    Args:
        folder: of the run.

    Raises:
        ConfigError: it is no finished run of study=audit, or what it held has changed since.
    """

    folder: str

    def __post_init__(self) -> None:
        run, where = self._run, f"study.before={self.folder!r}"
        if not run.done:
            raise ConfigError(f"{where} is no finished run: give a folder with DONE in it.")
        if altered := run.altered():
            raise ConfigError(f"{where}: {some(altered)} changed since the run finished.")
        if (study := run.read_json("result.json")["summary"].get("study")) != "audit":
            raise ConfigError(f"{where} is a run of study={study}: give one of study=audit.")

    @property
    def _run(self) -> RunDir:
        return RunDir(Path(self.folder).expanduser())

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self._run.path.resolve().name

    @cached_property
    def made(self) -> Mapping[str, Made]:
        """Judge -> how its verdicts came about."""
        provenance = self._run.read_json("result.json")["provenance"]
        known: Mapping[str, Made] = provenance.get("judges", {})
        return known

    @cached_property
    def _said(self) -> DataFrame:
        import pandas as pd

        try:
            said = pd.read_parquet(self._run.path / "records/judgments.parquet")
        except (OSError, ValueError) as cause:
            raise ConfigError(f"study.before={self.folder!r} cannot be read: {cause}.") from cause
        said = said[said["role"] == "judge"]
        return said[said["run"] == 0] if "run" in said else said

    def of(self, criterion: str) -> DataFrame:
        """What judges said then; of one criterion, where there are several.

        Raises:
            DataError: there were several then, and there is one now.
        """
        said = self._said
        if "criterion" not in said:
            return said.head(0) if criterion else said
        if not criterion:
            known = some(sorted(set(said["criterion"])))
            raise DataError(f"{self.name} held several criteria ({known}), and this run one.")
        return said[said["criterion"] == criterion]

    def drifts(
        self, design: Design, made: Mapping[str, Made], criterion: str = ""
    ) -> list[JudgeDrift]:
        """Every judge of both runs, by name; one judge in each is the same one, whatever its name.

        Raises:
            DataError: the runs have no judge, or no text or pair, in common.
        """
        table, said = design.table, self.of(criterion)
        names = dict.fromkeys(said["by"].astype(str))
        pairs = [(name, name) for name in table.names if name in names]
        if not pairs and len(names) == len(table.names) == 1:
            pairs = [(table.names[0], next(iter(names)))]
        if not pairs:
            raise DataError(
                f"No judge of {self.name} ({some(list(names)) or 'none'}) is one of these "
                f"({some(list(table.names))}): audit the same judge, or one judge in each run."
            )
        drifts = []
        for now, then in pairs:
            own = said[said["by"] == then]
            models = compared(self.made.get(then, {}), made.get(now, {}))
            if (one := _drift(design, now, then, *self._aligned(table, own), models)) is not None:
                drifts.append(one)
        if not drifts:
            raise DataError(
                f"{self.name} and this run have no text or pair in common that a judge was asked "
                "about in both: their ids and systems must be the same."
            )
        return drifts

    def alone(
        self, drifts: Sequence[JudgeDrift], names: Sequence[str], criterion: str
    ) -> list[str]:
        """Judges of either run that were not compared; of the earlier one first."""
        then = dict.fromkeys(self.of(criterion)["by"].astype(str))
        done = {one.earlier for one in drifts}, {one.judge for one in drifts}
        left = [name for name in then if name not in done[0]]
        return [*left, *(name for name in names if name not in done[1] and name not in left)]

    def _aligned(self, table: JudgmentTable, said: DataFrame) -> tuple[JudgmentTable, Floats]:
        """The table with all levels, and [units, orders, 2] the value then and whether asked."""
        pairs = bool((said["second"] != "").any())
        kind = "category" if "category" in said else "preference" if pairs else "grade"
        if kind != table.kind:
            raise DataError(
                f"{self.name} holds judgments of the kind {kind}, this run {table.kind}: set "
                "dataset.kind, or ask the judge as it was asked then."
            )
        value = said["value"].to_numpy(float)
        if kind == "category":
            spoken = said["category"].dropna().astype(str)
            same = same_levels(dict.fromkeys(spoken), table.levels)
            levels = dict.fromkeys((*table.levels, *same.values()))
            table = replace(table, levels=tuple(levels))
            place = {name: float(table.levels.index(level)) for name, level in same.items()}
            value = said["category"].map(place).to_numpy(float)
        units = zip(table.units.item, table.units.first, table.units.second, strict=True)
        number = {unit: k for k, unit in enumerate(units)}
        then = np.full((len(table.units), table.orders, 2), np.nan)
        keys = (said[name] for name in ("item", "first", "second", "order"))
        for item, first, second, order, x in zip(*keys, value, strict=True):
            if (k := number.get((item, first, second))) is not None:
                then[k, order] = x, 1
            elif second and (k := number.get((item, second, first))) is not None:
                then[k, 1 - order] = 1 - x, 1
        return table, then


def compared(then: Made, now: Made) -> str:
    """Whether the same model, asked in the same way, gave the verdicts of both runs, in words."""
    if not then or not now:
        return UNKNOWN
    for key, verb in (("answered", "answered"), ("model", "was asked")):
        one, other = then.get(key), now.get(key)
        if one and other and one != other:
            names = [x if isinstance(x, str) else " and ".join(x) for x in (one, other)]
            return f"another model {verb} ({names[0]} then, {names[1]} now)"
    ways = sorted({*then, *now} - {"answered"})
    if others := [key for key in ways if then.get(key) != now.get(key)]:
        return f"the same model was asked in another way ({', '.join(others)})"
    return (
        "the same model by name, asked in the same way; what the call cache held was not asked "
        "anew (paths.cache=NEW force=true asks all)"
    )


def _drift(
    design: Design, name: str, earlier: str, table: JudgmentTable, then: Floats, model: str
) -> JudgeDrift | None:
    """None where nothing was asked in both runs."""
    judge = table.names.index(name)
    both = table.asked[judge] & (then[..., 1] == 1)
    chosen = both.any(axis=1)
    if not chosen.any():
        return None
    asked = both[chosen]
    said = [np.where(both, x, np.nan)[chosen] for x in (table.verdicts[judge], then[..., 0])]
    facts = table.judges[judge]
    two = replace(
        table.at(chosen),
        judges=(facts, JudgeFacts(f"{name} before", facts.pointwise, facts.scaled)),
        verdicts=np.stack(said),
        asked=np.stack([asked, asked]),
        reasons={},
        again=np.empty((0, 0, 0, 0)),
    )
    weight = None if design.weight is None else design.weight[chosen]
    pair = Design.of(two, design.bars, weight)
    known = ~np.isnan(said[0]) & ~np.isnan(said[1])
    other = known & (np.round(said[0] - said[1], 9) != 0)
    counts = [cluster_sums(x.sum(axis=1).astype(float), pair.cluster) for x in (other, known)]
    changed = Sums(counts[0], counts[1]).estimate_share()
    credits = zip(credits_of(pair, 0).each, credits_of(pair, 1).each, strict=True)
    agreement, *recall = [
        Change(
            now.about,
            old.own.estimate_share(),
            now.own.estimate_share(),
            now.own.estimate_share(old.own),
        )
        for now, old in credits
        if now.name == "agreement" or (now.name == "recall" and now.about in pair.classes)
    ]
    return JudgeDrift(name, earlier, changed, agreement, recall, model)


def _change(about: str, old: Sums, now: Sums) -> Change:
    return Change(about, old.estimate_share(), now.estimate_share(), now.estimate_share(old))


def drift_rows(drifts: Sequence[JudgeDrift]) -> list[Row]:
    """Of each judge its verdicts, its agreement, and the classes that it finds."""
    rows = list[Row]()
    for one in drifts:
        judge = one.judge if one.judge == one.earlier else f"{one.judge} (then {one.earlier})"
        rows.append(
            {"judge": judge, "what": "verdicts that changed", "before": None, "now": None}
            | columns("change", one.changed)
            | {"items": one.changed.n}
        )
        for each in (one.agreement, *one.classes):
            what = f"finds '{each.about}'" if each.about else "agreement with people"
            row: dict[str, Value] = {"judge": judge, "what": what, "before": each.before.value}
            row |= {"now": each.now.value} | columns("change", each.change)
            rows.append(row | {"items": each.change.n})
    return rows
