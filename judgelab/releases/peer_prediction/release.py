"""Reads what the authors of the TVD-MI paper released, in either of its two layouts.

- ``clone``: a clone of github.com/zrobertson466920/llm-peer-prediction, one JSON file per item
  and mechanism under ``eval_results/``;
- ``parquet``: the same content as ``meta.json``, ``items.parquet``, ``responses.parquet`` and
  ``matrices/<domain>[__<attack>].npz``.

Domains, agents and categories are discovered from the files. Everything is keyed on item ids.
"""

from __future__ import annotations

from pathlib import Path

from judgelab.core.errors import DataError
from judgelab.releases.peer_prediction import json_clone as released_json
from judgelab.releases.peer_prediction import npz_tables as released_npz
from judgelab.releases.peer_prediction.domain import (
    MECHANISMS,
    TABLES,
    ReleasedDomain,
    ReleasedTexts,
)

__all__ = [
    "MECHANISMS",
    "TABLES",
    "ReleasedDomain",
    "ReleasedTexts",
    "list_domains",
    "read_domain",
]


def list_domains(path: str | Path) -> list[tuple[str, str | None]]:
    """(domain, attack or None) of everything with recorded scores, sorted.

    Raises:
        DataError: the folder has neither layout.
    """
    root = Path(path).expanduser()
    if _is_parquet(root):
        return released_npz.domains(root)
    return released_json.domains(root)


def read_domain(path: str | Path, domain: str, attack: str | None = None) -> ReleasedDomain:
    """The recorded scores of one domain, and access to its texts.

    Raises:
        DataError: the folder has neither layout, lacks the domain, or a file is damaged.
    """
    root = Path(path).expanduser()
    parquet = _is_parquet(root)
    found = list_domains(root)
    if (domain, attack) not in found:
        there = ", ".join(
            name if attacked is None else f"{name} ({attacked})" for name, attacked in found
        )
        wanted = domain if attack is None else f"{domain} under attack {attack}"
        raise DataError(
            f"{root} holds no scores of {wanted}: it has {there or 'no domain at all'}."
        )
    if parquet:
        return released_npz.read(root, domain, attack)
    return released_json.read(root, domain, attack)


def _is_parquet(root: Path) -> bool:
    if released_npz.is_layout(root):
        return True
    if released_json.is_layout(root):
        return False
    reason = "does not exist" if not root.exists() else "is not such a folder"
    raise DataError(
        f"{root} {reason}: give a clone of github.com/zrobertson466920/llm-peer-prediction (it has "
        "eval_results/) or a folder with meta.json and matrices/."
    )
