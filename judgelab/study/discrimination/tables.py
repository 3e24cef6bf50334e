"""The tables and notes of the discrimination study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS, trained
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.discrimination.structure import pair_information
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import by_agent, calls_of_each, missing_calls
from judgelab.study.common.groups import category, groups
from judgelab.study.common.panels import Panels, ScoredPanel, human_scores
from judgelab.study.common.plain import counted
from judgelab.study.common.tables import (
    INTERVALS,
    WITHOUT_P,
    columns,
    estimate_table,
    kind_of,
    mean_over_items,
)
from judgelab.study.discrimination.statistics import lengths, shared_by_pairs

Named = Mapping[str, Estimate]
Cells = list[tuple[Row, Estimate]]

WORDING = {
    "effect_size": "Effect size d (paired, over items)",
    "auc": "AUC, good-faith against problematic agents",
    "pair_auc": "AUC, good pairs against mixed pairs",
    "score": "Mean score",
    "attackers_score": "Mean score of the agents whose texts were attacked",
    "others_score": "Mean score of the other agents, whose texts are the same",
    "advantage": "Attackers' mean score less that of the others",
}
BESIDE = {
    "human_within": "Pairs of responses to one item that it orders as people do",
    "length_human_within": "The same by length alone: longer, or shorter where that does better",
    "human_within_gain": "Its agreement less that of length",
    "length_auc": "AUC of length alone: longer, or shorter where that does better",
    "auc_gain": "Its AUC less that of length",
}
SHAPE = {
    "u_overseer": "Information summed over ordered pairs of agents: the overseer's pay (eq. 2)",
    "effective_rank": "Effective rank: participation ratio of the agents' correlations over items",
    "compression_reference": "Characters of the sources for each character of the human references",
    "compression_response": "Characters of the sources for each character of the agents' texts",
}


def figures_table(figures: Mapping[str, Named], states: Panels, definition: Definition) -> Table:
    """One row per panel and statistic, with the calls that gave nothing where there are any."""
    missing = {name: calls.missing for name, calls in calls_of_each(states).items()}
    shown = any(missing.values())
    cells: Cells = [
        (
            {"panel": state, "statistic": name, "meaning": WORDING[name]}
            | ({"missing_calls": missing[state]} if shown else {}),
            estimate,
        )
        for state, group in figures.items()
        for name, estimate in group.items()
        if name in statistics_of(states)
    ]
    note = f"{INTERVALS[kind_of(definition)]}; n counts items, unscored the items left out."
    return estimate_table("discrimination", "Good faith against problematic agents", cells, note)


def statistics_of(states: Panels) -> list[str]:
    """Those that the mechanism can have: a score for each text knows no pairs."""
    paired = all(part.scores.pair is not None for part in states.values())
    return [name for name in WORDING if paired or name != "pair_auc"]


def change_table(change: Named, states: Panels, definition: Definition) -> Table:
    """Attacked minus clean, paired by item."""
    cells: Cells = [
        ({"statistic": name, "meaning": WORDING[name]}, found)
        for name, found in change.items()
        if name in statistics_of(states)
    ]
    note = f"Attacked minus clean on the same items; {INTERVALS[kind_of(definition)]}."
    return estimate_table("change", "What the attack changes", cells, note)


def agents_table(states: Panels, definition: Definition, draws: int, seed: int) -> Table:
    """Mean score of each agent, best first on the clean panel."""
    cells: Cells = []
    missing = by_agent(states)
    for state, part in states.items():
        group = groups(part.panel, definition)
        labels = np.where(group.good, "good faith", np.where(group.bad, "problematic", "other"))
        for column, agent in enumerate(part.panel.agents):
            head: Row = {
                "panel": state,
                "agent": agent.name,
                "category": category(agent, definition),
                "group": "reference" if agent.reference else str(labels[column]),
                **({"missing_calls": int(missing[state][column])} if missing else {}),
            }
            values = part.values[:, column]
            cells.append((head, mean_over_items(values, definition, draws, seed)))
    cells.sort(
        key=lambda cell: (cell[0]["panel"] != "clean", -np.nan_to_num(cell[1].value, nan=-np.inf))
    )
    note = "Higher is better; intervals over items."
    if missing:
        note += " Missing calls: those about a text of the agent that gave nothing."
    return estimate_table("agents", "Mean score of each agent", cells, note)


def correlation_table(states: Panels, definition: Definition, draws: int, seed: int) -> Table:
    """Spearman correlation of the score with what it should, and should not, follow."""
    cells: Cells = []
    for state, part in states.items():
        for name, other in _companions(part.panel):
            values = part.values
            kind = kind_of(definition)
            found = clustered_correlation(values, other, "spearman", draws, seed, kind)
            cells.append(({"panel": state, "with": name}, found))
    note = f"Spearman over all texts; {INTERVALS[kind_of(definition)]}; n counts items."
    return estimate_table(
        "correlations", "What the score goes along with", cells, note, "unscored_texts"
    )


def _companions(panel: Panel) -> Iterator[tuple[str, Floats]]:
    yield "length in words", lengths(panel)
    human = human_scores(panel)
    if not np.isnan(human).all():
        yield "human score", human


def coverage_table(states: Panels) -> Table:
    """How many texts and pairs were there and got a score."""
    rows: list[Row] = []
    for state, part in states.items():
        texts = [text for row in part.panel.texts for text in row]
        agent = part.values
        row: dict[str, Value] = {
            "panel": state,
            "items": agent.shape[0],
            "agents": agent.shape[1],
            "texts": sum(text is not None for text in texts),
            "absent_texts": sum(text is None for text in texts),
            "scored_texts": int((~np.isnan(agent)).sum()),
            "unscored_texts": int(np.isnan(agent).sum()),
        }
        if part.scores.pair is not None:
            # of a choice its verdicts: a pair's score is made of those of other pairs
            pair = part.measured.get("verdict", part.scores.pair).values
            off = ~np.eye(pair.shape[1], dtype=bool)
            row["scored_pairs"] = int((~np.isnan(pair[:, off])).sum())
            row["unscored_pairs"] = int(np.isnan(pair[:, off]).sum())
        rows.append(row)
    note = "Unscored is left out, never counted as 0. Scored pairs count either order by itself."
    return Table("coverage", "What was scored", rows, note)


def beside_table(found: Named) -> Table:
    """What people say, and what length alone tells: one row for each."""
    cells: Cells = [
        ({"statistic": name, "meaning": BESIDE[name]}, one) for name, one in found.items()
    ]
    note = (
        "On the clean panel; 0.5 is chance. A mechanism that is no better than length has not been "
        "shown to read anything. n counts items."
    )
    return estimate_table("beside", "Beside people, and beside length alone", cells, note)


def shape_table(found: Mapping[str, Named]) -> Table:
    """What each panel is like: one row for each quantity."""
    rows: list[Row] = [
        {
            "panel": state,
            "quantity": key,
            "meaning": SHAPE[key],
            **columns(one, "value", *WITHOUT_P),
        }
        for state, known in found.items()
        for key, one in known.items()
    ]
    note = (
        "Intervals over items. The paper draws d against the compression by references, and "
        "against an effective rank that it does not define: this one is ours."
    )
    return Table("panel", "What the panel is like", rows, note)


def information_table(context: Context, states: Panels) -> Table | None:
    """I(i; j) of every two agents; None where the mechanism does not hold texts together."""
    rows: list[Row] = []
    for state, part in states.items():
        shared = shared_by_pairs(context, part)
        if shared is not None:
            agents = [agent.name for agent in part.panel.agents]
            for (i, j), found in pair_information(shared).items():
                pair: Row = {"panel": state, "agent": agents[i], "peer": agents[j]}
                rows.append({**pair, **columns(found, "value", *WITHOUT_P)})
    title = f"What {context.mechanism.name} finds in common between two agents' texts"
    note = "Each two agents once; means over items."
    return Table("information", title, rows, note) if rows else None


def notes(context: Context, states: Panels, known: bool, definition: Definition) -> tuple[str, ...]:
    """Data, LM, and whatever limits what the numbers mean."""
    clean = states["clean"]
    last = states.get("attacked", clean)
    return (
        *_made_of(context, clean),
        *missing_calls(states),
        *_limits(clean, known, definition),
        *_left_out(clean.panel.provenance),
        *_attack(last.panel.provenance.get("attack_settings")),
    )


def _made_of(context: Context, clean: ScoredPanel) -> Iterator[str]:
    origin = clean.panel.provenance
    where = origin.get("source") or origin.get("domain") or "as given"
    yield (
        f"Data: {origin.get('dataset', 'unnamed')} ({where}), {counted(len(clean.panel.items))} x "
        f"{counted(len(clean.panel.agents), 'agent')} ({origin.get('agents', 'as recorded')})."
    )
    yield f"Evaluation LM: {context.evaluation_lm.identity}."
    yield from trained(context.evaluation_lm, clean.panel)
    if "critic" in clean.measured.attrs:
        yield f"Critic: {clean.measured.attrs['critic']}."
    if "drawn" in clean.measured.attrs:
        yield (
            f"Drawn: {clean.measured.attrs['drawn']}. Intervals are of this draw: run it with "
            "another seed, or draw more, to see how far the figures move."
        )
    if clean.measured.attrs.get("reply") == "labels":
        yield "Replies: from the probabilities of the allowed labels; none was generated."


def _limits(clean: ScoredPanel, known: bool, definition: Definition) -> Iterator[str]:
    items, agents = len(clean.panel.items), len(clean.panel.agents)
    scored = int((~np.isnan(clean.values)).any(axis=1).sum())
    if scored < FEW_ITEMS and definition != "corrected":
        of_all = f" of {items}" if scored < items else ""
        yield (
            f"Only {scored}{of_all} items scored: percentile intervals are too narrow below "
            f"{FEW_ITEMS}, above all those of d (on normal data they hold the truth .86 of the "
            "time at 12 items)."
        )
    if agents == 2 and clean.scores.pair is not None:
        yield "With two agents a mechanism that pays both sides of a pair alike cannot rank them."
    if not known:
        yield (
            "No agent categories are known, so there are no groups of good faith and problematic "
            "agents: effect sizes and AUC are left out (give dataset.agents={name: category})."
        )


def _left_out(origin: Mapping[str, object]) -> Iterator[str]:
    """What of the data is not in the panel."""
    for key, what in (
        ("skipped_rows", "Rows without a source were skipped"),
        ("ignored_keys", "Unknown keys of the file were ignored"),
        ("agents_unanswered", "Agents gave no answer"),
    ):
        if origin.get(key):
            yield f"{what}: {origin[key]}."
    if origin.get("base_translation"):
        yield f"Rule-based translations rewrite a base translation: {origin['base_translation']}."


def _attack(settings: object) -> Iterator[str]:
    if isinstance(settings, Mapping) and settings.get("tag") == "source":
        yield (
            "attack.tag=source puts the same marker into all texts of an item: a rise under this "
            "attack is information the attack added, not robustness."
        )
