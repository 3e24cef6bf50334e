"""The release of the Auto-PRE paper (github.com/cjj826/Auto-PRE)."""

from judgelab.releases.auto_pre.records import (
    AutoPreRecords,
    changes,
    confidence,
    list_datasets,
    pertinence,
    read_dataset,
    read_texts,
)
from judgelab.releases.auto_pre.tables import NEEDED, absent, is_release, read_table

__all__ = [
    "NEEDED",
    "AutoPreRecords",
    "absent",
    "changes",
    "confidence",
    "is_release",
    "list_datasets",
    "pertinence",
    "read_dataset",
    "read_table",
    "read_texts",
]
