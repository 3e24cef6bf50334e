"""The release of the TVD-MI paper's authors, in either of its two layouts.

- a clone of github.com/zrobertson466920/llm-peer-prediction (``clone``): one JSON file per item
  and mechanism under ``eval_results/``;
- our export of one (``export``): ``meta.json``, ``items.parquet``, ``responses.parquet`` and
  ``matrices/<domain>[__<attack>].npz``.

Domains, agents and categories are those of the files. Everything is keyed on item ids.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from experiments.peer_prediction import clone, export
from experiments.peer_prediction.domain import Domain
from experiments.peer_prediction.folders import ALIASES
from experiments.repositories import PEER_PREDICTION
from judgelab.core.errors import DataError


def list_domains(path: str | Path) -> list[tuple[str, str | None]]:
    """(domain, attack or None) of everything with recorded scores, sorted; clean runs first.

    Raises:
        DataError: the folder has neither layout.
    """
    root = Path(path).expanduser()
    return sorted(_layout(root).domains(root), key=lambda pair: (pair[0], pair[1] or ""))


def read_domain(path: str | Path, domain: str, attack: str | None = None) -> Domain:
    """The recorded scores of one domain, and access to its texts.

    ``domain`` may be another name of it, such as iclr2023 for peer_review.

    Raises:
        DataError: the folder has neither layout, lacks the domain, or a file is damaged.
    """
    root = Path(path).expanduser()
    domains = list_domains(root)
    if (domain, attack) not in domains:
        domain = ALIASES.get(domain.lower(), domain)
    if (domain, attack) not in domains:
        there = ", ".join(name if by is None else f"{name} ({by})" for name, by in domains)
        what = domain if attack is None else f"{domain} under attack {attack}"
        raise DataError(f"{root} holds no scores of {what}: it has {there or 'no domain at all'}.")
    data: Domain = _layout(root).read(root, domain, attack)
    return data


def _layout(root: Path) -> ModuleType:
    if readers := {"clone": clone, "export": export}.get(PEER_PREDICTION.layout(root) or ""):
        return readers
    reason = "does not exist" if not root.exists() else "is not such a folder"
    raise DataError(
        f"{root} {reason}: give a clone of {PEER_PREDICTION.address} (it has eval_results/) or a "
        f"folder with meta.json and matrices/."
    )
