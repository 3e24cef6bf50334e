"""The authors' releases as tables that judgelab reads: ``dataset=table dataset.path=FILE``.

    python -m experiments.importing DATA OUT

DATA holds the authors' repositories as git clones them, or our exports of them, or is one. OUT gets
a parquet file for each dataset, ``peer_prediction/xsum.parquet``, ``auto_pre/XSum.parquet``,
``gem/reviews.parquet``: the long table of docs/datasets.md, a row for each text with what people
and metrics gave it, and of Auto-PRE a row for each verdict.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.auto_pre.release import list_datasets, read_dataset, read_texts
from experiments.gem.reviews import read_reviews
from experiments.peer_prediction.release import list_domains, read_domain
from experiments.peer_prediction.rows import MECHANISMS
from experiments.peer_prediction.scores import agent_scores
from experiments.repositories import AUTO_PRE, GEM, PEER_PREDICTION, Repository
from judgelab.core.errors import DataError, JudgelabError
from judgelab.core.panel import Panel

Frames = Iterator[tuple[str, pd.DataFrame]]


def peer_prediction(folder: Path) -> Frames:
    """Every domain: its texts (clean ones), and the corrected score of each by each mechanism."""
    for domain, attack in list_domains(folder):
        data = read_domain(folder, domain, attack)
        # an export has the clean texts alone, which are not those that were scored
        rows = texts_of(data.panel()) if attack is None else pd.DataFrame()
        for name in MECHANISMS.values():
            values = agent_scores(data, name, corrected=True)
            if values is not None:
                names = [one.name for one in data.agents]
                frame = pd.DataFrame(values, data.ids(name).astype(str), names)
                rows = _with_column(rows, frame.rename_axis("id"), name)
        yield data.key, rows


def auto_pre(folder: Path) -> Frames:
    """Every dataset: answers with people's median grades, people's preferences, the verdicts."""
    for name in list_datasets(folder):
        data, (items, answers) = read_dataset(folder, name), read_texts(folder, name)
        agents, ids = np.array(data.agents, dtype=object), np.array(data.tasks).astype(str)
        grades = pd.DataFrame(data.human, ids, agents).rename_axis("id")
        plain = answers[(answers["task_prompt"] == 1) & answers["model"].isin(data.agents)]
        rows = plain[["task_id", "model", "answer"]].set_axis(["id", "agent", "text"], axis=1)
        rows = _with_column(rows.astype({"id": str, "agent": str}), grades, "human")
        sources = items.assign(id=items["task_id"].astype(str))
        rows = rows.merge(sources.reindex(columns=["id", "source", "reference"]), "left", "id")
        item, one, two = np.nonzero(np.isfinite(data.gold))
        words = np.array([agents[two], np.full(len(two), "tie", object), agents[one]])
        gold = data.gold[item, one, two].astype(int) + 1
        people = {"preference": words[gold, np.arange(len(item))]}
        pairs = pd.DataFrame(
            {"id": ids[item], "agent": agents[one], "other": agents[two], **people}
        )
        parts = [rows, pairs[one < two], *_verdicts(data.readable, ids, agents)]
        yield name, pd.concat(parts, ignore_index=True)


def _verdicts(by_judge, ids, agents) -> Iterator[pd.DataFrame]:  # type: ignore[no-untyped-def]
    """Rows of each judge; an unread reply is a verdict that is missing."""
    for judge, cells in by_judge.items():
        mask = ~np.eye(len(agents), dtype=bool) & np.isfinite(cells).any(axis=0)
        item, one, two = np.nonzero(np.broadcast_to(mask, cells.shape))
        value = cells[item, one, two]
        won = np.where(value == 1, agents[one], np.where(value == 0, agents[two], "tie"))
        low, high = np.minimum(one, two), np.maximum(one, two)
        yield pd.DataFrame(
            {
                "id": ids[item],
                "agent": agents[low],
                "other": agents[high],
                "judge": judge,
                "order": (one > two).astype(int),
                "verdict": np.where(np.isnan(value), "", won),
            }
        )


def gem(folder: Path) -> Frames:
    """Three reviews of each of 300 papers, as written and as GPT-4o preprocessed them."""
    for text in ("review", "review_summary"):
        yield f"{text}s".replace("summarys", "summaries"), texts_of(read_reviews(folder, text))


def texts_of(panel: Panel) -> pd.DataFrame:
    """A row for each text of a panel; of items without any, one for the item."""
    return pd.DataFrame(
        {
            "id": item.id,
            "source": item.source,
            "reference": item.reference,
            "synopsis": item.synopsis,
            "agent": agent.name,
            "category": agent.category,
            "text": text,
        }
        for item, row in zip(panel.items, panel.texts, strict=True)
        for agent, text in zip(panel.agents, row, strict=False)
    )


def _with_column(rows: pd.DataFrame, values: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows with a column of values [items, agents]; texts that only these know are added."""
    long = values.reset_index().melt("id", var_name="agent", value_name=name)
    return rows.merge(long.dropna(), "outer", ["id", "agent"]) if len(rows) else long


FRAMES = {PEER_PREDICTION: peer_prediction, AUTO_PRE: auto_pre, GEM: gem}


def import_release(release: Repository, folder: Path, out: Path) -> list[Path]:
    """The files of one release; written anew.

    Raises:
        DataError: the folder is damaged.
    """
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for name, frame in FRAMES[release](folder):
        files.append(out / f"{name}.parquet")
        frame.to_parquet(files[-1], index=False)
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 1 with one sentence on standard error where the data are not right."""
    parser = argparse.ArgumentParser(prog="python -m experiments.importing")
    parser.add_argument("data", type=Path, help="clones, exports, or one of them")
    parser.add_argument("out", type=Path, help="folder to write")
    options = parser.parse_args(arguments)
    data, files = options.data.expanduser(), list[Path]()
    try:
        for release in FRAMES:
            for folder in release.folders(data)[:1]:
                files += import_release(release, folder, options.out / release.experiment)
        if not files:
            addresses = ", ".join(release.address for release in FRAMES)
            raise DataError(f"{data} holds no clone and no export of {addresses}.")
        print(*files, sep="\n")
    except (JudgelabError, OSError) as cause:
        print(cause, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
