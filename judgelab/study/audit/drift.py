"""What a judge says another time: when it is asked again, and since an earlier audit.

How often it contradicts itself stands beside how often people do. Since an earlier audit: on the
texts or pairs that it was asked about in both. People's labels are those of today: a label that was
mended is no change of the judge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from judgelab.core.errors import ConfigError, DataError, some
from judgelab.core.judgments import Floats, JudgmentTable, Kind
from judgelab.core.result import Row
from judgelab.dataset.categories import same_levels
from judgelab.stats.intervals.ends import cluster_sums
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.agreement import Shares, Target
from judgelab.stats.trust.biases import Noise, has_several, noise
from judgelab.store.run_dir import RunDir
from judgelab.study.audit.design import Design, answers_of
from judgelab.study.common.tables import named_columns as columns

Origin = Mapping[str, Any]
"""How a judge's verdicts came about: what its estimator says, and ``answered``, the models that its
servers named; {} where verdicts came with the data."""
UNKNOWN = "which model gave these verdicts is not recorded"


class Change(NamedTuple):
    """A share before and now on the same items, and now minus before."""

    about: str  # "" of agreement, else the class that is to be found
    before: Estimate
    now: Estimate
    change: Estimate


class JudgeDrift(NamedTuple):
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


@dataclass(frozen=True)
class Before:
    """A finished audit."""

    name: str  # of its folder
    origins: Mapping[str, Origin]  # judge -> how its verdicts came about
    verdicts: pd.DataFrame  # a row for each verdict of a judge's first run

    @staticmethod
    def of(folder: str) -> Before:
        """The audit in this folder (ConfigError: it is no finished run of study=audit, or its files
        have changed since)."""
        run, where = RunDir(Path(folder).expanduser()), f"study.before={folder!r}"
        if not run.is_done:
            raise ConfigError(f"{where} is no finished run: give a folder with DONE in it.")
        if altered := run.altered_files():
            raise ConfigError(f"{where}: {some(altered)} changed since the run finished.")
        result = run.read_json("result.json")
        if (study := result["summary"].get("study")) != "audit":
            raise ConfigError(f"{where} is a run of study={study}: give one of study=audit.")
        try:
            rows = pd.read_parquet(run.path / "records/judgments.parquet")
        except (OSError, ValueError) as cause:
            raise ConfigError(f"{where} cannot be read: {cause}.") from cause
        first = rows.get("run", pd.Series(0, rows.index)) == 0
        rows = rows[(rows["role"] == "judge") & first]
        return Before(run.path.resolve().name, result["provenance"].get("judges", {}), rows)

    def verdicts_on(self, criterion: str) -> pd.DataFrame:
        """Those on one criterion, where there are several (DataError: now there is one)."""
        rows = self.verdicts
        if "criterion" not in rows:
            return rows.head(0) if criterion else rows
        if not criterion:
            names = some(sorted(set(rows["criterion"])))
            raise DataError(f"{self.name} held several criteria ({names}), and this run one.")
        return rows[rows["criterion"] == criterion]

    def drifts(
        self, design: Design, origins: Mapping[str, Origin], criterion: str = ""
    ) -> tuple[list[JudgeDrift], list[str]]:
        """Every judge of both runs; and the judges of either that were not compared.

        Judges go by name; one judge in each run is the same one, whatever its name (DataError: the
        runs have no judge, or no text or pair, in common).
        """
        table, rows = design.table, self.verdicts_on(criterion)
        names = dict.fromkeys(rows["by"].astype(str))
        pairs = [(name, name) for name in table.names if name in names]
        if not pairs and len(names) == len(table.names) == 1:
            pairs = [(table.names[0], next(iter(names)))]
        if not pairs:
            raise DataError(
                f"No judge of {self.name} ({some(list(names)) or 'none'}) is one of these "
                f"({some(list(table.names))}): audit the same judge, or one judge in each run."
            )
        drifts = list[JudgeDrift]()
        for now, then in pairs:
            model = model_change(self.origins.get(then, {}), origins.get(now, {}))
            aligned = self._aligned(table, rows[rows["by"] == then])
            drifts += _drift(design, now, then, *aligned, model)
        if not drifts:
            raise DataError(
                f"{self.name} and this run have no text or pair in common that a judge was asked "
                "about in both: their ids and systems must be the same."
            )
        unmatched = [x for x in names if x not in {one.earlier for one in drifts}]
        unmatched += [x for x in table.names if x not in {one.judge for one in drifts}]
        return drifts, list(dict.fromkeys(unmatched))

    def _aligned(self, table: JudgmentTable, rows: pd.DataFrame) -> tuple[JudgmentTable, Floats]:
        """The table with all levels, and [units, orders, 2] the value then and whether asked."""
        pairs = bool((rows["second"] != "").any())
        kind = "category" if "category" in rows else "preference" if pairs else "grade"
        if kind != table.kind:
            raise DataError(
                f"{self.name} holds judgments of the kind {kind}, this run {table.kind}: set "
                "dataset.kind, or ask the judge as it was asked then."
            )
        value = rows["value"].to_numpy(float)
        if kind == "category":
            spoken = rows["category"].dropna().astype(str)
            same = same_levels(dict.fromkeys(spoken), table.levels)
            table = replace(table, levels=tuple(dict.fromkeys((*table.levels, *same.values()))))
            place = {name: float(table.levels.index(level)) for name, level in same.items()}
            value = rows["category"].map(place).to_numpy(float)
        units = zip(table.units.item, table.units.first, table.units.second, strict=True)
        number = {unit: k for k, unit in enumerate(units)}
        then = np.full((len(table.units), table.orders, 2), np.nan)
        keys = (rows[name] for name in ("item", "first", "second", "order"))
        for item, first, second, order, x in zip(*keys, value, strict=True):
            swap = (item, first, second) not in number  # the pair may be stored the other way round
            unit = (item, second, first) if swap else (item, first, second)
            if unit in number:
                then[number[unit], order ^ swap] = 1 - x if swap else x, 1
        return table, then


def model_change(then: Origin, now: Origin) -> str:
    """Whether the same model, asked in the same way, gave the verdicts of both runs, in words."""
    if not then or not now:
        return UNKNOWN
    for key, verb in (("answered", "answered"), ("model", "was asked")):
        names = [then.get(key) or (), now.get(key) or ()]
        one, other = (x if isinstance(x, str) else " and ".join(x) for x in names)
        if one and other and one != other:
            return f"another model {verb} ({one} then, {other} now)"
    ways = sorted({*then, *now} - {"answered"})
    if others := [key for key in ways if then.get(key) != now.get(key)]:
        return f"the same model was asked in another way ({', '.join(others)})"
    return (
        "the same model by name, asked in the same way; what the call cache held was not asked "
        "anew (paths.cache=NEW force=true asks all)"
    )


def _drift(
    design: Design, name: str, earlier: str, table: JudgmentTable, then: Floats, model: str
) -> Iterator[JudgeDrift]:
    """Nothing where nothing was asked in both runs."""
    judge = table.names.index(name)
    both = table.asked[judge] & (then[..., 1] == 1)
    units = both.any(axis=1)
    if not units.any():
        return
    now, before = (np.where(both, x, np.nan)[units] for x in (table.verdicts[judge], then[..., 0]))
    facts = table.judges[judge]
    two = replace(
        table.at(units),
        judges=(facts, replace(facts, name=f"{name} before")),
        verdicts=np.stack([now, before]),
        asked=np.stack([both[units]] * 2),
        reasons={},
        again=np.empty((0, 0, 0, 0)),
    )
    pair = Design.of(two, design.bars, None if design.weight is None else design.weight[units])
    has_both = ~np.isnan(now - before)
    other = has_both & (np.round(now - before, 9) != 0)
    counts = (cluster_sums(x.sum(axis=1).astype(float), pair.cluster) for x in (other, has_both))
    changed = Shares.of(*counts).estimates().at()
    agreement, classes = _change("", pair.own), list[Change]()
    if isinstance(pair.target, Target):
        recall = pair.target.shares(answers_of(two), pair.judged, each=True)
        classes = [_change(x, recall, two.levels.index(x)) for x in pair.classes]
    yield JudgeDrift(name, earlier, changed, agreement, classes, model)


def _change(about: str, shares: Shares, *place: int) -> Change:
    """Of the shares of now and before [2, ...]."""
    now, before, change = shares.at(0, *place).against(shares.at(1, *place))
    return Change(about, before.at(), now.at(), change.at())


def drift_rows(drifts: Sequence[JudgeDrift]) -> list[Row]:
    """Of each judge its verdicts, its agreement, and the classes that it finds."""
    rows, unknown = list[Row](), Estimate(math.nan)
    for one in drifts:
        judge = one.judge if one.judge == one.earlier else f"{one.judge} (then {one.earlier})"
        shares = {"verdicts that changed": Change("", unknown, unknown, one.changed)}
        shares |= {"agreement with people": one.agreement}
        for what, each in (shares | {f"finds '{x.about}'": x for x in one.classes}).items():
            row: Row = {"judge": judge, "what": what, "before": each.before.value}
            row = {**row, "now": each.now.value, **columns("change", each.change)}
            rows.append({**row, "items": each.change.n})
    return rows


class JudgeNoise(NamedTuple):
    """Of one judge; people, and the judge beside them, on the texts that two people labelled."""

    name: str
    own: Noise
    beside: Noise | None = None
    people: Noise | None = None


def noises(design: Design) -> Iterator[JudgeNoise]:
    """Of each judge that was asked about some text more than once."""
    table = design.table
    cluster = np.repeat(design.cluster, table.orders)  # the two orders of a pair are two questions
    for name, first, again in zip(table.names, table.verdicts, table.again, strict=True):
        runs = np.concatenate([first[..., None], again], axis=-1).reshape(len(cluster), -1)
        if not has_several(runs).any():
            continue
        own = noise(runs, cluster)
        repeated = has_several(runs).reshape(len(table.units), -1).any(axis=1)
        both = repeated & has_several(table.labels)
        if not both.any():
            yield JudgeNoise(name, own)
            continue
        shared = np.where(np.repeat(both, table.orders)[:, None], runs, np.nan)
        people = noise(table.labels[both], design.cluster[both])
        yield JudgeNoise(name, own, noise(shared, cluster), people)


def noise_rows(kind: Kind, one: JudgeNoise) -> list[Row]:
    """A row of the judge, of it where several people labelled, and of people there."""
    rows = {"judge": one.own, "judge, where several people labelled": one.beside}
    if one.beside is not None and one.beside.units == one.own.units:
        del rows["judge, where several people labelled"]
    return [
        {"judge": one.name, "who": who}
        | columns("two_verdicts_differ", each.differ)
        | (columns("mean_distance", each.apart) if kind == "grade" else {})
        | {"items": each.differ.n}
        for who, each in (rows | {"people there": one.people}).items()
        if each is not None
    ]
