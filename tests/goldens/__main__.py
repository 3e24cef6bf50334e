"""What 15 runs print, number by number: recorded once, held against at every commit.

    python -m tests.goldens record FOLDER           the numbers and words of this code
    python -m tests.goldens compare FOLDER [NAME ...]  what differs; 1 where a number does

A number that changed is a fault or is named in the commit; a column that is gone is listed.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd

from tests.e2e.conftest import environment
from tests.scripted_judges import write_panel
from tests.servers.process import scripted
from tests.tiny_reviews import REVIEWER, papers, write

ROOT = Path(__file__).resolve().parents[2]
QUICK = "tracker=none"
RUNS: Mapping[str, str] = {
    "discrimination": "mechanism=tvd_mi dataset=xsum study=discrimination limit=12",
    "validation": "mechanism=mi dataset=xsum attack=case_flip limit=12",
    "validation_reviews": "study=validation dataset=iclr_reviews mechanism=gem "
    "attack=sentence_deletion limit=6",
    "sweep": "-m mechanism=tvd_mi,mi,length attack=none,case_flip,pattern limit=8",
    "audit": "study=audit dataset=llmbar study.rules.minimum=0.8",
    "audit_table": "study=audit dataset=table dataset.path={folder}/judged.csv "
    "dataset.judges=[my_judge]",
    "leaderboard": "study=leaderboard dataset=iclr_reviews mechanism=gem_s "
    "study.references=[reviewer_1]",
    "ranking_confidence": "study=ranking_confidence dataset=rose mechanism=recorded_scores "
    "mechanism.metric=judge_without_bias",
    "plan": "study=plan study.r=.3 study.sd=.25 study.delta=.05 study.confidence=.95",
    "discernment": "study=discernment dataset=summeval evaluation_lm=compression "
    "mechanism=rating_likelihood limit=6 study.replicates=200",
    "ceiling": "study=ceiling mechanism=tvd_mi dataset=xsum limit=12",
    "symmetry": "study=symmetry dataset=iclr_reviews mechanism=gem limit=6",
    "endpoint": "study=discrimination dataset=jsonl dataset.path={folder}/panel.jsonl "
    "mechanism=judge evaluation_lm=openai evaluation_lm.model=gpt-4o-mini "
    "evaluation_lm.server=scripted evaluation_lm.base_url={url} evaluation_lm.api_key_env=null",
    "qualification": "study=qualification dataset=jsonl dataset.path={folder}/panel.jsonl "
    "study.bootstrap=50 study.self_confidence.easy=[brief,wordy] "
    "study.self_confidence.hard=[brief,peer] +evaluation_lm@study.judges.mini=openai "
    "study.judges.mini.model=gpt-4o-mini study.judges.mini.base_url={url} "
    "study.judges.mini.server=scripted study.judges.mini.api_key_env=null",
    "finetune": "study=finetune finetune@study.settings=tiny dataset=jsonl "
    "dataset.path={folder}/reviews.jsonl preprocessor=identity study.settings.model={reviewer} "
    "study.settings.prompt.file={reviewer}/prompt.txt study.settings.max_steps=8 "
    "study.settings.threads=1 study.held_out=0.3",
}
DIGITS = 7
"""Significant ones that are compared: sums may be taken in another order."""


def main() -> int:
    """Record, or compare."""
    verb, folder, *names = sys.argv[1:]
    kept = Path(folder)
    kept.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        work = Path(place)
        _inputs(work)
        server = stack.enter_context(scripted(work / "server"))
        filled = {"folder": work, "url": server.url, "reviewer": REVIEWER}
        for name in names or RUNS:
            now = _run(RUNS[name].format(**filled).split(), work / name, place, server.url)
            file = kept / f"{name}.json"
            if verb == "record":
                file.write_text(json.dumps(now, indent=0, ensure_ascii=False), encoding="utf-8")
            else:
                wrong += _compared(name, json.loads(file.read_text(encoding="utf-8")), now)
    return int(wrong > 0)


def _inputs(folder: Path) -> None:
    """A table of pass/fail with what nobody labelled, a panel for endpoints, reviews."""
    cells = [("pass", "pass")] * 88 + [("pass", "fail")] * 5
    cells += [("fail", "pass")] * 13 + [("fail", "fail")] * 14 + [("", "pass")] * 60
    rows = [{"id": f"t{k}", "human": h, "my_judge": j} for k, (h, j) in enumerate(cells)]
    pd.DataFrame(rows).to_csv(folder / "judged.csv", index=False)
    write_panel(folder / "panel.jsonl", 4)
    write(folder / "reviews.jsonl", papers(12))


def _run(words: list[str], folder: Path, place: str, url: str) -> dict[str, Any]:
    """Exit code, console and all values of a run or sweep."""
    done = subprocess.run(
        [sys.executable, "run.py", *words, *([] if "study=plan" in words else [QUICK])],
        cwd=ROOT,
        env=environment(folder) | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    values: dict[str, Any] = {}
    words_of: dict[str, Any] = {}
    for file in sorted(folder.glob("runs/*/result.json")):
        run = re.sub(r"^[a-z]+-|-[0-9a-f]{6,}$", "", file.parent.name) if "-m" in words else ""
        result = json.loads(file.read_text(encoding="utf-8"))
        for key, value in _values(result):
            values[f"{run}{key}"] = value
        words_of[run] = [result.get("title", ""), result.get("answer", []), result["notes"]]
    hide = re.compile(rf"{re.escape(place)}\S*|{re.escape(url)}|-[0-9a-f]{{8,}}|\d+\.\d+ s\b")
    said = [hide.sub("…", line).rstrip() for line in (done.stdout + done.stderr).splitlines()]
    console = [line for line in said if "…" not in line]
    return {"code": done.returncode, "values": values, "words": words_of, "console": console}


def _values(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in result["summary"].items():
        yield f"summary/{key}", _plain(value)
    for table in result["tables"]:
        for place, row in enumerate(table["rows"]):
            for column, value in row.items():
                yield f"{table['name']}/{place}/{column}", _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value


def _compared(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> int:
    """Says what differs; how many numbers changed."""
    old, new = before["values"], now["values"]
    changed = [key for key in old if key in new and not _same(old[key], new[key])]
    numbers = [key for key in changed if isinstance(old[key], int | float)]
    gone = sorted({_column(key) for key in old} - {_column(key) for key in new})
    more = sorted({_column(key) for key in new} - {_column(key) for key in old})
    code = "" if before["code"] == now["code"] else f"EXIT {before['code']} -> {now['code']}; "
    spoken = sum(before[key] != now[key] for key in ("words", "console"))
    print(
        f"{name}: {code}{len(numbers)} of {len(old)} values changed, {len(changed) - len(numbers)} "
        f"words in cells changed, {len(gone)} columns gone, {len(more)} new, "
        f"{'other' if spoken else 'the same'} sentences",
        flush=True,
    )
    for key in numbers[:12]:
        print(f"  CHANGED {key}: {old[key]} -> {new[key]}")
    for key in changed if os.environ.get("WORDS") else ():
        print(f"  {key}: {old[key]!r} -> {new[key]!r}")
    for key in gone:
        print(f"  gone {key}")
    if code:
        print("\n".join(now["console"][-12:]))
    return len(numbers) + bool(code)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
    return bool(one == other)


def _column(key: str) -> str:
    return re.sub(r"/\d+/", "/", key)


if __name__ == "__main__":
    sys.exit(main())
