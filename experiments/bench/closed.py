"""Closed questions of a real chat LM per second: by label probabilities, and by greedy generation.

Shipped dialogues with rule-based summaries are put to SmolLM2 as four mechanisms put them, each in
both forms as it runs by default: by labels, an item's questions in one call; and generated, each
reply to its end or to the mechanism's bound, by the prompt for it (the critic's and the judge's ask
for reasons first). Labels answer all questions of the items; generation, as it is slow, a part of
them, evenly spaced: its questions do not share work, so a part tells the rate. Where both forms put
the same prompt, the verdicts of replies that begin with a label are compared.

Run: ``python -m experiments.bench.closed [--model FOLDER] [--threads 1] [--out FILE]``
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir

from judgelab.agents.rules import Rules
from judgelab.config import build, resolved
from judgelab.core.closed_questions import closed_batches
from judgelab.core.lm import ChatRequest, Reply, WrappedLM
from judgelab.core.panel import Panel
from judgelab.evaluation_lm.transformers import Transformers

ROOT = Path(__file__).resolve().parents[2]
SMOLLM2 = ROOT / "outputs" / "models" / "smollm2"
JOBS = ("tvd_mi", "judge", "pairwise", "pointwise5", "pointwise100")
GOAL = 20.0  # times as fast as generation, of questions whose replies are reasons and a label


class Requested(WrappedLM):
    """Notes the questions of a mechanism, and answers none."""

    def __init__(self, lm: Transformers) -> None:
        super().__init__(lm)
        self.requests: list[ChatRequest] = []

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """No answers."""
        self.requests += requests
        return [Reply(None, "only noted") for _ in requests]


def questions(lm: Transformers, panel: Panel, name: str, reply: str) -> list[ChatRequest]:
    """What a mechanism asks about the panel, as configured."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        node = resolved(compose("config", overrides=[f"mechanism={name}"]))["mechanism"]
    recording = Requested(lm)
    replace(build(node, "mechanism"), reply=reply).measure(panel, recording, seed=0)
    return recording.requests


def dialogues(items: int, agents: int) -> Panel:
    """Shipped dialogues, with texts by the first so many rule-based agents."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        node = resolved(compose("config", overrides=["dataset=samsum"]))["dataset"]
    panel = Rules().answer(build(node, "dataset").load(limit=items))
    texts = tuple(row[:agents] for row in panel.texts)
    return replace(panel, agents=panel.agents[:agents], texts=texts)


def measure(lm: Transformers, panel: Panel, name: str, part: int) -> dict[str, Any]:
    """Questions per second of both forms, and the longest generated reply."""
    closed = questions(lm, panel, name, "labels")
    start = time.perf_counter()
    replies: dict[int, Reply] = {}
    for batch in closed_batches(closed):
        replies |= zip(batch, lm.chat([closed[index] for index in batch]), strict=True)
    labels = len(closed) / (time.perf_counter() - start)
    written = questions(lm, panel, name, "generated")
    places = list(range(0, len(written), max(1, len(written) // part)))[:part]
    start = time.perf_counter()
    said = lm.chat([written[place] for place in places])
    generated = len(places) / (time.perf_counter() - start)
    tokens = [reply.output_tokens or 0 for reply in said]
    row = {
        "questions": len(closed),
        "labels_per_second": round(labels, 3),
        "generated": len(places),
        "generated_per_second": round(generated, 4),
        "tokens_of_a_reply": round(sum(tokens) / len(tokens), 1),
        "times_generation": round(labels / generated, 1),
        "no_reply_to_its_end": sum(reply.text is None for reply in said),
    }
    return row | _agreement(closed, written, replies, dict(zip(places, said, strict=True)))


def _agreement(
    closed: list[ChatRequest],
    written: list[ChatRequest],
    labels: Mapping[int, Reply],
    said: Mapping[int, Reply],
) -> dict[str, int]:
    """Replies that begin with a label, and how many of those are the label found without them."""
    begun = same = 0
    for place, reply in said.items():
        text = reply.text or ""
        first = [label for label in closed[place].labels if text.startswith(label)]
        if first and closed[place].messages == written[place].messages:
            begun += 1
            same += max(first, key=len) == labels[place].text
    return {"begin_with_a_label": begun, "same_label": same}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description="Speed of closed questions.")
    parser.add_argument("--model", type=Path, default=SMOLLM2)
    parser.add_argument("--out", type=Path, default=Path("outputs/bench/closed.json"))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--items", type=int, default=2)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--part", type=int, default=8, help="replies to generate for each job")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    options = parser.parse_args()
    if not (options.model / "config.json").is_file():
        raise SystemExit(f"{options.model} holds no model: run `make smollm2`, or give --model.")
    lm = Transformers(str(options.model), device_map="cpu", threads=options.threads)
    panel = dialogues(options.items, options.agents)
    lm.chat(questions(lm, panel, "pairwise", "labels")[:2])  # load, check, warm up
    jobs: dict[str, Any] = {}
    for name in options.jobs:
        row = jobs[name] = measure(lm, panel, name, options.part)
        print(
            f"{name:12} labels {row['labels_per_second']:7.2f}/s  generated "
            f"{row['generated_per_second']:7.3f}/s ({row['tokens_of_a_reply']:.0f} tokens)  "
            f"{row['times_generation']:6.1f} times",
            flush=True,
        )
    for name, row in jobs.items():
        verdict = "met" if row["times_generation"] >= GOAL else "missed"
        print(f"{name}: {row['times_generation']:.1f} times (goal {GOAL:g}: {verdict})")
    facts = {"goal": GOAL, "threads": options.threads, "cores": os.cpu_count()}
    facts |= {"load": os.getloadavg()[0], "python": platform.python_version()}
    facts |= {name: version(name) for name in ("torch", "transformers")}
    result = {"jobs": jobs, "model": lm.identity, "backend": lm.facts["backend"], **facts}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
