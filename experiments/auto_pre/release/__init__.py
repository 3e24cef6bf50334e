"""The release of the Auto-PRE paper (github.com/cjj826/Auto-PRE)."""

from experiments.auto_pre.release.records import (
    AutoPreRecords,
    confidence,
    list_datasets,
    pertinence,
    read_dataset,
    read_table,
    read_texts,
)

__all__ = [
    "AutoPreRecords",
    "confidence",
    "list_datasets",
    "pertinence",
    "read_dataset",
    "read_table",
    "read_texts",
]
