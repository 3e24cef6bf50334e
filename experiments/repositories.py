"""The authors' public repositories: how a clone or our export is recognised, and who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    """One public release."""

    address: str  # of the repository
    clone: tuple[str, ...]  # paths of which a clone has at least one
    # the folder's usual name, and patterns that a parquet export of it all has
    export: tuple[str, tuple[str, ...]]
    experiment: str  # the package here that reads either

    @property
    def name(self) -> str:
        """The folder that git makes."""
        return self.address.rsplit("/", 1)[1]

    def layout(self, folder: Path) -> str | None:
        """``clone``, ``export`` or None: what the folder itself is. A clone is seen first."""
        if any((folder / path).exists() for path in self.clone):
            return "clone"
        is_export = all(any(folder.glob(pattern)) for pattern in self.export[1])
        return "export" if is_export else None

    def folders(self, data: Path) -> list[Path]:
        """The folder itself if it is this release, else those in it that are named like it, the
        clone first."""
        places = (data / self.name, data / self.export[0])
        return [data] if self.layout(data) else [path for path in places if path.is_dir()]


PEER_PREDICTION = Repository(
    "github.com/zrobertson466920/llm-peer-prediction",
    ("eval_results",),
    ("peer_prediction", ("meta.json", "matrices")),
    "peer_prediction",
)
GEM = Repository(
    "github.com/yx-lu/Benchmarking-LLMs--Judgments-with-No-Gold-Standard",
    ("task_iclr23", "dataset/dataset_human_review1.parquet", "dataset_human_review1.parquet"),
    ("gem", ("gem_iclr2023*.parquet",)),
    "gem",
)
AUTO_PRE = Repository(
    "github.com/cjj826/Auto-PRE",
    ("data-Xsum", "data-NFQA"),
    ("auto_pre", ("verdict_pairwise.parquet",)),
    "auto_pre",
)
