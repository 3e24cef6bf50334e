"""What the GEM paper's fine-tuning costs on a CUDA GPU: memory, tokens per second, the loss.

A Llama of the 8B shape with random weights, stored in bf16, loaded in 4 bits (NF4) and fine-tuned
by the paper's settings (conf/finetune/gem_lora.yaml) for some hundred steps on the shipped sample,
through the same code as ``study=finetune``. Random weights and a vocabulary of which the sample's
tokenizer uses little: time and memory are those of the real model, the loss only shows that
something is learnt. It needs about 17 GB of disk and of GPU memory once, to make the weights.

Not run yet: no file under experiments/gem stems from it until a GPU has run

    python -m experiments.gem.finetune_gpu [--steps 300] [--out experiments/gem/finetune_gpu.json]

The JSON it writes says on which device, with which versions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from experiments.random_llama import make_tokenizer, texts
from judgelab.config import build
from judgelab.errors import ConfigError, require
from judgelab.finetune import data
from judgelab.finetune.base import check, source
from judgelab.finetune.card import versions
from judgelab.finetune.fit import fit, release
from judgelab.finetune.settings import Settings
from judgelab.finetune.split import Split, split
from judgelab.finetune.watch import Watch
from judgelab.panel import Agent, Item, Panel
from judgelab.store.run_dir import RunDir

SETTINGS = Path(__file__).resolve().parents[2] / "conf" / "finetune" / "gem_lora.yaml"
SHAPE: dict[str, Any] = {  # Llama-3.1-8B
    "vocab_size": 128256,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
}
WORDS = 400  # of a review: GEM's preprocessed reviews have about 200 words


def make_base(folder: Path, shape: dict[str, Any]) -> None:
    """Random weights of a shape, in bf16, with the sample's tokenizer."""
    torch = require("torch", extra="local")
    library = require("transformers", extra="local")
    tokenizer = make_tokenizer(texts())
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    torch.manual_seed(0)
    config = library.LlamaConfig(**shape, **ends, pad_token_id=tokenizer.eos_token_id)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        torch.set_default_dtype(torch.bfloat16)
        model = library.LlamaForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def papers(settings: Settings, words: int) -> Split:
    """Three stretches of the samples' text a paper, and a synopsis: lengths are what matters."""
    stream = " ".join(texts()).split()
    size = 3 * words + 100
    count = len(stream) // size
    parts = [stream[k * size : (k + 1) * size] for k in range(count)]
    panel = Panel(
        items=tuple(
            Item(f"p{k}", "", synopsis=" ".join(part[-100:])) for k, part in enumerate(parts)
        ),
        agents=tuple(Agent(f"r{j}") for j in range(3)),
        texts=tuple(
            tuple(" ".join(part[j * words : (j + 1) * words]) for j in range(3)) for part in parts
        ),
    )
    return split(data.chosen(panel, 3, settings.seed), 0.1, settings.seed)


def measure(settings: Settings, work: Path, words: int) -> dict[str, Any]:
    """Train, and report what it took."""
    torch = require("torch", extra="local")
    backend = check(settings)
    base = source(settings)
    parts = papers(settings, words)
    encoder = data.encoder(settings, base.folder)
    rows, held = (
        data.sequences(list(data.examples(part, settings.prompt)), encoder, settings)
        for part in (parts.train, parts.held_out)
    )
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    watch = Watch(lambda line, calls: print(line, flush=True))
    found = fit(settings, base, backend, rows.rows, held.rows, RunDir(work), "gpu", watch)
    return {
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "backend": backend,
        "settings": settings.plain | {"model": "random weights"},
        "steps": found.steps,
        "tokens": found.tokens,
        "seconds_evaluations_included": round(found.seconds, 2),
        "tokens_per_second": round(found.tokens / found.seconds, 1),
        "peak_memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2) if cuda else None,
        "mean_tokens_of_a_prompt": round(rows.tokens / len(rows.rows), 1),
        "curve": list(found.curve),
        "versions": versions(),
    }


def main() -> None:
    """Make the model, train it, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--backend", choices=("peft", "unsloth", "auto"), default="peft")
    parser.add_argument("--out", type=Path, default=Path("experiments/gem/finetune_gpu.json"))
    options = parser.parse_args()
    if not require("torch", extra="local").cuda.is_available():
        raise ConfigError("This measures a CUDA GPU, and there is none here.")
    settings: Settings = build(yaml.safe_load(SETTINGS.read_text(encoding="utf-8")), "finetune")
    work = Path(tempfile.mkdtemp(prefix="finetune-"))
    try:
        make_base(work / "base", SHAPE)
        release()
        settings = replace(
            settings,
            model=str(work / "base"),
            backend=options.backend,
            quantization="nf4",
            dtype="bfloat16",
            max_steps=options.steps,
            evaluate_every=options.steps,
        )
        found = measure(settings, work, WORDS)
    finally:
        shutil.rmtree(work)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print({key: found[key] for key in ("device", "tokens_per_second", "peak_memory_gib")})


if __name__ == "__main__":
    main()
