"""Does a vLLM server report the log-probabilities that ``evaluation_lm=transformers`` computes?

    pip install vllm          # or a CPU build of it, in an environment of its own
    make smollm2
    python -m vllm.entrypoints.openai.api_server --model outputs/models/smollm2 --dtype float32
    python -m experiments.check_vllm

Compares both ways a server may report them (echo, prompt_logprobs) over texts with and without
ASCII, and ends with 1 where a text differs by more than 1e-3 nats.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from judgelab.config import build
from judgelab.endpoint.limits import Limits
from judgelab.endpoint.logprobs import Mode
from judgelab.evaluation_lm.openai import OpenAI

CONTEXTS = ("Summaries:\n", "Summaries:\nFog stopped the ferry, the naïve 日本 crew said.\n")
TARGETS = ("The ferry was late because of fog.", "Über die Brücke, 日本!", "No", "Two\nlines here")
WITHIN = 1e-3  # nats a text


def main() -> int:
    """Print the largest difference of each mode."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000/v1")
    parser.add_argument("--model", default="outputs/models/smollm2", help="as served, a folder")
    options = parser.parse_args()
    pairs = [(c, t) for c in range(len(CONTEXTS)) for t in range(len(TARGETS))]
    node = {"model": options.model, "dtype": "float32", "chat": False}
    local = build(
        {"_target_": "judgelab.evaluation_lm.transformers.Transformers", **node}, "evaluation_lm"
    )
    expected = local.logprob(CONTEXTS, TARGETS, pairs)
    local.close()
    worst = 0.0
    modes: tuple[Mode, ...] = ("echo", "prompt")
    for mode in modes:
        lm = OpenAI(options.model, options.url, Limits(), api_key_env=None, logprobs=mode)
        found = lm.logprob(CONTEXTS, TARGETS, pairs)
        lm.close()
        gap = float(np.abs(found.total - expected.total).max())
        same = bool((found.tokens == expected.tokens).all())
        print(
            f"{mode}: {len(pairs)} texts, largest difference {gap:.2e} nats, tokens equal: {same}"
        )
        worst = max(worst, gap if same else np.inf)
    return int(not worst <= WITHIN)


if __name__ == "__main__":
    sys.exit(main())
