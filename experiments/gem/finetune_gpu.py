"""Whether the GEM paper's fine-tuning runs on a CUDA GPU, and its cost: memory, tokens a second.

A Llama of the 8B shape with random weights is stored in 4 bits as the paper's base is (unsloth's
release: NF4, double quantisation, bf16). Then ``study=finetune`` runs on it with the paper's
settings (conf/finetune/gem_lora.yaml) for some hundred steps on stretches of the shipped samples,
once by each back end. Time and memory are those of the real
model; the loss only shows that something is learnt. It needs about 17 GB of disk and of GPU memory
once, to make the weights. ``make check-finetune-gpu`` is

    python -m experiments.gem.finetune_gpu --out outputs/gem_finetune_gpu.json

It ends with 1 where a back end fails or its loss does not fall. An H100 ran 10 steps of it
(docs/howto/gpu.md). ``--shape tiny --backends peft`` goes the same way on a CPU.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from experiments.random_llama import SHAPES, save_model, texts
from judgelab.config import build
from judgelab.core.errors import ConfigError, JudgelabError, require
from judgelab.finetune.fit import RECORD, release
from judgelab.finetune.settings import Settings, versions

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "conf" / "finetune" / "gem_lora.yaml"
BACKENDS = ("peft", "unsloth")
WORDS = {"8b": 400, "tiny": 60}  # of a review: GEM's preprocessed reviews have about 200 words

STORED: dict[str, Any] = {
    "load_in_4bit": True,
    "bnb_4bit_quant_type": "nf4",
    "bnb_4bit_use_double_quant": True,
}


def make_base(folder: Path, shape: Mapping[str, Any]) -> Path:
    """Random weights of a shape with the samples' tokenizer, stored as unsloth's releases are."""
    torch = require("torch", extra="local")
    library = require("transformers", extra="local")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    save_model(folder / "whole", shape)
    release()
    four = library.BitsAndBytesConfig(**STORED, bnb_4bit_compute_dtype=torch.bfloat16)
    model = library.AutoModelForCausalLM.from_pretrained(
        folder / "whole", quantization_config=four, device_map=device, dtype=torch.bfloat16
    )
    model.save_pretrained(folder / "nf4")
    library.AutoTokenizer.from_pretrained(folder / "whole").save_pretrained(folder / "nf4")
    shutil.rmtree(folder / "whole")
    del model
    release()
    return folder / "nf4"


def make_papers(file: Path, words: int) -> Path:
    """Three stretches of the samples' text a paper, and a synopsis: lengths are what matters."""
    stream = " ".join(texts()).split()
    size = 3 * words + 100
    lines = []
    for k in range(min(len(stream) // size, 60)):
        part = stream[k * size : (k + 1) * size]
        reviews = {f"r{j}": " ".join(part[j * words : (j + 1) * words]) for j in range(3)}
        row = {"id": f"p{k}", "source": f"Paper {k}", "synopsis": " ".join(part[-100:])}
        lines.append(json.dumps(row | {"responses": reviews}))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def overrides(base: Path, papers: Path, backend: str, options: argparse.Namespace) -> list[str]:
    """The study with the paper's settings; the base, the data and the length are given."""
    return [
        *("study=finetune", "finetune@study.settings=gem_lora", "preprocessor=identity"),
        *("dataset=jsonl", f"dataset.path={papers}", "dataset.task=peer_review", "tracker=none"),
        *(f"study.settings.model={base}", f"study.settings.backend={backend}"),
        *(f"study.settings.max_steps={options.steps}", *options.set),
        f"study.settings.evaluate_every={options.steps}",
    ]


def train(root: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """What a training took, and whether its loss fell; ``error`` where it failed."""
    command = [sys.executable, "run.py", *overrides, f"paths.root={root}"]
    print(f"\n$ python {' '.join(command[1:])}", flush=True)
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    runs = [file.parent for file in root.glob("runs/*/DONE")]
    if code or len(runs) != 1:
        return {"error": f"exit code {code}; its message is printed above"}
    (folder,) = runs
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))["training"]
    summary = json.loads((folder / "result.json").read_text(encoding="utf-8"))["summary"]
    losses = [row["held_out_loss"] for row in record["curve"] if "held_out_loss" in row]
    return {
        "backend": summary["backend"],
        "steps": record["steps"],
        "tokens": record["tokens"],
        "seconds_evaluations_included": round(record["seconds"], 2),
        "tokens_per_second": round(record["tokens"] / record["seconds"], 1),
        "peak_memory_gib": record["peak_gib"],
        "held_out_loss_in_training": [losses[0], losses[-1]],
        "held_out_loss_scored": [summary["before/loss"], summary["after/loss"]],
        "falls": losses[-1] < losses[0] and summary["after/loss"] < summary["before/loss"],
        "curve": record["curve"],
    }


def measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Make the base, train it by each back end, and report.

    Raises:
        ConfigError: a GPU is needed, and there is none.
    """
    cuda = require("torch", extra="local").cuda
    if options.shape != "tiny" and not cuda.is_available():
        raise ConfigError("This needs a CUDA GPU, and there is none here (--shape tiny does not).")
    settings: Settings = build(yaml.safe_load(SETTINGS.read_text(encoding="utf-8")), "finetune")
    base = make_base(work, SHAPES[options.shape])
    papers = make_papers(work / "papers.jsonl", WORDS[options.shape])
    trainings = {
        name: train(work / name, overrides(base, papers, name, options))
        for name in options.backends
    }
    return {
        "device": cuda.get_device_name() if cuda.is_available() else "cpu",
        "shape": dict(SHAPES[options.shape]),
        "settings": settings.plain | {"model": "random weights, stored in nf4"},
        "given": options.set,
        "backends": trainings,
        "versions": versions(),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write the JSON; 1 where a back end failed or did not learn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--shape", choices=WORDS, default="8b")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--set", nargs="*", default=[], help="more overrides of the study")
    parser.add_argument("--out", type=Path, default=Path("outputs/gem_finetune_gpu.json"))
    options = parser.parse_args(argv)
    work = Path(tempfile.mkdtemp(prefix="finetune-"))
    try:
        record = measure(options, work)
    except JudgelabError as cause:
        print(cause, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(work)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name, one in record["backends"].items():
        print(name, {key: value for key, value in one.items() if key != "curve"})
    return 0 if all(one.get("falls") for one in record["backends"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
