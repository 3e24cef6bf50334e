"""A panel measured and scored, and the long tables of it from which all else can be redone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from judgelab.calls.log import CallLog, LoggedLM
from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import GIVE_REFERENCES, Panel
from judgelab.core.result import Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of, reply_records
from judgelab.mechanism.protocol import Definition
from judgelab.mechanism.texts import judged_pairs
from judgelab.stats.intervals.arrays import Floats

SCORES = "records/clean_scores.parquet"
"""What ``score_panels`` makes of the scores of the clean panel."""


@dataclass(frozen=True)
class ScoredPanel:
    """The clean panel, or the attacked one, and the mechanism's scores of its texts."""

    panel: Panel
    measurements: xr.Dataset
    scores: Scores

    @property
    def values(self) -> Floats:
        """[items, agents] scores, NaN where unscored."""
        return np.asarray(self.scores.agent.values, dtype=np.float64)

    @property
    def candidates(self) -> list[int]:
        """Columns of the agents that are not references."""
        return [k for k, agent in enumerate(self.panel.agents) if not agent.reference]

    @property
    def origin(self) -> dict[str, object]:
        """How panel and measurements were made, for the provenance of a result."""
        return origin_of(self.panel, self.measurements.attrs)


PEOPLE = "people"  # the one rater of grades that come without names

Panels = Mapping[str, ScoredPanel]


def score_panels(
    context: Context, panels: Mapping[str, Panel], definition: Definition
) -> dict[str, ScoredPanel]:
    """Measure and score each panel, and write its records.

    Raises:
        DataError: no text of any panel has a score; records and replies are kept.
    """
    states, logs = dict[str, ScoredPanel](), list[CallLog]()
    for name, panel in panels.items():
        lm = LoggedLM(context.evaluation_lm, texts=True)
        measurements = replace(context, evaluation_lm=lm).measure(panel)
        scores = context.score(measurements, definition)
        states[name] = ScoredPanel(panel, measurements, scores)
        logs.append(lm.log)
        write_replies(context, panel, {context.mechanism.name: lm.log}, name)
        write_records(context, panel, measurements, scores, name=name)
    texts = sum(t is not None for panel in panels.values() for row in panel.texts for t in row)
    if texts and all(np.isnan(one.values).all() for one in states.values()):
        unscored, calls = sum(len(log.unscored) for log in logs), sum(log.calls for log in logs)
        cause = (
            f": {unscored:,} of {calls:,} calls failed or had a reply that could not be read "
            "(records/clean_reply_texts.parquet). Mend the cause, then ask again with "
            "retry=unscored."
            if unscored
            else ". If it compares an item's texts, no item has two texts to compare; if it needs "
            f"references, {GIVE_REFERENCES}; or choose another mechanism."
        )
        raise DataError(f"{context.mechanism.name} scored none of {texts:,} texts{cause}")
    return states


def human_scores(panel: Panel) -> Floats:
    """[items, agents] people's scores, NaN without one."""
    names = [agent.name for agent in panel.agents]
    human = [[item.human.get(name, np.nan) for name in names] for item in panel.items]
    return np.array(human, dtype=np.float64).reshape(len(panel.items), len(names))


def write_records(
    context: Context,
    panel: Panel,
    measurements: xr.Dataset,
    scores: Scores | None = None,
    *,
    name: str = "clean",
) -> None:
    """Keep a panel's measurements, texts and scores in the run's folder, before anything that
    could fail on odd numbers."""
    tables = {"measurements": measurement_records(measurements), "texts": text_records(panel)}
    if name == "clean":
        write_sources(context, panel)
        tables["labels"] = label_records(panel)
    if scores is not None:
        tables["scores"] = score_records(panel, scores)
    for kind, table in tables.items():
        context.run_dir.write_table(f"records/{name}_{kind}.parquet", table)


def write_sources(context: Context, panel: Panel) -> None:
    """Keep what the texts are about. Trackers do not get this."""
    rows = [{"item": one.id, "source": one.source, "reference": one.reference}
            for one in panel.items]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "source", "reference"]).astype("string")
    context.run_dir.write_table("records/source_texts.parquet", table)


def write_replies(
    context: Context, panel: Panel, logs: Mapping[str, CallLog], name: str = "clean"
) -> None:
    """Keep what each judge replied, where one did; a reply quotes texts: trackers do not get it."""
    file = f"records/{name}_reply_texts.parquet"
    (context.run_dir.path / file).unlink(missing_ok=True)  # of an earlier execution
    agents = [agent.name for agent in panel.agents]
    replies = [reply_records(log, judge, agents) for judge, log in logs.items()]
    if any(len(one) for one in replies):
        context.run_dir.write_table(file, pd.concat(replies, ignore_index=True))


def measurement_records(data: xr.Dataset) -> pd.DataFrame:
    """One row per item, agent (and peer, and draw), one column per measured quantity, repeated
    along the dimensions on which it does not depend. Diagonal rows (agent = peer) are left out."""
    data_dims = {str(dim) for variable in data.data_vars.values() for dim in variable.dims}
    dims = [dim for dim in ("item", "agent", "peer", "metric", "draw") if dim in data_dims]
    table = data.drop_dims(set(data.sizes) - data_dims).to_dataframe(dim_order=dims).reset_index()
    if "peer" in table and data.sizes["agent"] > 1:
        table = table[table["agent"] != table["peer"]]
    return table.drop(columns="reference", errors="ignore").reset_index(drop=True)


def score_records(panel: Panel, scores: Scores) -> pd.DataFrame:
    """One row per item and agent: category, score (NaN: unscored) and human score."""
    rows = [
        {
            "item": item.id,
            "agent": agent.name,
            "category": agent.category,
            "reference": agent.reference,
            "score": float(value),
            "human": item.human.get(agent.name),
        }
        for item, values in zip(panel.items, scores.agent.values, strict=True)
        for agent, value in zip(panel.agents, values, strict=True)
    ]
    return pd.DataFrame(rows)


def judgment_records(data: JudgmentTable) -> pd.DataFrame:
    """One row for each judgment: item, first, second, who, order, value, and whose it is.

    Columns where there are any: ``category`` (its name), ``run`` (0 of the verdict, 1 of the next
    time a judge was asked, ...), strata, clusters of several items, and turns.
    """
    own = data.units
    columns = {"item": own.item, "first": own.first, "second": own.second}
    more = {
        "cluster": (own.cluster != own.item).any(),
        "stratum": (own.stratum != "").any(),
        "turn": not np.isnan(own.turn).all(),
    }
    columns |= {name: getattr(own, name) for name, has_any in more.items() if has_any}
    labels, again = data.labels.T[:, None, None], data.again.transpose(0, 2, 3, 1)
    verdicts, asked = (x.transpose(0, 2, 1)[:, :, None] for x in (data.verdicts, data.asked))
    frames = []
    for role, names, values, there, run in (  # [who, order, run, unit]
        ("rater", data.raters, labels, ~np.isnan(labels), 0),
        ("judge", data.names, verdicts, asked, 0),
        ("judge", data.names, again, ~np.isnan(again), 1),
    ):
        who, order, k, unit = np.nonzero(there)
        frame = pd.DataFrame({name: column[unit] for name, column in columns.items()})
        frame["by"], frame["role"] = np.array(names, object)[who], role
        frame["order"], frame["run"], frame["value"] = order, run + k, values[there]
        frames.append(frame)
    table = pd.concat([one for one in frames if len(one)] or frames[:1], ignore_index=True)
    if not again.size:
        del table["run"]
    if data.kind == "category":
        table["category"] = table["value"].map(dict(enumerate(data.levels)))
    return table


def label_records(panel: Panel) -> pd.DataFrame:
    """One row per grade of a person: item, agent, rater, value. Preferences as shares of wins."""
    judgments = panel.judgments
    if judgments is not None and judgments.kind == "grade" and judgments.raters:
        rows = judgment_records(judgments)
        rows = rows[rows["role"] == "rater"].rename(columns={"first": "agent", "by": "rater"})
        return rows[["item", "agent", "rater", "value"]].reset_index(drop=True)
    grades = [
        (item.id, agent, PEOPLE, value)
        for item in panel.items
        for agent, value in item.human.items()
    ]
    return pd.DataFrame(grades, columns=["item", "agent", "rater", "value"])


def text_records(panel: Panel) -> pd.DataFrame:
    """One row per item and agent: the text as the mechanism saw it. Trackers do not get this."""
    rows = [
        {"item": item.id, "agent": agent.name, "text": text}
        for item, texts in zip(panel.items, panel.texts, strict=True)
        for agent, text in zip(panel.agents, texts, strict=True)
    ]
    return pd.DataFrame(rows)


def _lacking(state: ScoredPanel) -> tuple[int, int] | None:
    """Pairs of texts with a verdict in one of their two orders, and pairs with nothing; None for a
    mechanism that holds no text against another."""
    if not any("peer" in values.dims for values in state.measurements.data_vars.values()):
        return None
    there = np.array([[t is not None for t in row] for row in state.panel.texts], dtype=np.bool_)
    both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)
    scores, upper = state.scores, np.triu(both)
    if "verdict" in state.measurements:
        has_verdict = ~np.isnan(state.measurements["verdict"].values)
        orders = has_verdict.astype(int) + np.swapaxes(has_verdict, 1, 2)
        return int((upper & (orders == 1)).sum()), int((upper & (orders == 0)).sum())
    if scores.directed is not None:
        to_judge = judged_pairs(state.panel) & both
        return 0, int((to_judge & np.isnan(scores.directed.values)).sum())
    return 0, 0 if scores.pair is None else int((upper & np.isnan(scores.pair.values)).sum())


def pair_entries(panels: Panels) -> dict[str, Value]:
    """``<panel>/one_order_pairs`` and ``<panel>/dropped_pairs`` of a summary."""
    return {
        f"{name}/{key}": count
        for name, one in panels.items()
        if (lacking := _lacking(one)) is not None
        for key, count in zip(("one_order_pairs", "dropped_pairs"), lacking, strict=True)
    }


def missing_pairs(panels: Panels) -> Iterator[str]:
    """A sentence for each panel of which pairs lack something."""
    for name, one in panels.items():
        one_order, dropped = _lacking(one) or (0, 0)
        if one_order or dropped:
            yield (
                f"On the {name} panel {one_order:,} pairs of texts count by one order and "
                f"{dropped:,} are left out, as verdicts or scores of them are missing."
            )
