"""Pairs per second of ``rows``, ``kv``, ``tree``, and of lm-evaluation-harness on the same pairs.

A random-weight Llama of 60 million parameters in fp32, or the model of a folder (SmolLM2), scores
three jobs:

* gem: a prefix of 300 tokens, responses of 100; every response given every other, and alone;
* long: one prefix of 1,024 tokens, 32 targets of 64;
* paper: one prefix of 4,096 tokens, 32 targets of 64.

Every side gets texts and does its own tokenising. Each measurement is a process of its own, so
that its peak memory is its own; it also times ``torch.matmul`` right before and after, with the
same threads: the best one is the peak, which short bursts of a processor's clock may reach, and the
median is what the machine sustains. The fast ways run the whole job; ``rows`` and lm-eval run an
evenly spaced part of its pairs (all pairs of a job are of one length, so each costs them the same),
and all sums are compared. "Useful" FLOPs count every shared token once and the LM head only where
a token is predicted. With one thread, seconds of the processor are given too: on a machine that
others use, they show what the wall clock hides.

Run: ``python -m experiments.bench.scoring [--threads 1] [--rounds 3] [--out FILE]``
(lm-eval is optional: ``pip install lm-eval==0.4.13``.)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from experiments.bench.jobs import JOBS, SEED, Shape, law, one_token_words, useful_flops

RANDOM = Shape(vocabulary=32_000, hidden=512, inner=1536, layers=8, keys=512)
HEADS = 8
VARIANTS = ("rows", "kv", "tree", "lm_eval")
SAME = 5e-5  # nats a token of the target


def make_model(folder: Path) -> None:
    """Save the random Llama with a tokenizer of whole words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=RANDOM.vocabulary,
        hidden_size=RANDOM.hidden,
        intermediate_size=RANDOM.inner,
        num_hidden_layers=RANDOM.layers,
        num_attention_heads=HEADS,
        max_position_embeddings=8192,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    vocabulary = {"<unk>": 0, "<end>": 1, **{f"w{i}": i + 2 for i in range(RANDOM.vocabulary - 2)}}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", eos_token="<end>", pad_token="<end>"
    )
    wrapped.save_pretrained(folder)


def worker(folder: str, name: str, variant: str, threads: int, repeats: int) -> dict[str, Any]:
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
    peaks, walls, cpus = [*_peaks()], [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        totals = run(contexts, targets, pairs)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        peaks += _peaks()
    return {
        "pairs": len(pairs),
        "wall": min(walls),
        "cpu": min(cpus),
        "peak_wall": max(p[0] for p in peaks),
        "peak_cpu": max(p[1] for p in peaks),
        "sustained_wall": statistics.median(p[0] for p in peaks),
        "sustained_cpu": statistics.median(p[1] for p in peaks),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "totals": {f"{c},{t}": total for (c, t), total in zip(pairs, totals, strict=True)},
    }


Run = Callable[[list[str], list[str], list[tuple[int, int]]], list[float]]


def _ours(folder: str, backend: str) -> Run:
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


def _peaks(size: int = 2048, times: int = 12) -> list[tuple[float, float]]:
    """FLOP/s of each of some torch.matmul in fp32, by wall clock and by processor time."""
    import torch

    a, b = torch.randn(size, size), torch.randn(size, size)
    found = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        torch.matmul(a, b)
        walls, cpus = time.perf_counter() - wall, time.process_time() - cpu
        found.append((2 * size**3 / walls, 2 * size**3 / cpus))
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Every job and side in processes of their own, round by round; the best round of each."""
    variants = [v for v in options.sides if v != "lm_eval" or _version("lm_eval")]
    if variants != options.sides:
        print("left out: lm_eval, which is not installed (pip install -e '.[bench]')", flush=True)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = options.model or made
        if options.model is None:
            make_model(Path(made))
        shape = Shape.of(Path(folder))
        for _ in range(options.rounds):
            for name in options.jobs:
                for variant in variants:
                    new = _spawn(folder, name, variant, options)
                    old = found.setdefault((name, variant), new)
                    kept = new if new["wall"] < old["wall"] else old
                    found[name, variant] = kept | {
                        "memory_mb": max(old["memory_mb"], new["memory_mb"])
                    }
    jobs = {
        n: _summary(n, shape, {v: found[n, v] for v in variants}, options) for n in options.jobs
    }
    packages = ("torch", "transformers", "lm_eval", "numpy")
    return {
        "model": options.model or "random",
        "shape": asdict(shape),
        "jobs": jobs,
        "threads": options.threads,
        "rounds": options.rounds,
        "repeats": options.repeats,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        "versions": {name: _version(name) for name in packages},
    }


def _spawn(folder: str, name: str, variant: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "experiments.bench.scoring", "--worker", folder, name, variant]
    command += ["--threads", str(options.threads), "--repeats", str(options.repeats)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} {variant} failed:\n{done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    speed = result["pairs"] / result["wall"]
    print(f"{name:6} {variant:8} {speed:7.2f} pairs/s {result['memory_mb']:6.0f} MB", flush=True)
    return result


def _summary(
    name: str, shape: Shape, sides: dict[str, dict[str, Any]], options: argparse.Namespace
) -> dict[str, Any]:
    job = JOBS[name]
    flops = useful_flops(job, shape) / len(job.texts(["w"])[2])  # per pair
    clocks = ("wall", "cpu") if options.threads == 1 else ("wall",)
    table: dict[str, Any] = {}
    for variant, side in sides.items():
        row: dict[str, Any] = {"pairs": side["pairs"], "memory_mb": round(side["memory_mb"])}
        for clock in clocks:
            speed = side["pairs"] / side[clock]
            row[clock] = {
                "pairs_per_second": round(speed, 3),
                "share_of_matmul_peak": round(speed * flops / side[f"peak_{clock}"], 3),
                "share_of_matmul_sustained": round(speed * flops / side[f"sustained_{clock}"], 3),
                "matmul_peak_gflops": round(side[f"peak_{clock}"] / 1e9, 1),
                "matmul_sustained_gflops": round(side[f"sustained_{clock}"] / 1e9, 1),
            }
            if "lm_eval" in sides:
                peer = sides["lm_eval"]["pairs"] / sides["lm_eval"][clock]
                row[clock]["times_lm_eval"] = round(speed / peer, 2)
        if "rows" in sides:
            row["off_rows_nats"] = _off(side["totals"], sides["rows"]["totals"], job.target)
        table[variant] = row
    return {
        "job": asdict(job),
        "useful_gflop_per_pair": round(flops / 1e9, 3),
        "law": round(law(job), 2),
        "sides": table,
    }


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
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--sides", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--model", help="folder of a Llama, instead of random weights")
    parser.add_argument("--worker", nargs=3, metavar=("FOLDER", "JOB", "SIDE"))
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(worker(*options.worker, options.threads, options.repeats)))
        return
    result = measure(options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1), encoding="utf-8")
    for name, job in result["jobs"].items():
        times = job["sides"].get("tree", {}).get("wall", {}).get("times_lm_eval")
        if times is not None:
            verdict = "met" if times >= JOBS[name].goal else "missed"
            print(f"{name}: tree is {times} times lm-eval (goal {JOBS[name].goal:g}: {verdict})")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
