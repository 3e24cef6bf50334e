"""The release of the Auto-PRE paper (github.com/cjj826/Auto-PRE)."""

from experiments.auto_pre.release.records import (
    AutoPreRecords,
    confidence,
    list_datasets,
    pertinence,
    read_dataset,
    read_texts,
)
from experiments.auto_pre.release.tables import NEEDED, is_release, read_table

__all__ = [
    "NEEDED",
    "AutoPreRecords",
    "confidence",
    "is_release",
    "list_datasets",
    "pertinence",
    "read_dataset",
    "read_table",
    "read_texts",
]
