"""What fine-tuning does to GEM on a small real LM: held-out loss, held-out GEM, effect sizes.

A third of the papers is held out. The base and the fine-tuned LM predict the reviews of these
papers (study=finetune), and then judge them whole, with half of their sentences gone, and
exchanged for reviews of other papers (study=validation). Every step is a command of run.py, which
is printed before it runs; a step that finished is not repeated.

    python -m experiments.gem.finetune_smollm2 --data FILE --papers 150

FILE is gem_iclr2023_300x3_reviews.parquet, or a clone of the authors' repository. Texts are the
authors' preprocessed reviews (review_summary), so that no second LM has a part in it; sentences are
deleted from these, where the paper deletes them before preprocessing.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.command import aligned
from judgelab.core.errors import JudgelabError

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ("sentence_deletion", "random_replacement")
CANDIDATE, REFERENCES = "text 2", ("text 1", "text 3")
"""As released: the second review is judged by the first and the third."""

LABELS = {
    "loss": "held-out loss, nats per token",
    "gem": "GEM of held-out pairs, nats",
}


def training(options: argparse.Namespace) -> list[str]:
    """Overrides of the command that trains."""
    return [
        *("study=finetune", "finetune@study.settings=smollm2", "study.held_out=0.3333"),
        *("dataset=gem_released", f"dataset.path={written(options.data)}"),
        *("dataset.text=review_summary", "preprocessor=identity", f"limit={options.papers}"),
        *(f"study.settings.model={written(options.model)}", *options.set),
    ]


def validation(options: argparse.Namespace, held_out: Path, attack: str, adapter: Any) -> list[str]:
    """Overrides of a command that measures an effect size on the held-out papers."""
    references = ",".join(REFERENCES)
    lm = {"model": options.model, "adapter": adapter, "chat": "true", "dtype": "float32"}
    lm |= {"device_map": "cpu"}
    return [
        *("study=validation", "mechanism=gem", f"attack={attack}", "preprocessor=identity"),
        *("dataset=jsonl", f"dataset.path={written(held_out)}", "dataset.task=peer_review"),
        f"study.references=[{references}]",
        "evaluation_lm=transformers",
        *(f"evaluation_lm.{key}={written(value)}" for key, value in lm.items() if value),
        *options.lm,
    ]


def written(value: Any) -> str:
    """A path or word as Hydra reads it."""
    text = str(value)
    return text if text.replace("/", "").replace("_", "").isalnum() else json.dumps(text)


def run(name: str, overrides: Sequence[str], out: Path) -> Path:
    """Run one command in a folder of its own, with a common cache; the run's folder.

    Raises:
        JudgelabError: it failed.
    """
    place = (out / name).resolve()
    command = [
        *(sys.executable, "run.py", *overrides, "tracker=none"),
        *(f"paths.root={written(place)}", f"paths.cache={written(out.resolve() / 'calls.sqlite')}"),
    ]
    print(f"\n$ python {shlex.join(command[1:])}", flush=True)
    if subprocess.run(command, cwd=ROOT, check=False, env=dict(os.environ)).returncode:
        raise JudgelabError(f"The step {name} failed; the same command continues it.")
    done = [folder.parent for folder in place.glob("runs/*/DONE")]
    if len(done) != 1:
        raise JudgelabError(f"{place} holds {len(done)} finished runs: remove it.")
    return done[0]


def held_out_panel(trained: Path, file: Path) -> Path:
    """The held-out papers of a training as a panel of their own, one JSON object a line."""
    texts = pd.read_parquet(trained / "records" / "held_out_texts.parquet")
    lines = []
    for item, rows in texts.groupby("item", sort=False):
        found = {r.agent: r.text for r in rows.itertuples() if isinstance(r.text, str)}
        if {CANDIDATE, *REFERENCES} <= found.keys():
            # sources were not released; the id stands in, which no prompt of GEM shows
            row = {"id": str(item), "source": f"Paper {item}", "responses": found}
            lines.append(json.dumps(row, ensure_ascii=False))
    text = "\n".join(lines) + "\n"
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a finished run.

    Raises:
        JudgelabError: the adapter was trained on what it was to judge.
    """
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    for note in result["notes"]:
        if "that the adapter was trained on" in note:
            raise JudgelabError(f"{folder}: {note}")
    found: dict[str, Any] = result["summary"]
    return found


def table(
    trained: dict[str, Any], judged: dict[tuple[str, str], dict[str, Any]], attacks: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows: statistic, then value, low, high before and after, and of the paired change."""
    rows = [
        {"statistic": label}
        | {
            f"{state}_{part}": trained[f"{state}/{key}{suffix}"]
            for state in ("before", "after", "change")
            for part, suffix in (("value", ""), ("low", "_low"), ("high", "_high"))
        }
        | {"n": trained[f"after/{key}_n"]}
        for key, label in LABELS.items()
    ]
    for attack in attacks:
        words = attack.replace("_", " ")
        both = {state: judged[state, attack] for state in ("before", "after")}
        effect: dict[str, Any] = {"statistic": f"d under {words}"}
        for state, found in both.items():
            effect[f"{state}_value"] = found["change/smd"]
            effect |= {f"{state}_{k}": found[f"change/smd_{k}"] for k in ("low", "high")}
        rows.append(effect | {"n": both["after"]["change/smd_n"]})
        for key in ("clean/mean_score", "attacked/mean_score"):
            label = "of the candidates" if key.startswith("clean") else f"after {words}"
            mean = {f"{state}_value": found[key] for state, found in both.items()}
            rows.append({"statistic": f"mean GEM {label}, nats", **mean})
    return list({row["statistic"]: row for row in rows}.values())


def shown(rows: list[dict[str, Any]], title: str) -> str:
    """The table for people."""
    head = ["", "before", "after", "change"]
    body = [[row["statistic"], *(_cell(row, state) for state in head[1:])] for row in rows]
    shown = [dict(zip(head, cells, strict=True)) for cells in body]
    return aligned(title, shown, ["Intervals are 95 %, over papers."])


def _cell(row: dict[str, Any], state: str) -> str:
    value = row.get(f"{state}_value")
    if value is None:
        return ""
    low, high = row.get(f"{state}_low"), row.get(f"{state}_high")
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def main(argv: Sequence[str] | None = None) -> int:
    """Train, judge before and after, write the table; 1 where a step failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="the released reviews")
    parser.add_argument("--model", default="outputs/models/smollm2", help="the base")
    parser.add_argument("--papers", type=int, default=150, help="the first so many papers")
    parser.add_argument("--attacks", nargs="+", choices=ATTACKS, default=ATTACKS)
    parser.add_argument("--out", type=Path, default=Path("outputs/gem_smollm2"))
    parser.add_argument("--set", nargs="*", default=[], help="more overrides of the training")
    parser.add_argument("--lm", nargs="*", default=[], help="more overrides of the judging")
    options = parser.parse_args(argv)
    options.data, options.out = options.data.resolve(), options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        trained = run("training", training(options), options.out)
        panel = held_out_panel(trained, options.out / "held_out.jsonl")
        judged = {}
        for state, adapter in (("before", None), ("after", trained / "adapter")):
            for attack in options.attacks:
                told = validation(options, panel, attack, adapter)
                folder = run(f"{state}_{attack}", told, options.out)
                judged[state, attack] = summary_of(folder)
        rows = table(summary_of(trained), judged, options.attacks)
    except JudgelabError as cause:
        print(cause, file=sys.stderr)
        return 1
    (options.out / "table.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("\n" + shown(rows, f"{options.model}, {options.papers} papers"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
