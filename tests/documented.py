"""The commands of README.md and docs/, and which test runs each."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^ *```bash\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)

E2E, UNIT = "tests/e2e/", "tests/unit/"
RAY, SLURM = (
    "python run.py scale=ray scale.address=auto evaluation_lm=llama31_8b scale.gpus=1.0",
    "python run.py -m hydra/launcher=slurm hydra.launcher.partition=gpu mechanism=mi,gppm "
    "dataset=xsum,samsum evaluation_lm=llama31_8b",
)
AUDIT = "python run.py study=audit dataset=table dataset.path=labels.csv study.judges=judges.yaml"
ELSEWHERE = {  # command -> the test that runs it or its parts, and what of it stands there
    "make test": (f"{E2E}test_readme.py", "make test"),  # runs this very test
    "make bench": (f"{UNIT}experiments/test_bench_scoring.py", "experiments.bench"),
    "judgelab pack outputs/runs/RUN --texts": (f"{E2E}test_pack.py", "pack(made, texts=True)"),
    "judgelab replay RUN.judgelab.zip": (f"{E2E}test_pack.py", "replay(whole"),
    "python run.py mechanism=tvd_mi evaluation_lm=gpt4o_mini prompts=authors "
    "prompts.release=llm-peer-prediction dry_run=true": (
        f"{UNIT}config/test_prompts.py",
        "prompts=authors",
    ),
    "judgelab audit judged.csv --minimum .8 --gate": (f"{E2E}test_verbs.py", '"--gate"'),
    "make check-gpu": (f"{UNIT}experiments/test_check_gpu.py", "check_gpu"),
    "make check-faults": ("tests/contract/test_docs.py", "TRIALS"),
    "python -m judgelab.tracker.dashboard judgelab": (
        *(f"{UNIT}tracker/test_dashboard.py", 'main(["judgelab"])'),
    ),
    AUDIT: (f"{E2E}test_audit.py", "test_every_command_of_the_docs_runs"),
    f"{AUDIT} dry_run=true": (f"{E2E}test_audit.py", "test_every_command_of_the_docs_runs"),
    f"{AUDIT} study.stop.order=.95": (f"{E2E}test_audit.py", "stopping.md"),
    "python run.py scale=local": (f"{E2E}test_scale.py", "scale=local"),
    "python run.py scale=ray": (f"{E2E}test_scale.py", "scale=ray"),
    "judgelab screen outputs.csv": (f"{E2E}test_verbs.py", 'judgelab("screen"'),
    "judgelab screen outputs.csv -- mechanism=tvd_mi evaluation_lm=gpt4o_mini dry_run=true": (
        f"{UNIT}mechanism/test_tvd_mi.py",
        "measure_pairs",
    ),
    "ray start --head": (f"{E2E}test_scale.py", "initialize_head"),
    "ray start --address=HOST:6379": (f"{E2E}test_scale.py", "scale.address"),
    RAY: (f"{E2E}test_scale.py", "scale.gpus=1.0"),
    "python run.py -m hydra/launcher=cores mechanism=length,random,rouge tracker=none": (
        *(f"{E2E}test_sweeps.py", '"cores"'),
    ),
    SLURM: (f"{E2E}test_sweeps.py", '"slurm"'),
    "python -m experiments.importing path/to/data outputs/released": (
        *(f"{E2E}test_sweeps.py", "import_release"),
    ),
    "python run.py study=qualification dataset=table "
    "dataset.path=outputs/released/auto_pre/XSum.parquet mechanism=recorded_scores": (
        *(f"{E2E}test_sweeps.py", "test_a_sweep_of_released_verdicts"),
    ),
}
"""What test_readme does not run: another test does, or it needs what is not here."""
COMPOSED = [  # a key, or a GPU: tests/contract/test_catalogue.py composes and builds them
    "python run.py mechanism=judge evaluation_lm=gpt4o_mini dry_run=true",
    "python run.py evaluation_lm=openai evaluation_lm.model=NAME dry_run=true",
    "python run.py evaluation_lm=llama31_8b mechanism=gem dataset=iclr_reviews study=leaderboard",
]


def commands(page: Path) -> list[str]:
    """Every command of a page, without the comment behind it."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    lines = (
        re.sub(r"\s+# .*", "", line).strip() for block in blocks for line in block.splitlines()
    )
    return [line for line in lines if line]


ANSWER = re.compile(r"```bash\n([^`]+)\n```\n(?:(?!```).){,700}?```text\n(.*?)```", re.DOTALL)
SHOWN = {
    said.splitlines()[-1]: answer
    for page in PAGES
    for said, answer in ANSWER.findall(page.read_text(encoding="utf-8"))
}
"""Command -> the part of what it prints that its page shows."""
COMMANDS = list(dict.fromkeys(command for page in PAGES for command in commands(page)))
