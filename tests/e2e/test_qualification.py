"""Two judges behind an endpoint: each with its own account, both held against one budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import inside
from tests.scripted_judges import write_panel
from tests.servers.process import scripted

MODELS = {"mini": "gpt-4o-mini", "big": "gpt-4o"}


def judge(name: str, model: str, url: str) -> list[str]:
    """Overrides that make a model behind an endpoint a judge."""
    node = f"study.judges.{name}"
    chosen = [f"+evaluation_lm@{node}=openai", f"{node}.model={model}", f"{node}.base_url={url}"]
    return [*chosen, f"{node}.server=scripted", f"{node}.api_key_env=null"]


def run(root: Path, url: str, *more: str) -> dict[str, Any]:
    chosen = ["study=qualification", "dataset=jsonl", f"dataset.path={root / 'panel.jsonl'}"]
    chosen += ["tracker=none", "study.bootstrap=50"]
    chosen += ["study.self_confidence.easy=[brief,wordy]"]
    chosen += ["study.self_confidence.hard=[brief,peer]", *more]
    for name, model in MODELS.items():
        chosen += judge(name, model, url)
    inside(root / "out", chosen)
    [made] = (root / "out" / "runs").iterdir()
    manifest: dict[str, Any] = json.loads((made / "manifest.json").read_text())
    result = json.loads((made / "result.json").read_text())
    files = {
        file.name: [json.loads(line) for line in file.read_text().splitlines()]
        for file in made.glob("calls_*.jsonl")
    }
    tables = {table["name"]: table["rows"] for table in result["tables"]}
    return manifest | {"tables": tables, "files": files, "notes": result["notes"]}


def test_answers_are_graded_in_debates_at_an_endpoint(tmp_path: Path) -> None:
    """Two roles, two rounds: four calls an answer, no pair of answers is shown."""
    write_panel(tmp_path / "panel.jsonl", 3)
    exams = [f"study.{name}=null" for name in ("consistency", "pertinence", "self_confidence")]
    with scripted(tmp_path / "server") as server:
        found = run(tmp_path, server.url, "mechanism=chat_eval_pointwise", *exams)
        assert sum(server.paid().values()) == 2 * 3 * 4 * 2 * 2
    pools = {row["name"]: row for row in found["tables"]["pools"]}
    assert pools["all"]["called"] == "PRE (w/o Filter)"  # no exam, no Auto-PRE
    assert pools["mini"]["n"] == 3 * 6 and pools["mini"]["unscored"] == 0
    assert pools["all"]["spearman_n"] == 3


def test_every_judge_is_paid_once_and_has_its_own_account(tmp_path: Path) -> None:
    write_panel(tmp_path / "panel.jsonl", 4)
    prices = tmp_path / "prices.yaml"
    listed = "gpt-4o-mini: {input: 1000, output: 9000}, gpt-4o: {input: 1000, output: 0}"
    prices.write_text(f"currency: USD\nmodels: {{{listed}}}\n")
    with scripted(tmp_path / "server") as server:
        found = run(tmp_path, server.url, f"budget.prices={prices}")
        # 12 ordered pairs of each item; the questions of consistency are the same ones, the
        # pertinence exam asks 4 pairs in both orders and the confident sets 4 with probabilities
        calls = 4 * (12 + 8 + 4)
        assert {found[f"study.judges.{role}"]["calls"]["computed"] for role in MODELS} == {calls}
        assert found["files"].keys() == {"calls_judge_mini.jsonl", "calls_judge_big.jsonl"}
        for name, entries in found["files"].items():
            assert len(entries) >= calls
            # the verdicts came first; they cost what was paid for them, replies included
            spent = sum(e["cost"] for e in entries if e.get("ended", 99) <= 48)
            cost = {f"calls_judge_{r['name']}.jsonl": r["cost"] for r in found["tables"]["pools"]}
            assert cost[name] == pytest.approx(spent)
        cost = {row["name"]: row["cost"] for row in found["tables"]["pools"]}
        assert cost["all"] == pytest.approx(cost["mini"] + cost["big"])
        assert cost["mini"] - cost["big"] == pytest.approx(48 * 8 * 9000 / 1e6)
        paid = sum(server.paid().values())
        assert paid == 2 * calls
        again = run(tmp_path, server.url, f"budget.prices={prices}", "force=true")
        assert sum(server.paid().values()) == paid
    assert again["tables"]["pools"] == found["tables"]["pools"]
    exams = {(row["exam"], row["judge"]): row for row in again["tables"]["exams"]}
    assert exams["consistency", "mini"]["n"] == 24
    # the server shows probabilities, but none of a label: they sat the exam and failed
    assert exams["self_confidence", "mini"]["passed"] is False
    lists = {row["pool"]: row["judges"] for row in again["tables"]["lists"]}
    assert lists["C+P+S"] == "nobody" and lists["all"] == "mini, big"


def test_a_judge_without_probabilities_is_asked_in_words(tmp_path: Path) -> None:
    """An endpoint ignores logprobs, beside one that gives them; before, the run ended there."""
    write_panel(tmp_path / "panel.jsonl", 3, graded=False)
    with scripted(tmp_path / "gives") as gives, scripted(tmp_path / "ignores", ignore=True) as mute:
        other = [*judge("speaks", "n", mute.url), "study.pertinence=null"]
        found = run(tmp_path, gives.url, *other)
    exams = {row["judge"]: row for row in found["tables"]["exams"] if row["exam"] != "consistency"}
    assert exams["mini"]["passed"] is exams["speaks"]["passed"] is False
    assert exams["mini"]["unscored"] == exams["speaks"]["unscored"] == 3 * 4
    assert "by: words (speaks); probability (mini, big)" in " ".join(found["notes"])
