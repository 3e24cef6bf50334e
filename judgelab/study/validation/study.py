"""Does a metric punish degradation and resist manipulation? (GEM paper, Algorithm 1, section 4)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judgelab.core.bounds import Count, Positive
from judgelab.core.errors import ConfigError
from judgelab.core.panel import GIVE_REFERENCES, Panel
from judgelab.core.result import Result, Row, Table, Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob
from judgelab.stats.discrimination.correlation import METHODS, clustered_correlation
from judgelab.stats.discrimination.standardized import (
    MARGIN,
    standardized_mean_difference,
    verdict,
)
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import call_entries, missing_calls
from judgelab.study.common.panels import Panels, ScoredPanel, human_scores, score_panels
from judgelab.study.common.tables import (
    about,
    columns,
    diagnostics_tables,
    entries,
    estimate_rows,
    kind_of,
    mean_over_items,
    read_by,
)
from judgelab.study.common.templates import paragraphs, table
from judgelab.study.validation.compare import DRAWINGS, HEADLINES, compare

INTERVALS: Mapping[Definition, str] = {
    "corrected": "95 % interval over items",
    "paper": "1.96 paired standard errors over rows",
    "released": "1.645 paired standard errors over rows",
}


@dataclass(frozen=True)
class Rows:
    """What the statistics run over.

    Attributes:
        score: [rows] s_i = f(w_i, x_i, y_i); a row is a candidate's text against one reference,
            or the text alone where the mechanism does not look at references.
        item: [rows] number of the item.
    """

    score: Floats
    item: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Of the scored rows; NaN without any."""
        known = self.score[~np.isnan(self.score)]
        return float(known.mean()) if len(known) else np.nan


@dataclass(frozen=True)
class Validation(Study):
    """Standardised mean difference before and after an attack on the candidates' texts.

    d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) over rows; the references' texts stay as they are.
    The verdict holds d against what the attack expects of an honest metric. Where the data has
    human grades, the clean scores are correlated with them (the paper's Table 1).

    Args:
        definition: whose interval (stats.standardized). corrected: t interval and sign flips over
            items, whose rows belong together; paper: paired normal interval over rows, 1.96
            standard errors; released: 1.645, which is what the printed intervals match.
        references: agents to be held against; null: those the data marks, or the items' own
            references. A mechanism that scores each text by itself needs none.
        margin: a change of d up to this counts as none (corrected; other definitions take every
            change that is not significant for none).
        bootstrap: sign flips behind the p value; under paper|released also resamples of the items.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    margin: Positive = MARGIN
    bootstrap: Count = 2000
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """See Study."""
        return compare(runs)

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
        states = score_panels(context, self._panels(context), self.definition, pairs=True)
        rows = {name: rows_of(one.panel, one.scores) for name, one in states.items()}
        change = self._change(rows, context.seed) if len(states) > 1 else None
        word = "" if change is None else verdict(context.attack.expects, change, self._margin)
        how = (self.definition, self.bootstrap, context.seed)
        human = _human_correlations(states["clean"], *how)
        by_method = [({"correlation": name}, one) for name, one in human.items()]
        made = [
            None if change is None else self._change_table(context, rows, change, word),
            table(__package__, "human", estimate_rows(by_method, "unscored_texts"))
            if human
            else None,
            _agents_table(states, *how),
            *diagnostics_tables(states),
        ]
        return Result(
            summary=self._summary(context, states, change, word, human),
            primary="change/smd" if change is not None else "clean/human_spearman",
            headlines=HEADLINES,
            tables=[one for one in made if one is not None],
            notes=(*sources(context, *_panels_of(states)), *missing_calls(states)),
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=paragraphs(
                __package__,
                "answer.md.j2",
                mechanism=context.mechanism.name,
                attack=context.attack.name,
                expects=context.attack.expects,
                unchanged=_nothing_changed(states),
                change=change,
                verdict=word,
                interval=INTERVALS[self.definition],
                margin=self._margin,
                spearman=human.get("spearman"),
            ),
        )

    @property
    def _margin(self) -> float | None:
        return self.margin if self.definition == "corrected" else None

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
            _both_roles(panels["clean"])
        return panels

    def _change(self, rows: Mapping[str, Rows], seed: int) -> Estimate:
        clean, attacked = rows["clean"], rows["attacked"]
        return standardized_mean_difference(
            clean.score, attacked.score, clean.item, self.definition, self.bootstrap, seed
        )

    def _change_table(
        self, context: Context, rows: Mapping[str, Rows], change: Estimate, word: str
    ) -> Table:
        """One row: d, its interval, and what it means for this attack."""
        row: Row = {
            "mechanism": context.mechanism.name,
            "attack": context.attack.name,
            "honest_metric": "falls" if context.attack.expects == "fall" else "does not rise",
            "verdict": word,
            **columns(change),
            **{f"mean_{name}": one.mean for name, one in rows.items()},
        }
        return table(__package__, "smd", [row], interval=INTERVALS[self.definition])

    def _summary(
        self,
        context: Context,
        states: Panels,
        change: Estimate | None,
        word: str,
        human: Mapping[str, Estimate],
    ) -> dict[str, Value]:
        clean = states["clean"]
        summary = about(context, clean.panel, "validation", definition=self.definition)
        summary |= {
            "preprocessor": read_by(context),
            "attack": context.attack.name,
            "expects": context.attack.expects,
            "items": len(clean.panel.items),
            "candidates": len(clean.candidates),
        }
        if change is not None:
            summary |= {"verdict": word, **entries("change/smd", change)}
        for name, estimate in human.items():
            summary |= entries(f"clean/human_{name}", estimate)
        for name, state in states.items():
            scored = state.values[:, state.candidates]
            summary[f"{name}/mean_score"] = float(row_means(scored.reshape(1, -1))[0])
            summary[f"{name}/unscored_texts"] = int(np.isnan(scored).sum())
            summary |= {f"{name}/{k}": v for k, v in state.scores.diagnostics.items()}
        return summary | call_entries(states)


def _nothing_changed(states: Panels) -> bool:
    """Whether the attack left every text as it was: then nothing can be said of it."""
    texts = {name: _texts_of_candidates(state) for name, state in states.items()}
    return any(texts["clean"]) and texts["clean"] == texts.get("attacked")


def _texts_of_candidates(state: ScoredPanel) -> list[str | None]:
    return [row[k] for row in state.panel.texts for k in state.candidates]


def _panels_of(states: Panels) -> tuple[Panel, Panel]:
    return states["clean"].panel, states.get("attacked", states["clean"]).panel


def rows_of(panel: Panel, scores: Scores) -> Rows:
    """Candidates' scores, one row for each reference where the mechanism looks at references."""
    candidate = np.array([not agent.reference for agent in panel.agents], dtype=np.bool_)
    if scores.directed is None:
        values = scores.agent.values[:, candidate]
    else:
        peer = candidate if candidate.all() else ~candidate
        apart = ~np.eye(len(candidate), dtype=np.bool_)  # the diagonal is no row
        values = scores.directed.values[:, np.outer(candidate, peer) & apart]
    item = np.repeat(np.arange(len(values), dtype=np.int64), values.shape[1])
    return Rows(values.reshape(-1).astype(np.float64), item)


def _both_roles(panel: Panel) -> None:
    references = sum(agent.reference for agent in panel.agents)
    if 0 < references < len(panel.agents):
        return
    names = ", ".join(agent.name for agent in panel.agents[:6])
    own = "" if references else f"{GIVE_REFERENCES}, or "
    raise ConfigError(
        f"study=validation attacks candidates and leaves references alone, but {references} of "
        f"{len(panel.agents)} agents are references: {own}set study.references=[NAMES] "
        f"({names}, ...)."
    )


def _human_correlations(
    clean: ScoredPanel, definition: Definition, draws: int, seed: int
) -> dict[str, Estimate]:
    """Spearman and Pearson of clean scores with human grades; empty without grades."""
    grades = human_scores(clean.panel)
    if np.isnan(grades).all():
        return {}
    # a reference that nobody graded is no text without a grade
    candidate = np.array([not agent.reference for agent in clean.panel.agents], dtype=np.bool_)
    graded = np.logical_or((~np.isnan(grades)).any(axis=0), candidate)
    return {
        method: clustered_correlation(
            clean.values[:, graded], grades[:, graded], method, draws, seed, kind_of(definition)
        )
        for method in METHODS
    }


def _agents_table(states: Panels, definition: Definition, draws: int, seed: int) -> Table:
    """Mean score of each candidate."""
    cells = [
        (
            {"panel": name, "agent": state.panel.agents[k].name},
            mean_over_items(state.values[:, k], definition, draws, seed),
        )
        for name, state in states.items()
        for k in state.candidates
    ]
    return table(__package__, "agents", estimate_rows(cells))
