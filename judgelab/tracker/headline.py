"""The few figures of a run by which a dashboard sorts, groups and draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgelab.core.result import Row, Value, estimated, flat_estimate, read_estimate

PEOPLE = (
    *("clean/human_within", "clean/human_auc", "clean/human_spearman", "agreement"),
    *("ranking/agreement", "pool/accuracy"),
)
"""Summary keys of agreement with people, the one that compares like with like first."""
STATISTICS = ("auc", "pair_auc", "effect_size", "smd")
"""What is drawn beside the primary figure: of clean and attacked texts, and the change."""


def agreement_key(summary: Mapping[str, Any]) -> str | None:
    """The summary's agreement with people; of an audit, that of its only judge."""
    audited = [key for key in estimated(summary) if key.endswith("/agreement")]
    only = audited if summary.get("study") == "audit" and len(audited) == 1 else []
    return next((key for key in (*PEOPLE, *only) if summary.get(key) is not None), None)


def with_people(summary: Mapping[str, Any], correlations: Sequence[Row]) -> Mapping[str, Any]:
    """The summary, and the correlation with human scores where a study has that in a table alone.

    Args:
        summary: of a result.
        correlations: rows of its table of that name; none where it has no such table.
    """
    parts = ("value", "low", "high", "n")
    for row in correlations:
        if (row.get("panel"), row.get("with")) == ("clean", "human score"):
            found = {part: row.get(part) for part in parts} | {
                "unscored": row.get("unscored_texts")
            }
            return flat_estimate("clean/human_spearman", found) | dict(summary)
    return summary


def headline(summary: Mapping[str, Any], primary: str) -> dict[str, Value]:
    """``primary`` and ``people``, each with ``_low``, ``_high``, ``_n``, and ``_is``: its key.

    The same names in runs of every study, so that one column or panel takes them all. Where the
    study's own primary figure is not known, agreement with people is the primary one.
    """
    made: dict[str, Value] = {}
    people = agreement_key(summary)
    for name, key in {"primary": _primary(summary, primary), "people": people}.items():
        if key is not None:
            found = read_estimate(summary, key)
            kept = {"": "value", "_low": "low", "_high": "high", "_n": "n"}
            made |= {f"{name}{end}": found[part] for end, part in kept.items()}
            made[f"{name}_is"] = key
    return made


def bars(
    summary: Mapping[str, Any], primary: str, name: str, axes: Mapping[str, str]
) -> list[dict[str, Value]]:
    """A row for each figure that is drawn with its interval.

    Columns: run, mechanism, dataset, attack (``none`` for figures of clean texts), statistic,
    value, low, high, n.
    """
    told = {"run": name} | {key: axes.get(key, "") for key in ("mechanism", "dataset")}
    rows = []
    for statistic, key in _drawn(summary, primary):
        attack = "none" if key.startswith("clean/") else axes.get("attack", "none")
        found = read_estimate(summary, key)
        numbers = {part: found[part] for part in ("value", "low", "high", "n")}
        rows.append({**told, "attack": attack, "statistic": statistic, **numbers})
    return rows


def _primary(summary: Mapping[str, Any], primary: str) -> str:
    return primary if summary.get(primary) is not None else agreement_key(summary) or primary


def in_words(answer: Sequence[tuple[str, str]]) -> dict[str, Value]:
    """``answer``: what a page opens with, as one text; nothing where it opens with none."""
    said = " ".join(f"{heading}: {text}" for heading, text in answer)
    return {"answer": said} if said else {}


def _drawn(summary: Mapping[str, Any], primary: str) -> Iterator[tuple[str, str]]:
    """Statistic and summary key."""
    people = agreement_key(summary)
    own = {"primary": _primary(summary, primary)} | ({} if people is None else {"people": people})
    yield from ((name, key) for name, key in own.items() if summary.get(key) is not None)
    for key in estimated(summary):
        panel, _, statistic = key.rpartition("/")
        if panel in ("clean", "attacked") and statistic in STATISTICS:
            yield statistic, key
        elif panel == "change" and statistic in STATISTICS:
            yield f"change of {statistic}", key
