"""study=audit on a user's own table: refusals, spellings, judges of known faults on a server."""

from __future__ import annotations

import re
import shlex
import textwrap
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgelab
from judgelab.core.errors import DataError, JudgelabError, PartialRunError
from tests.documented import commands as commands_of
from tests.e2e.conftest import ROOT, Command, Done, command_line, result
from tests.reports import write_csv
from tests.servers.judging import JUDGES
from tests.servers.process import scripted

OTHERS = ("padding", "pattern", "repetition", "authority", "instruction")
WANTED = {  # word, and what the reason says
    "oracle": ("use", "meets every condition"),
    "noisy": ("not known yet", "not known yet: "),
    "lengthy": ("do not use", "no better than|less agreement than people"),
    "first": ("do not use", "no better than|less agreement than people"),
    "markers": ("do not use", "falls for format"),
    "garbage": ("not known yet", ".*without a verdict"),
}
DOCS = (ROOT / "docs" / "start" / "own_judges.md").read_text(encoding="utf-8")
SPELLINGS = [("pass", "fail"), (1, 0), ("true", "false"), ("yes", "no")]


def gate(good: object = "pass", bad: object = "fail") -> pd.DataFrame:
    """120 labelled and 400 unlabelled rows: people call 27 bad, of which the judge passes 13."""
    label = [good] * 93 + [bad] * 27 + [None] * 400
    judge = ["pass"] * 88 + ["fail"] * 5 + ["pass"] * 13 + ["fail"] * 14
    judge += ["pass"] * 340 + ["fail"] * 60
    table = pd.DataFrame({"id": [f"t{k}" for k in range(520)], "label": label, "gpt": judge})
    return table.sample(frac=1, random_state=0)


def test_a_pass_is_a_pass_however_it_is_spelled(tmp_path: Path) -> None:
    """0/1 were grades, yes/no "100 % without a verdict", and nothing named the 13 of the 27."""
    told = []
    for good, bad in SPELLINGS:
        file = tmp_path / f"{good}.csv"
        gate(good, bad).to_csv(file, index=False)
        run = judgelab.audit(file, dataset__judges=["gpt"], paths__root=str(tmp_path), sampled=True)
        assert run is not None
        answer, summary = dict(run.content["answer"]), run.content["summary"]
        assert answer.pop("How cells were read") and summary.pop("dataset")
        told.append([answer, summary, *(run.content[key] for key in ("title", "tables", "cards"))])
    assert told[0][2].startswith("gpt passes 13 of the 27 texts that people failed")
    assert all(one == told[0] for one in told)


def audited(judgelab: Command, file: Path, text: str, more: str) -> Done:
    file.write_text(text)
    return judgelab("study=audit", "dataset=table", f"dataset.path={file}", "tracker=none", more)


def test_rubrics_of_two_levels_are_audited_by_class(judgelab: Command, tmp_path: Path) -> None:
    """A judge that is asked for pass or fail was held against grades."""
    rubric, file = tmp_path / "rubric.yaml", tmp_path / "labels.csv"
    rubric.write_text("question: Is it right?\nlevels: {fail: it is wrong, pass: it is right}")
    table = gate().head(40).fillna("pass").drop(columns="gpt")
    table.assign(source="How tall?", text=[f"{k} m" for k in range(40)]).to_csv(file, index=False)
    asked = ("mechanism=rating", f"mechanism.criteria={rubric}", "mechanism.reply=json")
    with scripted(tmp_path / "server", json=True) as server:
        lm = ("evaluation_lm=openai", "evaluation_lm.model=m", "evaluation_lm.api_key_env=null")
        at = f"evaluation_lm.base_url={server.url}"
        done = judgelab(
            "study=audit", "dataset=table", f"dataset.path={file}", "tracker=none", *asked, *lm, at
        )
    assert done.returncode == 0, done.stderr
    assert {"confusion", "classes"} <= {one["name"] for one in result(tmp_path)["tables"]}
    said = pd.read_parquet(next(tmp_path.glob("runs/*/records/judgments.parquet")))
    assert set(said["category"].dropna()) == {"pass", "fail"}
    assert 0 < said.loc[said["role"] == "judge", "value"].isna().sum() < 40


def test_four_rows_with_two_judges_and_a_grade(judgelab: Command, tmp_path: Path) -> None:
    """The commonest table there is was "cannot reshape array of size 0"."""
    rows = "id,human,a,b\n1,4,5,3\n2,2,1,2\n3,5,4,4\n4,1,2,1\n"
    done = audited(judgelab, tmp_path / "four.csv", rows, "dataset.judges=[a,b]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[0] == result(tmp_path)["title"]
    assert "too few labelled items" in done.stdout


def test_free_text_as_a_label_is_a_sentence_at_once(tmp_path: Path) -> None:
    """2,788 distinct labels asked for 57 GiB."""
    words = [f"because of reason {k} it is right" for k in range(2788)]
    table = pd.DataFrame({"id": range(2788), "label": words, "gpt": np.roll(words, 1)})
    began = time.monotonic()
    with pytest.raises(DataError, match="2,788|2788"):
        judgelab.audit(table, dataset__judges=["gpt"], paths__root=str(tmp_path))
    assert time.monotonic() - began < 20


def entries(url: str) -> list[dict[str, Any]]:
    """Of judges.yaml."""
    shared = {
        "evaluation_lm": "openai",
        "evaluation_lm.base_url": url,
        "evaluation_lm.server": "scripted",
        "evaluation_lm.api_key_env": None,
        "evaluation_lm.limits.breaker": None,
    }
    return [{"name": name, "evaluation_lm.model": name, **shared} for name in JUDGES]


def test_texts_without_their_source_are_refused_before_anything_is_paid(tmp_path: Path) -> None:
    """A mistyped ``sorce``: a paid judge read empty articles."""
    write_csv(tmp_path / "labels.csv", 8)
    table = pd.read_csv(tmp_path / "labels.csv")
    mistyped, bare = table.rename(columns={"source": "sorce"}), table.drop(columns="source")
    given: dict[str, Any] = {"paths__root": str(tmp_path)}
    with scripted(tmp_path / "server") as server:
        for rows, said in ((mistyped, "there is 'sorce'"), (bare, "No item has a source")):
            with pytest.raises(JudgelabError, match=said):
                judgelab.audit(rows, entries(server.url)[:1], **given)
        assert not server.seen()
        judgelab.audit(bare, entries(server.url)[:1], dataset__columns={"source": False}, **given)
        assert server.seen()


def test_judges_of_known_faults_get_the_verdicts_they_deserve(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv")
    given: dict[str, Any] = {"manipulation": {"probes": dict.fromkeys(OTHERS), "items": 80}}
    given |= {"manipulate": True, "paths__root": str(tmp_path)}
    with scripted(tmp_path / "server") as server:
        found = judgelab.audit(tmp_path / "labels.csv", entries(server.url), **given)
    assert found is not None and set(found.verdicts) == set(WANTED)
    for row in found.tables["judges"].to_dict("records"):
        word, why = WANTED[row["judge"]]
        said = (row["verdict"], row["because"])
        assert said[0] == word and re.match(why, said[1]), (row["judge"], said)


def blocks(language: str) -> list[str]:
    """Of docs/start/own_judges.md, as a reader would copy them."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", DOCS, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(text) for _, text in found]


def test_every_command_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(words: list[str]) -> str:
        done = command_line(tmp_path, *words, "tracker=none")
        assert done.returncode == 0, done.stderr
        return done.stdout

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGELAB_ROOT", str(tmp_path))
    write_csv(tmp_path / "labels.csv", 8)
    with scripted(tmp_path / "server") as server:
        (judges,) = blocks("yaml")
        judges = judges.replace("http://localhost:8000/v1", server.url)
        (tmp_path / "judges.yaml").write_text(judges.replace("small-model", "oracle"))
        commands = [line for block in blocks("bash") for line in block.splitlines()]
        shows = ("judges on single pairs", "All together", "small, graded")
        for command, words in zip(commands, shows, strict=True):
            assert words in shown(shlex.split(command)[2:])
        stops = commands_of(ROOT / "docs/howto/stopping.md")[-1]
        assert "study.stop.order=.95" in stops
        assert "Stopped early" in shown(shlex.split(stops)[2:])
        (code,) = blocks("python")
        with redirect_stdout(StringIO()) as said:
            exec(code, {})
    names = set(re.findall(r"'([^']+)': '", said.getvalue().splitlines()[0]))
    assert names == {"small", "small, graded", "rouge"}


def test_a_budget_stops_all_judges_and_a_larger_one_continues_them(tmp_path: Path) -> None:
    write_csv(tmp_path / "labels.csv", 12)
    given: dict[str, Any] = {"manipulation": {"probes": dict.fromkeys(OTHERS)}, "manipulate": True}

    def audited(root: str, **more: Any) -> Any:
        judges = entries(server.url)[:2]
        place = {"paths__root": str(tmp_path / root)}
        return judgelab.audit(tmp_path / "labels.csv", judges, **place, **given, **more)

    with scripted(tmp_path / "server") as server:
        calm = audited("calm")
        asked = len(server.seen())
        with pytest.raises(PartialRunError, match=r"PARTIAL: \d+ of \d+ calls are open") as stopped:
            audited("stormy", budget={"max_calls": 30})
        assert stopped.value.run is not None
        assert "verdicts are open" in (stopped.value.run / "report.html").read_text("utf-8")
        assert sum(server.seen().values()) == asked + 30
        again = audited("stormy")
        assert sum(server.seen().values()) == 2 * asked, "no call is paid twice"
    assert (again.path / "result.json").read_bytes() == (calm.path / "result.json").read_bytes()
