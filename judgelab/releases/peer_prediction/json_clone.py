"""The authors' release as a clone of their repository: one JSON file per item and mechanism."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from judgelab.releases.peer_prediction.domain import TABLES, ReleasedDomain
from judgelab.releases.peer_prediction.folders import describe, folders, is_layout
from judgelab.releases.peer_prediction.recorded import from_records
from judgelab.releases.peer_prediction.taxonomy import released_agent
from judgelab.releases.peer_prediction.texts import read_texts

__all__ = ["domains", "is_layout", "read"]


def domains(root: Path) -> list[tuple[str, str | None]]:
    """(domain, attack) of every folder with recorded scores."""
    return [(folder.domain, folder.attack) for folder in folders(root)]


def read(root: Path, domain: str, attack: str | None) -> ReleasedDomain:
    """One domain of a clone.

    Raises:
        DataError: a file is cut short, lacks a field, or a matrix has the wrong shape.
    """
    every = {(each.domain, each.attack): each for each in folders(root)}
    folder = every[domain, attack]
    task, description, config = describe(folder, every.get((domain, None)))
    runs = {run: folder.records(run) for run in TABLES}
    # Every agent that some file names, in the order of the file that names most.
    named = [record.names for records in runs.values() for record in records]
    widest = max(named, key=len, default=())
    names = tuple(dict.fromkeys([*widest, *(name for some in named for name in some)]))
    prompts = {each.get("condition"): each for each in config.get("agent_perspectives", [])[::-1]}
    return from_records(runs, names).domain(
        domain=domain,
        attack=attack,
        layout="clone",
        task=task,
        task_description=description,
        agents=tuple(
            released_agent(
                name, task, **{k: prompts.get(name, {}).get(k) for k in ("strategy", "reading")}
            )
            for name in names
        ),
        load_texts=partial(read_texts, folder, config, names),
        source_files=(str(folder.path.relative_to(root)),),
    )
