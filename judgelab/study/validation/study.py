"""Does a metric punish degradation and resist manipulation? (GEM paper, Algorithm 1, section 4)

Several runs compare metrics by attacks (the paper's Tables 2 to 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count, Positive
from judgelab.core.errors import ConfigError, some
from judgelab.core.panel import GIVE_REFERENCES, Panel
from judgelab.core.result import Headline, Result, Row, Table, Value, read_estimate
from judgelab.core.scores import Scores
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report import format, style
from judgelab.report.format import Column, column, records
from judgelab.report.jobs import Comparison, SweepJob, axes, marked, scorer, variant
from judgelab.report.style import Drawn, Mark, Tables
from judgelab.stats.discrimination.correlation import METHODS, clustered_correlation
from judgelab.stats.discrimination.effect_size import (
    MARGIN,
    standardized_mean_difference,
    verdict,
)
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.panels import (
    Panels,
    ScoredPanel,
    human_scores,
    missing_pairs,
    pair_entries,
    score_panels,
)
from judgelab.study.common.sweeps import comparison, prompt_effects
from judgelab.study.common.tables import (
    about,
    columns,
    entries,
    estimate_rows,
    kind_of,
    read_by,
)
from judgelab.study.common.templates import caption, paragraphs, table

INTERVALS: Mapping[Definition, str] = {
    "corrected": "95 % interval over items",
    "paper": "1.96 paired standard errors over rows",
    "released": "1.645 paired standard errors over rows",
}
HEADLINES = (
    Headline("clean/human_spearman", "Rank correlation with people's scores", 0.0, people=True),
    Headline("clean/human_pearson", "Correlation with people's scores", 0.0),
)
HONEST = ("falls", "does not rise")
"""Verdicts on a metric that does what an honest one does under an attack."""
SMD = "change/smd"
PARTS = ("value", "low", "high", "p", "n", "unscored")
AS_HONEST, OTHERWISE = Mark(style.HUES[0]), Mark(style.HUES[1], "D", hollow=True)
MARKS = {"undecided": Mark(style.MUTED, "s", hollow=True)} | dict.fromkeys(HONEST, AS_HONEST)


def attacks(tables: Tables) -> Drawn:
    """One panel for each attack, one row for each metric."""
    cells = tables["metrics_by_attacks"]
    names, metrics = (list(dict.fromkeys(cells[key])) for key in ("attack", "metric"))
    figure, axes = style.multiples(names, 0.3, 0.9 + 0.26 * len(metrics), sharey=True)
    for side, (attack, part) in zip(axes.flat, cells.groupby("attack", sort=False), strict=False):
        heights = dict(zip(metrics, style.name_rows(side, metrics, 34), strict=True))
        for row in records(part):
            style.interval(side, heights[row["metric"]], row, MARKS.get(row["verdict"], OTHERWISE))
        style.reference_line(side, 0)
        expectation = "should fall" if part["expects"].iloc[0] == "fall" else "should not rise"
        side.set_title(f"{format.words(str(attack))}\n{expectation}", fontsize=9)
        side.set_xlabel("d, attacked minus clean")
    marks = {
        "as an honest metric does": AS_HONEST,
        "not": OTHERWISE,
        "undecided": MARKS["undecided"],
    }
    style.legend(figure, [style.key(mark, name) for name, mark in marks.items()])
    return caption(__package__, "attacks", figure, cells, "rows")


@dataclass(frozen=True)
class Validation(Study):
    """Standardised mean difference before and after an attack on the candidates' texts.

    d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) over rows; the references' texts stay as they are.
    The verdict holds d against what the attack expects of an honest metric. Where the data has
    human grades, the clean scores are correlated with them (the paper's Table 1).

    Args:
        definition: whose interval (stats.effect_size). corrected: t interval and sign flips over
            items, whose rows belong together; paper: paired normal interval over rows, 1.96
            standard errors; released: 1.645, which is what the printed intervals match.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    margin: Positive = MARGIN
    bootstrap: Count = 2000
    drawings: ClassVar[Mapping[str, Any]] = {"metrics_by_attacks": attacks}

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """Metrics by attacks; nothing where no run validated a metric under an attack."""
        varying = axes(runs)
        names = [key for key in varying if key.partition(".")[0] != "attack" and key != "study"]
        rows = [
            {
                "metric": scorer(job, names, own),
                "attack": variant(job, str(job.summary["attack"]), varying),
                "expects": job.summary.get("expects"),
                **{part: d for part, d in read_estimate(job.summary, SMD).items() if part in PARTS},
                "verdict": job.summary.get("verdict"),
            }
            for job, own in zip(runs, marked(runs), strict=True)
            if SMD in job.summary
        ]
        prompts = prompt_effects(runs)
        if not rows:
            return prompts
        verdicts = [row["verdict"] for row in rows]
        answer = paragraphs(__package__, "sweep.md.j2", verdicts=verdicts, honest=HONEST)
        wide, figures = _by_attacks(rows), ["metrics_by_attacks"]
        result = comparison(__package__, "metrics_by_attacks", rows, wide, figures)
        return [replace(result, answer=answer), *prompts]

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in self._panels(context).values():
            context.measure(panel)

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked candidates, and compare.

        Raises:
            ConfigError: under an attack, there is no candidate, or no reference to hold texts
                against.
        """
        states = score_panels(context, self._panels(context), self.definition)
        clean, last = states["clean"], states.get("attacked", states["clean"])
        attack, expects = context.attack.name, context.attack.expects
        how = self.definition, self.bootstrap, context.seed
        margin = self.margin if self.definition == "corrected" else None
        summary = about(context, clean.panel, "validation", definition=self.definition) | {
            "preprocessor": read_by(context),
            "attack": attack,
            "expects": expects,
            "items": len(clean.panel.items),
            "candidates": len(clean.candidates),
        }
        tables, change, word = list[Table](), None, ""
        if last is not clean:
            (before, item), (after, _) = (rows_of(one.panel, one.scores) for one in (clean, last))
            change = standardized_mean_difference(before, after, item, *how)
            word = verdict(expects, change, margin)
            summary |= {"verdict": word, **entries(SMD, change)}
            tables.append(self._change_table(context, word, change, before, after))
        human = _human_correlations(clean, *how)
        if human:
            by_method = [({"correlation": name}, one) for name, one in human.items()]
            tables.append(table(__package__, "human", estimate_rows(by_method, "unscored_texts")))
        for name, estimate in human.items():
            summary |= entries(f"clean/human_{name}", estimate)
        return Result(
            summary=summary | _entries_of(states) | pair_entries(states),
            primary=SMD if change is not None else "clean/human_spearman",
            headlines=HEADLINES,
            tables=tables,
            notes=(*sources(context, clean.panel, last.panel), *missing_pairs(states)),
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=paragraphs(
                __package__,
                "answer.md.j2",
                mechanism=context.mechanism.name,
                attack=attack,
                expects=expects,
                unchanged=last is not clean and _same_texts(clean, last),
                change=change,
                verdict=word,
                interval=INTERVALS[self.definition],
                margin=margin,
                spearman=human.get("spearman"),
            ),
        )

    def _change_table(
        self, context: Context, word: str, change: Estimate, before: Floats, after: Floats
    ) -> Table:
        """One row: what the attack changes, and what an honest metric does."""
        row: Row = {
            "mechanism": context.mechanism.name,
            "attack": context.attack.name,
            "honest_metric": "falls" if context.attack.expects == "fall" else "does not rise",
            "verdict": word,
            **columns(change),
            "mean_clean": _mean(before),
            "mean_attacked": _mean(after),
        }
        return table(__package__, "smd", [row], interval=INTERVALS[self.definition])

    def _panels(self, context: Context) -> dict[str, Panel]:
        rule = getattr(context.attack, "definition", None)  # of attacks whose paper and code differ
        if self.definition == "released" and rule not in (None, "released"):
            raise ConfigError(
                "study.definition=released is of texts that the released code cut, and "
                f"attack={context.attack.name} cuts them by attack.definition={rule}, which can "
                "turn the verdict around: add attack.definition=released, or leave "
                "study.definition out."
            )
        panels = context.panels(self.references, spare_references=True, item_references=True)
        if len(panels) > 1 and context.mechanism.subject != "text":
            agents = panels["clean"].agents
            references = sum(agent.reference for agent in agents)
            if references in (0, len(agents)):
                own = "" if references else f"{GIVE_REFERENCES}, or "
                raise ConfigError(
                    "study=validation attacks candidates and leaves references alone, but "
                    f"{references} of {len(agents)} agents are references: {own}set "
                    f"study.references=[NAMES] ({some([agent.name for agent in agents])})."
                )
        return panels


def _same_texts(clean: ScoredPanel, attacked: ScoredPanel) -> bool:
    """Whether the attack left every candidate's text as it was."""
    before, after = (
        [row[k] for row in one.panel.texts for k in one.candidates] for one in (clean, attacked)
    )
    return any(before) and before == after


def _entries_of(states: Panels) -> dict[str, Value]:
    """Of each panel: mean score, texts without one, and what the mechanism says of itself."""
    summary: dict[str, Value] = {}
    for name, state in states.items():
        values = state.values[:, state.candidates]
        summary[f"{name}/mean_score"] = _mean(values)
        summary[f"{name}/unscored_texts"] = int(np.isnan(values).sum())
        summary |= {f"{name}/{k}": v for k, v in state.scores.diagnostics.items()}
    return summary


def rows_of(panel: Panel, scores: Scores) -> tuple[Floats, NDArray[np.int64]]:
    """What the statistics run over: [rows] scores s_i = f(w_i, x_i, y_i), and number of the item.

    A row is a candidate's text against one reference, or the text alone where the mechanism does
    not look at references.
    """
    candidate = np.array([not agent.reference for agent in panel.agents], dtype=np.bool_)
    if scores.directed is None:
        values = scores.agent.values[:, candidate]
    else:
        peer = candidate if candidate.all() else ~candidate
        apart = ~np.eye(len(candidate), dtype=np.bool_)  # the diagonal is no row
        values = scores.directed.values[:, np.outer(candidate, peer) & apart]
    item = np.repeat(np.arange(len(values), dtype=np.int64), values.shape[1])
    return values.reshape(-1).astype(np.float64), item


def _human_correlations(
    clean: ScoredPanel, definition: Definition, draws: int, seed: int
) -> dict[str, Estimate]:
    """Spearman and Pearson of clean scores with human grades; empty without grades."""
    grades = human_scores(clean.panel)
    if np.isnan(grades).all():
        return {}
    # a reference that nobody graded is no text without a grade
    candidate = np.array([not agent.reference for agent in clean.panel.agents], dtype=np.bool_)
    with_grades = np.logical_or((~np.isnan(grades)).any(axis=0), candidate)
    return {
        method: clustered_correlation(
            clean.values[:, with_grades],
            grades[:, with_grades],
            method,
            draws,
            seed,
            kind_of(definition),
        )
        for method in METHODS
    }


def _mean(scores: Floats) -> float:
    """Of what is scored; NaN without any."""
    return float(row_means(scores.reshape(1, -1))[0])


def _by_attacks(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """Metrics down, attacks across."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    wide = [column("metric", metrics)]
    for attack in dict.fromkeys(row["attack"] for row in rows):
        here = {row["metric"]: row for row in rows if row["attack"] == attack}
        expects = next(iter(here.values()))["expects"]
        heading = f"{attack}\n({'should fall' if expects == 'fall' else 'should not rise'})"
        values = tuple(here[name]["value"] if name in here else None for name in metrics)
        cells = tuple(_verdict(here[name]) if name in here else format.NOTHING for name in metrics)
        wide.append(Column(attack, heading, True, cells, values))
    return wide


def _verdict(row: Mapping[str, Any]) -> str:
    gap = f", {row['unscored']} unscored" if row["unscored"] else ""
    return f"{format.estimate(row['value'], row['low'], row['high'])}\n{row['verdict']}{gap}"
