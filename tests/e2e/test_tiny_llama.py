"""The model that `evaluation_lm=tiny_llama` names is made by the command that its YAML names."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

ROOT = Path(__file__).resolve().parents[2]


def test_command_of_the_hint_makes_a_model_that_scores_and_answers(tmp_path: Path) -> None:
    from judgelab.evaluation_lm.protocol import ChatRequest, Message
    from judgelab.evaluation_lm.transformers import Transformers

    config = yaml.safe_load((ROOT / "conf/evaluation_lm/tiny_llama.yaml").read_text())
    named = re.search(r"`python (.*)`", config["hint"])
    assert named is not None
    command = [
        sys.executable,
        *shlex.split(named[1]),
        "--steps",
        "20",
        "--out",
        str(tmp_path / "m"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    loss = re.search(r"loss ([\d.]+) nats", done.stdout)
    assert loss is not None and float(loss[1]) < 7.4, "below ln 2048 = 7.6, where it starts"
    assert not list((tmp_path / "m").glob("*.bin"))
    del config["_target_"]
    lm = Transformers(**{**config, "model": str(tmp_path / "m")})
    table = lm.logprob(["Summaries:\n"], ["The bridge is shut.", "zqxj vvk"], [(0, 0), (0, 1)])
    assert np.isfinite(table.total).all() and table.per_token[0] > table.per_token[1]
    assert lm.facts["backend"] == "tree"
    (reply,) = lm.chat([ChatRequest((Message("user", "Why?"),), max_tokens=4)])
    assert reply.output_tokens is not None and reply.output_tokens <= 4
