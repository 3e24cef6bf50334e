"""The page to label on in headless Chromium: labels by keyboard, their export, and its audit."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.report import label_page
from judgelab.store.run_dir import RunDir
from tests.browser import looked_at, script
from tests.e2e.conftest import Command, only_run, result

HURTS = '</script><img src=x onerror="document.title=\'owned\'">=1+1, "so"\nand on'
KEYS = {
    "category": '/good/.test(one) ? "p" : "1"',
    "grade": '/good/.test(one) ? "5" : "2"',
    "preference": '/good/.test(one) ? "a" : "b"',
}
N = 120


def rows(kind: str) -> pd.DataFrame:
    """One judge that is right but on each tenth item, and one that always says the same."""
    good = [k % 3 > 0 for k in range(N)]
    right = [one != (k % 10 == 0) for k, one in enumerate(good)]
    table = pd.DataFrame({"id": [f"q{k}" for k in range(N)], "source": f"Question? {HURTS}"})
    words = {True: "good", False: "bad"}
    table["text"] = [f"{words[one]} {k}" for k, one in enumerate(good)]
    values: dict[str, tuple[Any, Any]] = {"category": ("pass", "fail"), "grade": (5, 2)}
    if kind == "preference":
        table["other_text"] = [f"{words[not one]} {k}" for k, one in enumerate(good)]
        values["preference"] = (1, 2)
    yes, no = values[kind]
    table["sharp"] = [yes if one else no for one in right]
    table["blunt"] = yes
    if kind == "grade":
        table["blunt"] = [1 + k % 5 for k in range(N)]
    return table


def pressed(page: Path, key: str, labels: int, more: str = "") -> dict[str, Any]:
    undo = f"{{ const [one, two] = texts(); press({key}); }} {more}"
    found: dict[str, Any] = looked_at(page, script("label_all") % (labels, key, undo))
    return found


@pytest.mark.parametrize("kind", KEYS)
def test_labels_by_keys_reach_the_audit(judgelab: Command, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "texts.csv"
    rows(kind).to_csv(file, index=False)
    judges = "dataset.judges=[sharp,blunt]"
    refused = judgelab("study=audit", "dataset=table", f"dataset.path={file}", judges)
    page = only_run(tmp_path) / "label.html"
    assert refused.returncode == 1 and str(page) in refused.stderr
    seen = pressed(page, KEYS[kind], 80)
    assert "fault" not in seen, seen
    assert (seen["title"], seen["heads"][12][:22]) == (
        "Label pairs" if kind == "preference" else "Label texts",
        "12 of 60 labelled · " + ("pa" if kind == "preference" else "te"),
    )
    assert "sharp" not in seen["before"] and "sharp" not in page.read_text()
    assert seen["undone"].startswith("79 of 60")
    assert "study.sampled=true" in seen["said"] and f"dataset.kind={kind}" in seen["said"]
    labels = tmp_path / "labels-me.csv"
    labels.write_text(seen["csv"], encoding="utf-8", newline="")
    table = pd.read_csv(labels)
    human = "preference" if kind == "preference" else "human"
    assert table[human].notna().sum() == (table["turn"] == 1).sum() == 80
    assert set(table["source"].dropna()) == {f"Question? {HURTS}"}
    [command] = [line for line in seen["said"].splitlines() if "python run.py" in line]
    words = command.partition("run.py ")[2].split()
    words = [f"dataset.path={labels}" if "path" in one else one for one in words]
    again = tmp_path / "again"
    done = judgelab(*words, "study.rules.minimum=0.6", f"paths.root={again}", "tracker=none")
    assert done.returncode == 0, done.stderr
    summary = {row["judge"]: row["verdict"] for row in result(again)["tables"][0]["rows"]}
    assert summary["sharp"] == "use" and summary["blunt"] != "use"


def test_labels_stay_in_the_browser_and_a_second_export_is_a_second_look(
    judgelab: Command, tmp_path: Path
) -> None:
    file = tmp_path / "texts.csv"
    rows("category").to_csv(file, index=False)
    judgelab("study=audit", "dataset=table", f"dataset.path={file}", "dataset.judges=[sharp,blunt]")
    page, key = only_run(tmp_path) / "label.html", KEYS["category"]
    first = pressed(page, key, 10, 'set("rater", "Ann Lee"); press("j"); press("f");')
    own = pd.read_csv(io.StringIO(first["csv"])).dropna(subset="human")
    assert (len(own), set(own["rater"])) == (11, {"Ann Lee"})
    assert "1 text of the draw was skipped" in first["said"]
    assert "labels-Ann-Lee.csv" in first["said"]
    # the browser has kept them; what others said is shown after a label, which then stays
    second = looked_at(page, script("label_again"))
    assert (second["kept"][:8], second["rater"]) == ("11 of 60", "Ann Lee")
    assert (second["before"], second["after"], second["stays"][-4:]) == (False, True, "fail")
    turns = pd.read_csv(io.StringIO(second["csv"]))["turn"].dropna()
    assert len(turns) >= 11 and len(set(turns)) == len(turns)


def test_a_phone_holds_the_page_and_rows_in_any_order_make_the_same_draw(tmp_path: Path) -> None:
    pages = []
    for seed in (0, 1):
        run = RunDir(tmp_path / str(seed))
        table = rows("preference").assign(item=lambda r: r["id"]).sample(frac=1, random_state=seed)
        run.write_text("config.yaml", "{seed: 3, study: {_target_: a.audit.A}, dataset: {}}")
        both = {"a": "text", "b": "other_text"}
        long = [table.assign(agent=name, text=table[column]) for name, column in both.items()]
        run.write_table("records/clean_texts.parquet", pd.concat(long)[["item", "agent", "text"]])
        said = table.assign(first="a", second="b", by="sharp", role="judge", order=0, value=1.0)
        names = ["item", "first", "second", "by", "role", "order", "value"]
        run.write_table("records/judgments.parquet", said[names])
        assert label_page.write(run)
        text = (run.path / "label.html").read_text(encoding="utf-8")
        pages.append(json.loads(text.split('id="data">')[1].split("</script>")[0]))
    first, second = pages
    assert first["units"] == second["units"] and first["hidden"] == second["hidden"]
    shown_first = [one["texts"][0] for one in first["units"]]
    assert 0.2 < sum("good" in one for one in shown_first) / N < 0.8
    script = "const { scrollWidth, clientWidth } = document.documentElement;"
    script += "return [innerWidth, scrollWidth - clientWidth];"
    assert looked_at(tmp_path / "0" / "label.html", script, width=400) == [400, 0]
