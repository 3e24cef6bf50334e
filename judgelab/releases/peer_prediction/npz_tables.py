"""The authors' release as tables: meta.json, items.parquet, responses.parquet, matrices/*.npz."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item
from judgelab.releases.peer_prediction.domain import (
    ReleasedDomain,
    ReleasedTexts,
    released_agent,
    task_of,
)
from judgelab.releases.peer_prediction.folders import load_json
from judgelab.releases.peer_prediction.recorded import from_npz

if TYPE_CHECKING:
    import pandas as pd


def is_layout(root: Path) -> bool:
    """Whether the folder has this layout."""
    return (root / "meta.json").is_file() and (root / "matrices").is_dir()


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every recorded matrix file."""
    named = [file.stem.partition("__") for file in (root / "matrices").glob("*.npz")]
    return [(domain, attack or None) for domain, _, attack in named]


def read(root: Path, domain: str, attack: str | None) -> ReleasedDomain:
    """One domain of this layout."""
    meta = load_json(root / "meta.json")
    if not isinstance(meta, dict):
        raise DataError(f"{root / 'meta.json'} holds no JSON object: fetch it again.")
    key = domain if attack is None else f"{domain}__{attack}"
    entry: Mapping[str, Any] = meta.get("domains", {}).get(key, {})
    file = root / str(entry.get("npz", f"matrices/{key}.npz"))
    agents, task = _agents(root, meta, domain, entry.get("task"))
    sources = map(str, entry.get("source_files", {}).values())
    return from_npz(file, len(agents)).domain(
        domain=domain,
        attack=attack,
        layout="parquet",
        task=task,
        task_description=str(entry.get("task_description", "")),
        agents=agents,
        load_texts=partial(read_texts, root, domain, tuple(a.name for a in agents)),
        source_files=(str(file.relative_to(root)), *sources),
    )


def read_texts(root: Path, domain: str, names: tuple[str, ...]) -> ReleasedTexts:
    """Sources, references and clean responses of a domain (attacked texts are not stored).

    Only items with at least one response are kept, unless the domain has none at all.
    """
    items = _parquet(root / "items.parquet", domain)
    responses = _parquet(root / "responses.parquet", domain)
    sources = items.set_index("item_id")[["source", "reference"]]
    answered = responses[responses["agent"].isin(names)]
    texts = answered.pivot_table(
        index="item_id", columns="agent", values="response", aggfunc="last", observed=True
    ).reindex(columns=list(names))
    lost = texts.index.difference(sources.index)
    if len(lost):
        raise DataError(
            f"{root / 'items.parquet'} lacks the source of item {lost[0]} of {domain} "
            f"({len(lost)} in all) that responses.parquet answers: fetch both files again."
        )
    kept = sources.index.sort_values() if texts.empty else texts.index
    rows = texts.itertuples(index=False, name=None)
    return ReleasedTexts(
        items=tuple(
            Item(id=str(name), source=source, reference=_text(reference))
            for name, source, reference in sources.loc[kept].itertuples(name=None)
        ),
        responses=((),) * len(kept) if texts.empty else tuple(tuple(map(_text, r)) for r in rows),
    )


def _text(cell: object) -> str | None:
    return cell if isinstance(cell, str) else None


def _agents(
    root: Path, meta: Mapping[str, Any], domain: str, task: str | None
) -> tuple[tuple[Agent, ...], str]:
    """Agents in matrix order: from meta.json, else from the responses."""
    rows: list[Mapping[str, Any]] = list(meta.get("agents", {}).get(domain, []))
    if not rows:
        frame = _parquet(root / "responses.parquet", domain)
        unique = frame.drop_duplicates("agent_index").sort_values("agent_index")
        rows = [{"name": str(name)} for name in unique["agent"]]
    if not rows:
        raise DataError(
            f"{root / 'meta.json'} lists no agents of domain {domain!r} and responses.parquet has "
            f"none: the domains there are {', '.join(meta.get('agents', {})) or 'none'}."
        )
    task = task or task_of(str(row["name"]) for row in rows)
    told = {"category": "category_code", "category_paper": "category_paper"}
    told |= {"strategy": "strategy_prompt", "reading": "reading_prompt"}
    agents = tuple(
        released_agent(str(row["name"]), task, **{key: row.get(name) for key, name in told.items()})
        for row in rows
    )
    return agents, task


def _parquet(path: Path, domain: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path, filters=[("domain", "==", domain)])
    except (OSError, ValueError) as cause:
        raise DataError(f"{path} cannot be read ({cause}): fetch it again.") from cause
