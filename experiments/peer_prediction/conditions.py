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
    names: Sequence[str] = tuple(paper()["table6"])
    domain: str = paper()["table6_domain"]
    for data in domains:
        places = [index for index, agent in enumerate(data.agents) if agent.name in names]
        if not places:
            continue
        overlap, note = _overlap(data, places)
        scores: dict[str, Scored] = {"ROUGE-1": overlap}
        for column in COLUMNS:
            released, corrected = (
                agent_scores(data, MECHANISMS[column], corrected=fixed) for fixed in (False, True)
            )
            scores[column] = _columns_of(released, places), _columns_of(corrected, places)
        for position, index in enumerate(places):
            rows += _agent_rows(data, index, position, domain, scores)
        notes += note
    if domain not in {data.domain for data in domains}:
        rows += [
            cell("6", name, column, label=f"{domain}/{name}")
            for name in names
            for column in paper()["table6"][name]
        ]
        notes.append(f"No recorded scores of {domain}, the domain of the paper's table.")
    return Table("6", "mean scores of five agents", tuple(rows), tuple(notes))


def _overlap(data: Domain, places: Sequence[int]) -> tuple[Scored, list[str]]:
    """ROUGE-1 of the shown agents; nothing but a note where the folder lacks the texts."""
    try:
        panel = data.panel()
    except DataError as cause:
        return (None, None), [f"No ROUGE-1 for {data.domain}: {cause}"]
    if not panel.agents:
        return (None, None), [f"No ROUGE-1 for {data.domain}: the folder has no responses."]
    some = panel.with_agents(
        (panel.agents[index] for index in places),
        tuple(tuple(row[index] for index in places) for row in panel.texts),
    )
    return (set_rouge1(some), rouge1(some)), []


def _agent_rows(
    data: Domain, index: int, position: int, domain: str, scores: Mapping[str, Scored]
) -> list[Row]:
    name = data.agents[index].name
    label = f"{data.domain}/{name}"
    # Only the paper's own domain is looked up in its table.
    key = name if data.domain == domain else label
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


def _columns_of(scores: FloatArray | None, places: Sequence[int]) -> FloatArray | None:
    return None if scores is None else scores[:, list(places)]
