"""Does scoring on this GPU give the right numbers, and how fast? One command, one table.

A Llama of the 8B shape with random weights, stored in bf16, scores every response of an item given
every other, as GEM does: by its chat template, end token included. Each side is a process of its
own with the same texts:

* ``rows`` and ``tree``: one sequence at a time, and the all-pairs engine, in bf16;
* ``rows nf4`` and ``tree nf4``: the same weights in 4 bits;
* ``vllm``: vLLM's prompt log-probabilities in bf16, where vLLM is installed.

Printed are pairs a second, the GPU's peak memory, and the difference in nats per token to ``rows``
of the same precision: the mean of its size, its mean, the largest. (``rows nf4`` is held against
``rows``: what 4 bits cost.) A mean size above the limit fails the command: a wrong mask or position
or a dropped token is off by far more than the rounding of bf16. docs/howto/gpu.md shows an H100's.

Run: ``make check-gpu``, or ``python -m experiments.check_gpu [--shape 8b] [--out FILE]``.
``--shape tiny`` runs it on any CPU in a minute, which checks the command and not a GPU.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from experiments.command import aligned
from experiments.random_llama import SHAPES, save_model, texts
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.finetune.settings import versions

SIDES = ("rows", "tree", "rows nf4", "tree nf4", "vllm")
AGAINST = {"tree": "rows", "tree nf4": "rows nf4", "vllm": "rows"}
LIMIT = (
    0.02  # nats per token, mean over pairs of the difference's size: 2 units of bf16's last place
)


@dataclass(frozen=True)
class Job:
    """Words of the prompt and of each response, and how many of these there are."""

    prompt: int
    response: int
    responses: int

    def texts(self) -> tuple[list[str], list[str], list[tuple[int, int]]]:
        """Contexts (the prompt with one response, and alone), targets, and all pairs of two."""
        words = " ".join(texts()).split()
        draw = random.Random(0)

        def stretch(length: int) -> str:
            start = draw.randrange(len(words) - length)
            return " ".join(words[start : start + length])

        prompt, n = stretch(self.prompt), self.responses
        responses = [stretch(self.response) for _ in range(n)]
        contexts = [prompt, *(f"{prompt}\n{response}\n" for response in responses)]
        return contexts, responses, [(c, t) for c in range(n + 1) for t in range(n) if c != t + 1]


JOBS = {"8b": Job(220, 75, 30), "tiny": Job(20, 6, 4)}


def worker(folder: str, side: str, shape: str) -> dict[str, Any]:
    """One side in this process: its sums, how long they took, and what they held."""
    job, start = JOBS[shape], time.perf_counter()
    contexts, targets, pairs = job.texts()
    lm = _lm(folder, side)
    lm.logprob(contexts[:1], targets[:1], [(0, 0)])  # loads, and compiles what is compiled
    ready = time.perf_counter()
    table = lm.logprob(contexts, targets, pairs)
    seconds = time.perf_counter() - ready
    torch = require("torch", extra="local")
    peak = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    facts = dict(lm.facts)
    lm.close()
    return {
        "seconds_to_load": round(ready - start, 2),
        "seconds": round(seconds, 3),
        "pairs": len(pairs),
        "pairs_per_second": round(len(pairs) / seconds, 2),
        "tokens": int(table.tokens.sum()),
        # vLLM takes a fixed share in a process of its own, which says nothing of its need
        "peak_memory_gib": round(peak / 2**30, 2) if peak and side != "vllm" else None,
        "backend": facts.get("backend", "vllm"),
        "nats_per_token": table.per_token.tolist(),
    }


def _lm(folder: str, side: Any) -> Any:
    if side == "vllm":
        from judgelab.evaluation_lm.vllm import VLLM

        return VLLM(folder, dtype="bfloat16", max_length=4096, template="chat", end_token=True)
    from judgelab.evaluation_lm.transformers import Transformers

    backend, _, quantization = side.partition(" ")
    return Transformers(
        folder,
        dtype="bfloat16",
        quantization=quantization or "none",
        template="chat",
        end_token=True,
        backend=backend,
        tolerance=float("inf"),  # the difference is what is measured here
    )


def measure(folder: str, shape: str, sides: Sequence[str] = SIDES) -> dict[str, Any]:
    """The sides, each held against its yardstick.

    A side that cannot run is there with its reason.
    """
    rows: dict[str, Any] = {}
    for side in sides:
        if side == "vllm" and find_spec("vllm") is None:
            rows[side] = {"left_out": "vLLM is not installed: pip install vllm"}
            print(f"{side}: {_went(rows[side])}", flush=True)
            continue
        command = [sys.executable, "-m", "experiments.check_gpu", "--shape", shape]
        command += ["--worker", folder, side]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            rows[side] = json.loads(process.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            rows[side] = {"failed": process.stderr[-2000:] or f"exit code {process.returncode}"}
        print(f"{side}: {_went(rows[side])}", flush=True)
    for side, yardstick in (*AGAINST.items(), ("rows nf4", "rows")):
        values = [rows.get(one, {}).get("nats_per_token") for one in (side, yardstick)]
        if all(values):
            rows[side] |= {"against": yardstick, **off(*values)}
    for row in rows.values():
        row.pop("nats_per_token", None)
    return rows


def off(values: Sequence[float], yardstick: Sequence[float]) -> dict[str, float]:
    """The difference in nats per token: mean of its size, its mean, and the largest."""
    apart = np.subtract(values, yardstick)
    return {
        "off_mean": float(np.abs(apart).mean()),
        "off_bias": float(apart.mean()),
        "off_most": float(np.abs(apart).max()),
    }


def faults(sides: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong, a sentence each. (What 4 bits cost, ``rows nf4`` against ``rows``, is not.)"""
    lines = [f"{side} failed: {row['failed']}" for side, row in sides.items() if "failed" in row]
    for side, yardstick in AGAINST.items():
        mean = sides.get(side, {}).get("off_mean")
        if mean is not None and not mean <= LIMIT:
            lines.append(f"{side} is {mean:.4f} nats per token off {yardstick}, allowed {LIMIT}.")
    return lines


def page_of(sides: Mapping[str, Mapping[str, Any]]) -> str:
    """The table, and below it the sides that were left out."""
    columns = {"pairs_per_second": "pairs/s", "seconds_to_load": "load s", "peak_memory_gib": "GiB"}
    columns |= {"against": "against", "off_mean": "mean off", "off_bias": "bias"}
    columns |= {"off_most": "most off"}
    rows = [
        {"side": side, **{head: _cell(row.get(key)) for key, head in columns.items()}}
        for side, row in sides.items()
    ]
    absent = [f"{side} {_went(row)}" for side, row in sides.items() if "left_out" in row]
    return aligned("", rows, absent).lstrip()


def _went(row: Mapping[str, Any]) -> str:
    if "left_out" in row:
        return f"left out: {row['left_out']}"
    return f"{row['seconds']} s" if "seconds" in row else "failed"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    """The command; returns the exit code. What is no fault of this program is one sentence."""
    try:
        return check()
    except JudgelabError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1


def check() -> int:
    """Make the model, measure every side, print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shape", choices=list(JOBS), default="8b")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--out", type=Path, default=Path("outputs/check_gpu.json"))
    parser.add_argument("--worker", nargs=2, metavar=("FOLDER", "SIDE"))
    options = parser.parse_args()
    if options.worker:
        folder, side = options.worker
        print(json.dumps(worker(folder, side, options.shape)))
        return 0
    cuda = require("torch", extra="local").cuda
    if options.shape != "tiny" and not cuda.is_available():
        raise ConfigError("This measures a CUDA GPU, and there is none here: use --shape tiny.")
    with tempfile.TemporaryDirectory(prefix="check-gpu-") as folder:
        save_model(Path(folder), SHAPES[options.shape])
        if cuda.is_available():
            cuda.empty_cache()  # of the weights just made
        sides = measure(folder, options.shape, options.sides)
    device = cuda.get_device_name() if cuda.is_available() else "cpu"
    record = {"device": device, "shape": options.shape, "sides": sides, "versions": versions()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"\n{device}, shape {options.shape}, bf16; differences in nats per token")
    print(page_of(sides))
    print("\n".join([*faults(sides), f"written to {options.out}"]))
    return int(bool(faults(sides)))


if __name__ == "__main__":
    sys.exit(main())
