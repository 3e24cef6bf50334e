"""Tables of judgments for tests: real verdicts of real judges, and made ones of known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from judgelab.agents import Recorded
from judgelab.attack.none import NoAttack
from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Kind, Units
from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Result, Row
from judgelab.dataset.llmbar import LLMBar
from judgelab.dataset.table import LabelledTable
from judgelab.engine.context import Context
from judgelab.evaluation_lm.compression import Compression
from judgelab.mechanism.recorded_scores import RecordedScores
from judgelab.preprocessor.identity import Identity
from judgelab.store.run_dir import RunDir
from judgelab.study.audit import Audit
from judgelab.study.audit.design import Bars
from judgelab.synopsis.writing import RecordedSynopsis

AUDIT = {one.name for one in fields(Audit)}
NATURAL = ("LLMBar/Natural",)
ADVERSARIAL = tuple(
    f"LLMBar/Adversarial/{name}" for name in ("Neighbor", "GPTInst", "GPTOut", "Manual")
)


def llmbar(sets: tuple[str, ...] = NATURAL) -> JudgmentTable:
    """All judges ("GPT-4/CoT") that have verdicts on all of these sets."""
    table = LLMBar(sets=sets).load().judgments
    assert table is not None
    return table


def frank(data: Path) -> JudgmentTable:
    """Human factuality of summaries and the metrics beside it; NaN where a metric has none."""
    file = data / "judge_audit" / "frank_scores.parquet"
    columns = list(pd.read_parquet(file).columns)
    names = {"id": "item", "agent": "system", "human": "Factuality", "other": False}
    metrics = columns[columns.index("split") + 1 :]
    table = LabelledTable(path=str(file), columns=names, judges=metrics, kind="grade").load()
    assert table.judgments is not None
    return table.judgments


def summeval(data: Path, dimension: str = "relevance") -> JudgmentTable:
    """Grades of 100 documents x 12 systems by three experts, and by nine LM judges; no words."""
    people = pd.read_parquet(data / "summeval" / "summeval_1200_human.parquet")
    people = people.sort_values(["doc_id", "system_id"]).reset_index(drop=True)
    said = pd.read_parquet(data / "summeval" / "summeval_llm_judge_scores.parquet")
    said = said[said["dimension"] == dimension]
    said = said.assign(judge=said["evaluator"] + "/" + said["prompt"])
    wide = said.pivot(index=["doc_id", "system_id"], columns="judge", values="score")
    wide = wide.reindex(pd.MultiIndex.from_frame(people[["doc_id", "system_id"]]))
    experts = [f"{dimension}_expert{k}" for k in (1, 2, 3)]
    verdicts = wide.to_numpy(float).T
    names = [str(name) for name in wide.columns]
    judges = [JudgeFacts(n, pointwise=True) for n in names]
    units = Units.of(people["doc_id"].tolist(), people["system_id"].tolist())
    return table_of("grade", units, people[experts].to_numpy(float), verdicts, judges, experts)


def table_of(
    kind: Kind,
    units: Units,
    labels: Floats,
    verdicts: Floats,
    judges: Sequence[JudgeFacts] = (),
    raters: Sequence[str] = (),
    **more: Any,
) -> JudgmentTable:
    """Every judge was asked about every unit.

    Args:
        labels: [units, raters].
        verdicts: [judges, units, orders]; [judges, units] where there is one order.
    """
    verdicts = verdicts if verdicts.ndim == 3 else verdicts[:, :, None]
    single = kind != "preference"
    numbered = [JudgeFacts(f"judge {k}", pointwise=single) for k in range(len(verdicts))]
    return JudgmentTable(
        kind,
        units,
        tuple(raters) or tuple(f"rater {k}" for k in range(labels.shape[1])),
        labels,
        tuple(judges or numbered),
        verdicts,
        np.ones(verdicts.shape, np.bool_),
        **more,
    )


def made_pairs(
    items: int = 200,
    accuracies: tuple[float, ...] = (0.9, 0.5),
    *,
    first: float = 0.0,
    seed: int = 0,
    labelled: int | None = None,
) -> JudgmentTable:
    """Judges that are right with these probabilities; independent items, one rater.

    Args:
        first: probability with which a judge takes the text shown first, whatever it is.
        labelled: of the first so many items; None: all.
    """
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, items).astype(float)
    right = rng.random((len(accuracies), items, 2)) < np.array(accuracies)[:, None, None]
    verdicts = np.where(right, label[:, None], 1 - label[:, None])
    shown_first = np.broadcast_to(np.array([1.0, 0.0]), verdicts.shape)
    verdicts = np.where(rng.random(verdicts.shape) < first, shown_first, verdicts)
    known = np.arange(items) < (items if labelled is None else labelled)
    names = [f"item {k}" for k in range(items)]
    words = rng.integers(20, 90, (items, 2)).astype(np.float64)
    units = Units.of(names, ["a"] * items, ["b"] * items, words=words)
    labels = np.where(known, label, np.nan)[:, None]
    return table_of("preference", units, labels, verdicts, raters=("rater",))


def made_raters(
    items: int = 120,
    people: tuple[float, ...] = (0.85, 0.8, 0.75),
    judges: tuple[float, ...] = (0.95, 0.5),
    seed: int = 0,
) -> JudgmentTable:
    """Several people and judges that are right with these probabilities, each on its own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items).astype(float)

    def said(accuracies: tuple[float, ...]) -> np.ndarray:
        right = rng.random((len(accuracies), items)) < np.array(accuracies)[:, None]
        return np.where(right, truth, 1 - truth)

    labels, verdicts = said(people).T, np.stack([said(judges)] * 2, axis=2)
    names = [f"item {k}" for k in range(items)]
    units = Units.of(names, ["a"] * items, ["b"] * items)
    return table_of("preference", units, labels, verdicts)


def made_classes(
    counts: Sequence[Sequence[int]],
    levels: tuple[str, ...] = ("fail", "pass"),
    positive: str = "pass",
    unlabelled: Sequence[int] = (),
) -> JudgmentTable:
    """One rater and one judge, by how often which class meets which.

    Args:
        counts: [levels of people][levels of the judge] texts.
        unlabelled: [levels of the judge] texts without a label.
    """
    both = [(k, j) for k, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    label = [float(k) for k, _ in both] + [np.nan] * sum(unlabelled)
    said = [float(j) for _, j in both]
    said += [float(j) for j, n in enumerate(unlabelled) for _ in range(n)]
    names = [f"item {k}" for k in range(len(label))]
    units = Units.of(names, [""] * len(names))
    labels, judge = np.array(label)[:, None], (JudgeFacts("judge", pointwise=True),)
    more: Any = {"levels": levels, "positive": positive}
    return table_of("category", units, labels, np.array(said)[None], judge, ("rater",), **more)


def made_grades(
    items: int = 60,
    systems: int = 3,
    noise: tuple[float, ...] = (0.5, 3.0),
    *,
    people: int = 2,
    apart: float = 0.7,
    seed: int = 0,
) -> JudgmentTable:
    """Whole grades from 1 to 5 by people and judges, of systems of different quality.

    Args:
        noise: of each judge; people have .7.
        apart: how far systems lie from each other.
    """
    rng = np.random.default_rng(seed)
    merit = (
        3 + apart * (np.arange(systems) - (systems - 1) / 2) + rng.normal(0, 1, (items, systems))
    )
    true = merit.reshape(-1)

    def grades(sd: float) -> np.ndarray:
        return np.clip(np.round(true + rng.normal(0, sd, true.size)), 1, 5)

    labels = np.stack([grades(0.7) for _ in range(people)], axis=1)
    names = [f"item {k}" for k in range(items) for _ in range(systems)]
    units = Units.of(names, [f"system {k}" for k in range(systems)] * items)
    return table_of("grade", units, labels, np.stack([grades(sd) for sd in noise]))


def systems_in_turn(seed: int = 0, items: int = 600) -> JudgmentTable:
    """Five systems of different quality in rotation, one text an item, two raters.

    Judges: the system alone, a person, the truth, a constant, noise.
    """
    rng = np.random.default_rng(seed)
    system = np.arange(items) % 5
    truth = 1.5 + 0.75 * system + rng.normal(0, 0.8, items)

    def grade(sd: float = 0.8) -> Floats:
        return np.clip(np.round(truth + rng.normal(0, sd, items)), 1, 5)

    said = [system.astype(float), grade(), truth, np.full(items, 3.0), rng.normal(0, 1, items)]
    names = [f"item {k}" for k in range(items)]
    labels = np.stack([grade(), grade()], axis=1)
    units = Units.of(names, [f"system {k}" for k in system])
    return table_of("grade", units, labels, np.stack(said))


def categories(rng: np.random.Generator) -> JudgmentTable:
    """Three classes, up to three raters, unread replies, texts without a label."""
    levels, n = ("good", "meagre", "wrong"), 150
    truth = rng.choice(3, n, p=(0.6, 0.25, 0.15)).astype(float)

    def said(right: float) -> Floats:
        return np.where(rng.random(n) < right, truth, rng.integers(0, 3, n)).astype(float)

    labels = np.stack([said(0.85) for _ in range(3)], axis=1)
    labels[rng.random((n, 3)) < 0.3] = np.nan
    verdicts = np.stack([said(right) for right in (0.9, 0.5, 0.0)])[:, :, None]
    verdicts[rng.random(verdicts.shape) < 0.02] = np.nan
    names = [f"item {k}" for k in range(n)]
    units = Units.of(names, [f"system {k % 2}" for k in range(n)])
    return table_of("category", units, labels, verdicts, levels=levels, positive="good")


def two_classes(rng: np.random.Generator) -> JudgmentTable:
    """One judge, one rater who labelled a part."""
    counts = rng.multinomial(100, (0.2, 0.1, 0.05, 0.65)).reshape(2, 2).tolist()
    return made_classes(counts, ("wrong", "good"), "good", unlabelled=(10, 40))


def pairs(rng: np.random.Generator) -> JudgmentTable:
    """Two raters who tie now and then, judges that tie and prefer the first, lengths."""
    seed = int(rng.integers(1 << 30))
    table = made_pairs(90, (0.9, 0.6, 0.8), first=0.1, seed=seed)
    people = made_raters(90, (0.9, 0.8), seed=seed)
    labels = np.where(rng.random((90, 2)) < 0.15, 0.5, people.labels)
    labels[rng.random(labels.shape) < 0.1] = np.nan
    verdicts = np.where(rng.random(table.verdicts.shape) < 0.1, 0.5, table.verdicts)
    verdicts[rng.random(verdicts.shape) < 0.01] = np.nan
    side = np.where(
        np.arange(90)[:, None] % 3 > 0, ["system 0", "system 1"], ["system 1", "system 0"]
    )
    first, second = side.astype(object).T
    units, raters = replace(table.units, first=first, second=second), ("rater 0", "rater 1")
    return replace(table, units=units, raters=raters, labels=labels, verdicts=verdicts)


def grades(rng: np.random.Generator) -> JudgmentTable:
    """Three systems an item, three raters who share items in part."""
    table = made_grades(40, 3, (0.5, 2.0), people=3, seed=int(rng.integers(1 << 30)))
    table.labels[rng.random(table.labels.shape) < 0.2] = np.nan
    return table


def single_grades(rng: np.random.Generator) -> JudgmentTable:
    """One text an item, of four systems."""
    table = made_grades(60, 4, (0.5, 2.0), people=2, seed=int(rng.integers(1 << 30)))
    return table.at(np.arange(60) * 4 + np.arange(60) % 4)


KINDS: Mapping[str, Callable[[np.random.Generator], JudgmentTable]] = {
    f.__name__: f for f in (categories, two_classes, pairs, grades, single_grades)
}


def shuffled(table: JudgmentTable, rng: np.random.Generator) -> JudgmentTable:
    """Rows, judges, raters and categories in another order."""
    table = table.at(rng.permutation(len(table.units)))
    table = table.of(rng.permutation(table.names).tolist())
    raters, levels = rng.permutation(len(table.raters)), rng.permutation(len(table.levels))
    place = np.argsort(levels).astype(float)

    def moved(values: Floats) -> Floats:
        if table.kind != "category":
            return values
        return np.where(np.isnan(values), np.nan, place[np.nan_to_num(values).astype(int)])

    return replace(
        table,
        raters=tuple(table.raters[k] for k in raters),
        labels=moved(table.labels[:, raters]),
        levels=tuple(table.levels[k] for k in levels),
        verdicts=moved(table.verdicts),
        again=moved(table.again),
    )


def renamed(table: JudgmentTable, rng: np.random.Generator) -> tuple[JudgmentTable, dict[str, str]]:
    """Everything has another name, which sorts otherwise; and new name -> old name."""
    units = table.units
    columns = (units.item, units.first, units.second, table.raters, table.names, table.levels)
    old = sorted({str(name) for column in columns for name in column} - {""})
    new = [f"q{number}q" for number in rng.permutation(10 * len(old))[: len(old)] + 10_000]
    to = dict(zip(old, new, strict=True)) | {"": ""}

    def named(column: Any) -> Any:
        made = np.empty(len(column), dtype=object)
        made[:] = [to[str(name)] for name in column]
        return made

    keys = ("item", "first", "second", "cluster")
    table = replace(
        table,
        units=replace(units, **{key: named(getattr(units, key)) for key in keys}),
        raters=tuple(to[name] for name in table.raters),
        judges=tuple(replace(one, name=to[one.name]) for one in table.judges),
        levels=tuple(to[name] for name in table.levels),
        positive=to[table.positive],
    )
    return table, {name: key for key, name in to.items() if name}


def swapped(table: JudgmentTable, chosen: Any) -> JudgmentTable:
    """These pairs stored the other way round."""
    units, at = table.units, np.asarray(chosen)
    first, second = np.where(at, (units.second, units.first), (units.first, units.second))
    words = np.where(at[:, None], units.words[:, ::-1], units.words)
    return replace(
        table,
        units=replace(units, first=first, second=second, words=words),
        labels=np.where(at[:, None], 1 - table.labels, table.labels),
        verdicts=np.where(at[:, None], 1 - table.verdicts[:, :, ::-1], table.verdicts),
        asked=np.where(at[:, None], table.asked[:, :, ::-1], table.asked),
        again=np.where(at[:, None, None], 1 - table.again[:, :, ::-1], table.again),
    )


def doubled(table: JudgmentTable) -> JudgmentTable:
    """Every item is there twice, as two clusters."""
    n = len(table.units)
    twice, again = np.tile(np.arange(n), 2), np.repeat(["", " again"], n).astype(object)
    units = table.units.at(twice)
    return replace(
        table,
        units=replace(units, item=units.item + again, cluster=units.cluster + again),
        labels=table.labels[twice],
        verdicts=table.verdicts[:, twice],
        asked=table.asked[:, twice],
        again=table.again[:, twice],
    )


def audit_context(panel: Panel, folder: Path, seed: int = 0, **given: Any) -> Context:
    """A run on a panel that is there already, which asks no LM unless one is given."""
    return Context(
        **{
            "dataset": Given(panel),
            "agents": Recorded(),
            "synopsis": RecordedSynopsis(),
            "evaluation_lm": Compression(),
            "preprocessor": Identity(),
            "attack": NoAttack(),
            "mechanism": RecordedScores(),
            "study": None,  # the caller runs its own
            "run_dir": RunDir(folder),
            "seed": seed,
            "limit": None,
            **given,
        }
    )


def audited(table: JudgmentTable, **settings: Any) -> Result:
    """What study=audit says of a table; settings are of the study, or else of its rules."""
    ours = {key: settings.pop(key) for key in list(settings) if key in AUDIT}
    none: Any = None
    study = Audit(manipulation=none, rules=Bars(**settings), **ours)
    with TemporaryDirectory() as folder:
        panel = Panel((), (Agent("a"),), judgments=table)
        return study.run(audit_context(panel, Path(folder)))


def rows(result: Result, name: str) -> list[Row]:
    """Of one of its tables; none where it has none."""
    return [row for table in result.tables if table.name == name for row in table.rows]


@dataclass(frozen=True)
class Given:
    """A dataset that is there already."""

    panel: Panel

    def load(self, limit: int | None = None) -> Panel:
        return self.panel.head(limit)
