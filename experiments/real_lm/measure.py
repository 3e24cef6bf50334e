"""TVD-MI, MI, GPPM and GEM by SmolLM2-135M-Instruct, by a compressor, and as released.

The same items and agents of the released panels for everybody: the first items, and as many
good-faith as problematic agents, evenly spaced. TVD-MI, MI and GPPM read texts as they are, as the
authors' Llama-3.3-70B did; GEM of SmolLM2 goes through its chat template and counts the end token.
TVD-MI of the two small LMs is by the likelihood critic; as released it is GPT-4o-mini's. The 70B
model's log-probabilities are read from the release; a GEM of these texts was not released.

Every answer is kept in a call cache: an interrupted run goes on where it was.

Run: ``python -m experiments.real_lm.measure --data RELEASE [--out outputs/real_lm.json]``
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.command import aligned
from experiments.real_lm.panels import load, recorded
from judgelab.core.errors import JudgelabError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores
from judgelab.evaluation_lm.compression import Compression
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.mechanism.gem import Gem
from judgelab.mechanism.gppm import Gppm
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.stats.discrimination.auc import item_auc, macro_auc
from judgelab.stats.discrimination.effect_size import group_difference, paired_effect_size
from judgelab.stats.intervals.estimate import Estimate
from judgelab.store.cache import CallCache
from judgelab.store.cached_lm import Cached
from judgelab.study.common.groups import groups

ITEMS = {"opus": 24, "samsum": 10}
"""Domains and how many of their first items."""

RAW: tuple[Mechanism, ...] = (TvdMi(Prompt("tvd_mi.txt"), critic="likelihood"), Mi(), Gppm())
GEM: Mechanism = Gem(Prompt("second_opinion.txt"), name="gem_raw", truncate=10_000, reads="raw")
LARGE = {"tvd_mi": "gpt-4o-mini", "mi": "llama-3.3-70b", "gppm": "llama-3.3-70b"}
"""Who made the recorded scores."""

NOTES = (
    "Estimators under one name: gem_raw of smollm2 goes through its chat template and counts the",
    "end token, a compressor has neither; tvd_mi is by the likelihood critic, the released one by",
    "labels.",
    "An item whose recorded calls did not all succeed is unscored, with all of its texts.",
)

Row = dict[str, Any]


def lms(names: Sequence[str], model: str) -> Iterator[tuple[str, EvaluationLM, EvaluationLM]]:
    """Name, the LM for texts as they are, the LM for GEM; one in memory at a time."""
    if "compression" in names:
        yield "compression", Compression(), Compression()
    if "smollm2" in names:
        yield "smollm2", Transformers(model), Transformers(model, template="chat")


def figures(panel: Panel, scores: Scores) -> dict[str, Estimate]:
    """Item AUC and d between good-faith and problematic agents, with intervals over items."""
    group = groups(panel, "corrected")
    values = scores.agent.values
    return {
        "auc": macro_auc(item_auc(values, group.good, group.bad), 2000, 0),
        "d": paired_effect_size(group_difference(values, group.good, group.bad), 2000, 0),
    }


def row(domain: str, mechanism: Mechanism, lm: str, panel: Panel, scores: Scores) -> Row:
    """One line of the table."""
    found = figures(panel, scores)
    return {
        "domain": domain,
        "mechanism": mechanism.name,
        "lm": lm,
        "items": found["auc"].n,
        "agents": len(panel.agents),
        "unscored_texts": int(np.isnan(scores.agent.values).sum()),
        **{
            f"{name}_{part}": getattr(one, part)
            for name, one in found.items()
            for part in ("value", "low", "high", "n", "unscored")
        },
    }


def measure(options: argparse.Namespace) -> list[Row]:
    """All rows, domain by domain and LM by LM."""
    rows: list[Row] = []
    cache = CallCache(options.cache)
    for domain in options.domains:
        items = options.items or ITEMS[domain]
        whole, panel, agents = load(options.data, domain, items, options.agents)
        for mechanism in RAW:
            scores = recorded(options.data, mechanism, whole, agents)
            rows.append(row(domain, mechanism, LARGE[mechanism.name], panel, scores))
        for name, raw, chat in lms(options.lms, options.model):
            for lm, mechanisms in ((raw, RAW), (chat, (GEM,))):
                began, kept = time.perf_counter(), Cached(lm, cache)
                for mechanism in mechanisms:
                    made = mechanism.score(mechanism.measure(panel, kept, seed=0))
                    rows.append(row(domain, mechanism, name, panel, made))
                    print(_line(rows[-1]), flush=True)
                seconds = time.perf_counter() - began
                print(f"{domain} {name}: {kept.count}, {seconds:.0f} s", flush=True)
                lm.close()
    return rows


def _line(found: Row) -> str:
    return f"{found['domain']} {found['mechanism']} {found['lm']}: AUC {_shown(found, 'auc')}"


def _shown(found: Row, name: str) -> str:
    value, low, high = (found[f"{name}_{part}"] for part in ("value", "low", "high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def table(rows: Sequence[Row]) -> str:
    """The rows side by side, sorted by domain and mechanism."""
    head = ["domain", "mechanism", "LM", "items", "agents", "unscored texts", "item AUC", "d"]
    body = [
        [
            *(str(r[k]) for k in ("domain", "mechanism", "lm", "items", "agents")),
            str(r["unscored_texts"]),
            _shown(r, "auc"),
            _shown(r, "d"),
        ]
        for r in sorted(rows, key=lambda r: (r["domain"], r["mechanism"]))
    ]
    shown = [dict(zip(head, cells, strict=True)) for cells in body]
    return aligned("95 % intervals over items", shown, NOTES)


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description="A small real LM beside a compressor.")
    parser.add_argument("--data", required=True, help="the TVD-MI authors' release, either layout")
    parser.add_argument("--model", default="outputs/models/smollm2")
    parser.add_argument("--lms", nargs="+", default=["compression", "smollm2"])
    parser.add_argument("--domains", nargs="+", default=list(ITEMS), choices=list(ITEMS))
    parser.add_argument("--items", type=int, help="of every domain, instead of the chosen numbers")
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--cache", type=Path, default=Path("outputs/cache/real_lm.sqlite"))
    parser.add_argument("--out", type=Path, default=Path("outputs/real_lm.json"))
    options = parser.parse_args()
    try:
        rows = measure(options)
    except JudgelabError as fault:
        raise SystemExit(f"error: {fault}") from fault
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
