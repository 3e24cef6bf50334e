"""Pairs per second of ``rows``, ``kv``, ``tree``, and of lm-evaluation-harness on the same pairs.

A random-weight Llama of 60 million parameters in fp32, or the model of a folder (SmolLM2), scores
three jobs:

* gem: a prefix of 300 tokens, responses of 100; every response given every other, and alone;
* long: one prefix of 1,024 tokens, 32 targets of 64;
* paper: one prefix of 4,096 tokens, 32 targets of 64.

Every side gets texts and does its own tokenising. Each measurement is a process of its own, so
that its peak memory is its own. The fast ways run the whole job; ``rows`` and lm-eval run an evenly
spaced part of its pairs (all pairs of a job are of one length, so each costs them the same), and
all sums are compared.

Run: ``python -m experiments.bench.scoring [--threads 1] [--rounds 3] [--out FILE]``
(lm-eval is optional: ``pip install lm-eval==0.4.13``.)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from experiments.random_llama import SHAPES, save_model

SEED = 0
VARIANTS = ("rows", "kv", "tree", "lm_eval")
SAME = 5e-5  # nats a token of the target


@dataclass(frozen=True)
class Job:
    """Sizes in tokens; ``part`` pairs are given to the slow sides, ``batch`` rows to lm-eval.

    ``response`` is 0 (the only context is the prefix) or ``target``: the targets also follow the
    prefix, as contexts. ``goal`` is the ratio to lm-eval that is aimed at.
    """

    prefix: int
    response: int
    contexts: int
    target: int
    targets: int
    part: int
    batch: int
    goal: float

    def texts(self, words: Sequence[str]) -> tuple[list[str], list[str], list[tuple[int, int]]]:
        """Contexts, targets (which begin with a space) and pairs.

        Args:
            words: each one token, at the beginning of a text and after a space.
        """
        choice = random.Random(SEED)

        def draw(n: int) -> list[str]:
            return [words[choice.randrange(len(words))] for _ in range(n)]

        prefix, responses = draw(self.prefix), [draw(self.target) for _ in range(self.targets)]
        contexts_of = [[], *responses[: self.contexts]] if self.response else [[]]
        contexts = [" ".join([*prefix, *words]) for words in contexts_of]
        targets = [" " + " ".join(words) for words in responses]
        pairs = [(c, t) for c in range(len(contexts)) for t in range(len(targets)) if c != t + 1]
        return contexts, targets, pairs


JOBS = {
    "gem": Job(300, 100, 30, 100, 30, part=64, batch=8, goal=7.0),
    "long": Job(1024, 0, 1, 64, 32, part=16, batch=8, goal=14.0),
    "paper": Job(4096, 0, 1, 64, 32, part=4, batch=1, goal=28.0),
}


def one_token_words(folder: Path) -> list[str]:
    """Words that are one token of a tokenizer, with and without a space before them."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = sorted({t.lstrip("\u0120") for t in tokenizer.get_vocab()})
    plain = [w for w in own if w.isascii() and w.isalnum() and w.islower()]
    counts = (
        tokenizer([first + w for w in plain], add_special_tokens=False)["input_ids"]
        for first in ("", " ")
    )
    return [w for w, *ids in zip(plain, *counts, strict=True) if all(len(i) == 1 for i in ids)]


def worker(folder: str, name: str, variant: str, threads: int) -> dict[str, Any]:
    """One side on one job, in this process."""
    import torch

    torch.set_num_threads(threads)
    job = JOBS[name]
    words = one_token_words(Path(folder))
    contexts, targets, pairs = job.texts(words)
    if variant in ("rows", "lm_eval"):
        pairs = pairs[:: max(1, len(pairs) // job.part)][: job.part]
    run = _lm_eval(folder, job.batch) if variant == "lm_eval" else _ours(folder, variant)
    run(
        contexts[:1], [f" {' '.join(words[:n])}" for n in (2, 3)], [(0, 0), (0, 1)]
    )  # load, warm up
    start = time.perf_counter()
    totals = run(contexts, targets, pairs)
    return {
        "pairs": len(pairs),
        "wall": time.perf_counter() - start,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "totals": {f"{c},{t}": total for (c, t), total in zip(pairs, totals, strict=True)},
    }


Run = Callable[[list[str], list[str], list[tuple[int, int]]], list[float]]


def _ours(folder: str, backend: Any) -> Run:
    from judgelab.evaluation_lm.transformers import Transformers

    lm = Transformers(folder, backend=backend, dtype="float32", device_map="cpu")
    return lambda contexts, targets, pairs: lm.logprob(contexts, targets, pairs).total.tolist()


def _lm_eval(folder: str, batch: int) -> Run:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    lm = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=batch)

    def run(contexts: list[str], targets: list[str], pairs: list[tuple[int, int]]) -> list[float]:
        requests = [
            Instance("loglikelihood", {}, (contexts[c], targets[t]), i)
            for i, (c, t) in enumerate(pairs)
        ]
        return [float(total) for total, _ in lm.loglikelihood(requests, disable_tqdm=True)]

    return run


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every job and side in processes of their own, round by round; the best round of each."""
    variants = [v for v in options.sides if v != "lm_eval" or _version("lm_eval")]
    if variants != options.sides:
        print("left out: lm_eval, which is not installed (pip install -e '.[bench]')", flush=True)
    best: dict[tuple[str, str], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.model or scratch
        if options.model is None:
            save_model(Path(scratch), SHAPES["60m"])
        for _ in range(options.rounds):
            for name in JOBS:
                for variant in variants:
                    new = _spawn(folder, name, variant, options)
                    old = best.setdefault((name, variant), new)
                    faster = new if new["wall"] < old["wall"] else old
                    best[name, variant] = faster | {
                        "memory_mb": max(old["memory_mb"], new["memory_mb"])
                    }
    jobs = {n: _summary(n, {v: best[n, v] for v in variants}) for n in JOBS}
    packages = ("torch", "transformers", "lm_eval", "numpy")
    return {
        "model": options.model or "random",
        "jobs": jobs,
        "threads": options.threads,
        "rounds": options.rounds,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "versions": {name: _version(name) for name in packages},
    }


def _spawn(folder: str, name: str, variant: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "experiments.bench.scoring", "--worker", folder, name, variant]
    command += ["--threads", str(options.threads)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(options.threads)}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{name} {variant} failed:\n{process.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    speed = result["pairs"] / result["wall"]
    print(f"{name:6} {variant:8} {speed:7.2f} pairs/s {result['memory_mb']:6.0f} MB", flush=True)
    return result


def _summary(name: str, sides: dict[str, dict[str, Any]]) -> dict[str, Any]:
    job = JOBS[name]
    table: dict[str, Any] = {}
    for variant, side in sides.items():
        speed = side["pairs"] / side["wall"]
        row = {"pairs": side["pairs"], "memory_mb": round(side["memory_mb"])}
        row["pairs_per_second"] = round(speed, 3)
        if "lm_eval" in sides:
            peer = sides["lm_eval"]["pairs"] / sides["lm_eval"]["wall"]
            row["times_lm_eval"] = round(speed / peer, 2)
        if "rows" in sides:
            row["off_rows_nats"] = _off(side["totals"], sides["rows"]["totals"], job.target)
        table[variant] = row
    return {"job": asdict(job), "sides": table}


def _off(totals: dict[str, float], rows: dict[str, float], tokens: int) -> float:
    worst = max(abs(totals[pair] - rows[pair]) for pair in totals.keys() & rows.keys())
    if not worst < SAME * tokens:
        raise SystemExit(f"sums differ from rows by {worst} nats: nothing is reported")
    return worst


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main() -> None:
    """Measure and write; or, as a worker, one measurement as a line of JSON."""
    parser = argparse.ArgumentParser(description="Speed of all-pairs log-probabilities.")
    parser.add_argument("--out", type=Path, default=Path("outputs/bench/scoring.json"))
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sides", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--model", help="folder of a Llama, instead of random weights")
    parser.add_argument("--worker", nargs=3, metavar=("FOLDER", "JOB", "SIDE"))
    options = parser.parse_args()
    if options.worker:
        folder, job, side = options.worker
        print(json.dumps(worker(folder, job, side, options.threads)))
        return
    result = measure(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1), encoding="utf-8")
    for name, job in result["jobs"].items():
        times = job["sides"].get("tree", {}).get("times_lm_eval")
        if times is not None:
            verdict = "met" if times >= JOBS[name].goal else "missed"
            print(f"{name}: tree is {times} times lm-eval (goal {JOBS[name].goal:g}: {verdict})")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
