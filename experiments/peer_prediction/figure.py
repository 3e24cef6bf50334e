"""The figure of the README: Table 2 as printed, and corrected.

python -m experiments.peer_prediction.figure --rows outputs/tables.json --out FILE.png
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgelab.report.figures.style import CATEGORIES, INK, MUTED, look

COLUMNS = ("MI", "GPPM", "TVD-MI", "Judge+ctx", "Judge-ctx")
NAMES = {
    "opus": "OPUS Books*",
    "samsum": "SAMSum",
    "pubmed": "PubMed",
    "multi_news": "Multi-News",
    "billsum": "BillSum",
    "reddit_tifu": "Reddit TIFU",
    "xsum": "XSum",
    "peer_review": "ICLR 2023",
}


def draw(rows: pd.DataFrame) -> Any:
    """One panel per mechanism: hollow as printed, filled corrected with its 95 % interval; below it
    what failed calls can hide."""
    import matplotlib.pyplot as plt

    table = rows[(rows["table"] == "2") & rows["corrected"].notna()]
    domains = [key for key in NAMES if key in set(table["row"])]
    with look():
        figure, axes = plt.subplots(
            1,
            len(COLUMNS),
            sharey=True,
            figsize=(9.5, 0.42 * len(domains) + 1.5),
            layout="constrained",
        )
        for axis, column in zip(axes, COLUMNS, strict=True):
            part = table[table["column"] == column].set_index("row").reindex(domains)
            for y, (_, cell) in enumerate(part.iterrows()):
                axis.plot(
                    [cell["corrected_low"], cell["corrected_high"]],
                    [y, y],
                    color=CATEGORIES["Faithful"],
                )
                axis.plot([cell["worst"], cell["best"]], [y + 0.22] * 2, color=MUTED, linewidth=1)
                axis.plot(cell["corrected"], y, "o", color=CATEGORIES["Faithful"])
                axis.plot(cell["paper"], y, "o", color=CATEGORIES["Strategic"], mfc="none", mew=1.5)
            axis.axvline(0, color=MUTED, linewidth=0.8, linestyle="--")
            axis.set_title(column)
            axis.grid(axis="x")
        axes[0].set_yticks(range(len(domains)), [NAMES[key] for key in domains])
        axes[0].invert_yaxis()
        axes[2].set_xlabel(
            "Effect size d between good-faith and problematic agents (0 = tells nothing)"
        )
        axes[0].plot(
            [], [], "o", color=CATEGORIES["Strategic"], mfc="none", mew=1.5, label="as printed"
        )
        axes[0].plot([], [], "o-", color=CATEGORIES["Faithful"], label="corrected, 95 % interval")
        axes[0].plot([], [], color=MUTED, linewidth=1, label="failed calls, worst to best case")
        figure.legend(loc="outside upper left", ncols=3, labelcolor=INK)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw from the rows that ``tables`` wrote."""
    parser = argparse.ArgumentParser(prog="python -m experiments.peer_prediction.figure")
    parser.add_argument("--rows", type=Path, default=Path("outputs/tables.json"))
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    figure = draw(pd.DataFrame(json.loads(chosen.rows.read_text(encoding="utf-8"))))
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(chosen.out, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
