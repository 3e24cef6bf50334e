"""The human reviews that the authors of the GEM paper released."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.peer_texts import PeerItem, peer_panel
from judgelab.dataset.score_table import names, need, read_table, text_or_none
from judgelab.releases.repositories import GEM, instead

if TYPE_CHECKING:
    import pandas as pd

REFERENCES = ("reviewer_1", "reviewer_3")
"""The second review is the candidate, the others are the references (as released)."""

PARTS = {"evaluation": slice(0, 300), "finetune": slice(500, 1500)}
"""Rows of the clone's files; 300 to 499 are used by neither."""

_REVIEWS = {"1": 1, "2": 2, "3": 3, "1.0": 1, "2.0": 2, "3.0": 3}
"""Numbers of the reviews, as text, whole numbers or floats."""

FOLDERS = ("", "dataset", "task_iclr23/dataset")
DESCRIPTION = "Review a machine learning paper submitted to a conference"


@dataclass(frozen=True)
class GemReleased(LimitedDataset):
    """ICLR 2023 papers with three human reviews each: reviewer_2 is judged by 1 and 3.

    Abstracts and papers were not released, so sources are empty. The synopsis is the title with
    the keywords where they are known, and the provenance says so; a clone with an added
    ``dataset_paper.parquet`` (paper_id, abstract, parsed_text) has abstracts and sources.

    Args:
        path: a clone of github.com/yx-lu/Benchmarking-LLMs--Judgments-with-No-Gold-Standard, or
            a parquet file with one row a review (paper_id, title, keywords, review_no, review,
            review_summary_gpt4o), or a folder with one such file gem_iclr2023*.parquet.
        part: ``evaluation`` (300 papers) or ``finetune`` (1000 others; clone only).
        text: ``review``, or ``review_summary``: the authors' preprocessing by GPT-4o, to be used
            with preprocessor=identity.
    """

    path: str
    part: Literal["evaluation", "finetune"] = "evaluation"
    text: Literal["review", "review_summary"] = "review"

    def _panel(self, limit: int | None) -> Panel:
        found = _parquet(Path(self.path).expanduser())
        if found.is_file():
            items, files = self._export(found), [found]
        else:
            items, files = self._clone(found)
        facts: dict[str, object] = {"dataset": "gem_released", "source": "path"}
        facts |= {"path": str(found), "part": self.part, "text": self.text}
        facts |= {"synopsis_is": _synopses(items), "task_description": DESCRIPTION}
        facts["sha256"] = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
        return peer_panel(items, REFERENCES, "peer_review", facts).head(limit)

    def _export(self, file: Path) -> list[PeerItem]:
        if self.part != "evaluation":
            raise DataError(
                f"{str(file)!r} holds the evaluation papers only: for dataset.part={self.part} "
                f"give a clone of {GEM.address}."
            )
        column = {"review": "review", "review_summary": "review_summary_gpt4o"}[self.text]
        table = _table(file, ("review_no", column))
        table["review_no"] = _numbers(table["review_no"], file)
        items = []
        for paper, rows in table.groupby("paper_id", sort=False):
            found = sorted(rows["review_no"])
            if found != [1, 2, 3]:
                raise DataError(
                    f"{str(file)!r}: paper {paper!r} has the reviews {found}, not 1, 2 and 3: "
                    "fetch it again."
                )
            texts = rows.sort_values("review_no")[column].tolist()
            items.append(_peer_item(str(paper), texts, rows.iloc[0].to_dict()))
        return items

    def _clone(self, root: Path) -> tuple[list[PeerItem], list[Path]]:
        names = [f"dataset_human_review{number}.parquet" for number in (1, 2, 3)]
        folder = next((root / f for f in FOLDERS if (root / f / names[0]).is_file()), None)
        if folder is None:
            raise DataError(
                f"{str(root)!r} holds no {names[0]}: give a clone of {GEM.address}, or the parquet "
                f"file with one row a review.{instead(root, GEM)}"
            )
        files = [folder / name for name in names]
        tables = [_table(f, (self.text,)).iloc[PARTS[self.part]] for f in files]
        ids = [list(map(str, table["paper_id"])) for table in tables]
        if not ids[0] or any(other != ids[0] for other in ids):
            raise DataError(
                f"{str(folder)!r}: the three files do not list the same papers in rows "
                f"{PARTS[self.part].start} to {PARTS[self.part].stop - 1}: fetch them again."
            )
        papers = self._papers(folder / "dataset_paper.parquet", files)
        columns = [table[self.text].tolist() for table in tables]
        items = []
        for paper, *texts in zip(ids[0], *columns, strict=True):
            about = {k: papers.get(paper, {}).get(k) for k in ("abstract", "parsed_text")}
            items.append(_peer_item(paper, texts, about))
        return items, files

    def _papers(self, file: Path, files: list[Path]) -> dict[str, Mapping[Any, Any]]:
        if not file.is_file():
            return {}
        files.append(file)
        table = _table(file, ("abstract",))
        return {str(row["paper_id"]): row for row in table.to_dict("records")}


def _parquet(found: Path) -> Path:
    """The export in the folder, where it is no clone and holds one; else as given."""
    files = sorted(found.glob(GEM.export[1][0])) if GEM.layout(found) == "export" else []
    return files[0] if len(files) == 1 else found


def _table(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    table = read_table(str(file))
    need(table, ("paper_id", *columns), str(file), "the release")
    names(table, "paper_id", str(file))
    return table


def _numbers(column: pd.Series, file: Path) -> pd.Series:
    """The column review_no."""
    found = column.map(str).map(_REVIEWS)
    if found.isna().any():
        row = int(found.isna().argmax())
        raise DataError(
            f"{str(file)!r}, row {row + 1}: review_no must be 1, 2 or 3, not "
            f"{column.tolist()[row]!r}: fetch it again."
        )
    return found


def _peer_item(paper: str, texts: Sequence[object], about: Mapping[Any, Any]) -> PeerItem:
    synopsis, kind = _synopsis(about)
    meta = {"synopsis": kind} if synopsis else {}
    source = text_or_none(about.get("parsed_text")) or ""
    return PeerItem(paper, source, synopsis, tuple(map(text_or_none, texts)), meta=meta)


def _synopsis(row: Mapping[Any, Any]) -> tuple[str | None, str]:
    """The abstract, or title and keywords; and which of them it is."""
    abstract, title = text_or_none(row.get("abstract")), text_or_none(row.get("title"))
    if abstract or not title:
        return abstract, "abstract"
    listed = text_or_none(row.get("keywords")) or ""
    try:
        words = ", ".join(map(str, ast.literal_eval(listed)))
    except (ValueError, SyntaxError):  # not a list, but words
        words = listed
    return (f"{title}\nKeywords: {words}", "title and keywords") if words else (title, "title")


def _synopses(items: list[PeerItem]) -> dict[str, int]:
    """What the synopses are, and of how many items."""
    return dict(sorted(Counter(item.meta.get("synopsis", "none") for item in items).items()))
