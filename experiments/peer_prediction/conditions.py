"""Table 6: mean scores of five agents. The paper shows CNN/DailyMail, this every domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.command import Row, Table
from experiments.peer_prediction.baseline import rouge1, set_rouge1
from experiments.peer_prediction.domain import Domain, FloatArray
from experiments.peer_prediction.rows import MECHANISMS, cell, paper
from experiments.peer_prediction.scores import agent_scores
from judgelab.core.errors import DataError
from judgelab.stats.intervals.means import bootstrap_mean, item_mean

COLUMNS = ("TVD-MI", "Judge+ctx", "Judge-ctx")


Scored = tuple[FloatArray | None, FloatArray | None]
"""Released and corrected scores [items, agents]."""


def table6(domains: Sequence[Domain]) -> Table:
    """Rows are ``domain/agent``, for the paper's five agents where a domain has them."""
    rows: list[Row] = []
    notes: list[str] = []
    wanted: Sequence[str] = tuple(paper()["table6"])
    named: str = paper()["table6_domain"]
    for data in domains:
        shown = [index for index, agent in enumerate(data.agents) if agent.name in wanted]
        if not shown:
            continue
        overlap, note = _overlap(data, shown)
        scores: dict[str, Scored] = {"ROUGE-1": overlap}
        for column in COLUMNS:
            released, corrected = (
                agent_scores(data, MECHANISMS[column], corrected=fixed) for fixed in (False, True)
            )
            scores[column] = _chosen(released, shown), _chosen(corrected, shown)
        for position, index in enumerate(shown):
            rows += _agent_rows(data, index, position, named, scores)
        notes += note
    if named not in {data.domain for data in domains}:
        rows += [
            cell("6", name, column, label=f"{named}/{name}")
            for name in wanted
            for column in paper()["table6"][name]
        ]
        notes.append(f"No recorded scores of {named}, the domain of the paper's table.")
    return Table("6", "mean scores of five agents", tuple(rows), tuple(notes))


def _overlap(data: Domain, shown: Sequence[int]) -> tuple[Scored, list[str]]:
    """ROUGE-1 of the shown agents; nothing but a note where the folder lacks the texts."""
    try:
        panel = data.panel()
    except DataError as cause:
        return (None, None), [f"No ROUGE-1 for {data.domain}: {cause}"]
    if not panel.agents:
        return (None, None), [f"No ROUGE-1 for {data.domain}: the folder has no responses."]
    some = panel.with_agents(
        (panel.agents[index] for index in shown),
        tuple(tuple(row[index] for index in shown) for row in panel.texts),
    )
    return (set_rouge1(some), rouge1(some)), []


def _agent_rows(
    data: Domain, index: int, position: int, named: str, scores: Mapping[str, Scored]
) -> list[Row]:
    name = data.agents[index].name
    label = f"{data.domain}/{name}"
    # Only the paper's own domain is looked up in its table.
    key = name if data.domain == named else label
    return [
        cell(
            "6",
            key,
            column,
            None if released is None else bootstrap_mean(released[:, position]),
            None if corrected is None else item_mean(corrected[:, position]),
            label=label,
        )
        for column, (released, corrected) in scores.items()
    ]


def _chosen(scores: FloatArray | None, shown: Sequence[int]) -> FloatArray | None:
    return None if scores is None else scores[:, list(shown)]
