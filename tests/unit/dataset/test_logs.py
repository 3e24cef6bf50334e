"""Logs of other tools, in the forms that these document: what is read as what, and what is not."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import judgelab
from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.logs import Log, read_files
from judgelab.dataset.table import LabelledTable
from judgelab.study.common.panels import judgment_records

Said = dict[tuple[str, ...], str]
ANSWERS = {"q1": "It is blue.", "q2": "Wet.", "q3": "Grey."}
JUDGE = {"q1": True, "q2": True, "q3": False}  # what the judge says of these answers
PEOPLE = {"q1": True, "q2": False}  # what ann says


def inspect(model: str = "gpt", task: str = "sky", edited: bool = True) -> dict[str, Any]:
    """Three samples with an answer, the first in three epochs, one without a score, one failed."""
    letters = {True: "C", False: "I"}
    samples = []
    for key, text in ANSWERS.items():
        score: dict[str, Any] = {"value": letters[JUDGE[key]], "answer": text}
        if key in PEOPLE and edited:
            author = {"timestamp": "2026-01-02T03:04:05Z", "author": "ann"}
            edit = {"value": letters[PEOPLE[key]], "provenance": author}
            score = {"value": edit["value"], "history": [{"value": letters[JUDGE[key]]}, edit]}
        samples.append(sample(key, 1, text, {"model_graded_qa": score}))
    scores = {"model_graded_qa": {"value": "I"}}
    samples.append(sample("q1", 2, ANSWERS["q1"], scores))
    samples.append(sample("q1", 3, "It is red.", scores))
    unscored = {"model_graded_qa": {"value": float("nan"), "explanation": "no grade found"}}
    samples.append(sample("q4", 1, "So.", unscored))
    samples.append(sample("q5", 1, "", None) | {"error": {"message": "timeout"}})
    spec = {"task": task, "model": model, "created": "2026-01-02T03:04:05Z"}
    return {"version": 2, "status": "success", "eval": spec, "samples": samples}


def sample(key: str, epoch: int, text: str, scores: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": text}}]
    asked = [{"role": "user", "content": f"What is {key}?"}]
    own = {"id": key, "epoch": epoch, "input": asked, "target": f"Of {key}."}
    return own | {"output": {"choices": choices}, "scores": scores, "uuid": f"{key} {epoch}"}


def archive(log: dict[str, Any], zstd: bool = False) -> bytes:
    """The same as an .eval file."""
    parts = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in log["samples"]}
    parts["header.json"] = {key: its for key, its in log.items() if key != "samples"}
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            raw = json.dumps(part).encode()
            file.writestr(name, pa.compress(raw, "zstd", asbytes=True) if zstd else raw)
    content = bytearray(memory.getvalue())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)) if zstd else ():
        at = content.find(mark)
        while at >= 0:  # zipfile cannot write this method: say it where the method stands
            content[at + place] = 93
            at = content.find(mark, at + 1)
    return bytes(content)


def promptfoo() -> dict[str, Any]:
    results = []
    for k, (key, text) in enumerate(ANSWERS.items()):
        parts = [{"pass": JUDGE[key], "score": 0.5, "assertion": {"type": "llm-rubric"}}]
        if key in PEOPLE:
            parts.append({"pass": PEOPLE[key], "score": 1, "assertion": {"type": "human"}})
        results.append(result(k, text, parts, f"What is {key}?"))
    results.append(result(3, None, [], "What is q5?") | {"failureReason": 2})
    return {"evalId": "eval-1", "results": {"version": 3, "results": results}, "config": {}}


def result(k: int, output: str | None, parts: list[Any], asked: str) -> dict[str, Any]:
    grading = {"pass": True, "score": 1, "reason": "", "componentResults": parts}
    own = {"testIdx": k, "vars": {"asked": asked}, "provider": {"id": "gpt", "label": ""}}
    own |= {"success": True, "gradingResult": grading if parts else None, "promptId": "p"}
    return own | {"prompt": {"raw": asked, "label": "{{asked}}"}, "response": {"output": output}}


def langfuse() -> list[dict[str, Any]]:
    rows = [score(key, "EVAL", "good", JUDGE[key]) for key in ANSWERS]
    rows += [score(key, "ANNOTATION", "good", said, "ann") for key, said in PEOPLE.items()]
    return [*rows, score("q1", "ANNOTATION", "output", True) | {"dataType": "CORRECTION"}]


def score(key: str, source: str, name: str, said: bool, who: str | None = None) -> dict[str, Any]:
    own = {"id": f"{key}{source}{name}", "traceId": key, "source": source, "name": name}
    own |= {"dataType": "BOOLEAN", "value": int(said), "stringValue": str(said), "comment": None}
    return own | {"observationId": None, "authorUserName": who}


def mlflow() -> list[dict[str, Any]]:
    traces = []
    for key, text in ANSWERS.items():
        own = [assessment("LLM_JUDGE", "openai:/gpt", JUDGE[key])]
        own += [assessment("HUMAN", "ann", PEOPLE[key])] if key in PEOPLE else []
        own += [assessment("HUMAN", "ann", not JUDGE[key]) | {"valid": False}]
        asked = json.dumps({"question": f"What is {key}?"})
        traces.append({"trace_id": key, "request": asked, "response": json.dumps(text)})
        traces[-1]["assessments"] = own
    failed = assessment("LLM_JUDGE", "openai:/gpt", None)
    failed["feedback"] = {"error": {"error_code": "RATE_LIMIT", "error_message": "too many"}}
    return [*traces, {"trace_id": "q4", "request": "a", "response": "So.", "assessments": [failed]}]


def assessment(kind: str, who: str, value: object) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": who}
    return {"assessment_name": "good", "source": source, "feedback": {"value": value}}


def lm_eval() -> list[dict[str, Any]]:
    rows = []
    for k, (key, text) in enumerate(ANSWERS.items()):
        asked = {"gen_args_0": {"arg_0": f"What is {key}?", "arg_1": {"until": ["\n"]}}}
        own = {"doc_id": k, "doc": {}, "target": f"Of {key}.", "arguments": asked, "filter": "none"}
        own |= {"resps": [[text]], "filtered_resps": [text], "metrics": ["exact_match", "pair"]}
        rows.append(own | {"doc_hash": "0", "exact_match": float(JUDGE[key]), "pair": [1, 2]})
    return rows


def deepeval() -> dict[str, Any]:
    cases = []
    for key, text in ANSWERS.items():
        data = {"name": "Correct", "score": float(JUDGE[key]), "evaluationModel": "gpt-judge"}
        own = {"name": key, "input": f"What is {key}?", "actualOutput": text}
        cases.append(own | {"expectedOutput": f"Of {key}.", "metricsData": [data]})
    cases[2]["metricsData"][0] |= {"score": None, "error": "no JSON"}
    return {"testCases": cases, "hyperparameters": {"model": "gpt"}, "metricsScores": []}


def alpaca_eval() -> list[dict[str, Any]]:
    rows = []
    for key, text in ANSWERS.items():
        own = {"instruction": f"What is {key}?", "output_1": "No.", "generator_1": "base"}
        own |= {"output_2": text, "generator_2": "gpt", "annotator": "gpt4_fn"}
        own["annotator"] += " " * (key == "q2")  # the same judge
        rows.append(own | {"preference": 1.98 if JUDGE[key] else 1.0})
        if key in PEOPLE:
            rows.append(own | {"annotator": 7, "preference": 2 if PEOPLE[key] else 1.5})
    same = {"output_1": "Yes.", "output_2": "Yes.", "preference": None}
    silent = {**rows[0], "annotator": 8, "preference": None}  # a person who did not answer
    return [*rows, {**rows[0], **same}, silent]


def label_studio() -> list[dict[str, Any]]:
    tasks = []
    for key, text in ANSWERS.items():
        data = {"question": f"What is {key}?", "answer": text, "model": "gpt"}
        person = {"completed_by": {"id": 3, "email": "ann"}, "result": chosen(PEOPLE.get(key))}
        given = [person | {"was_cancelled": key not in PEOPLE}]
        model = [{"model_version": "v1", "result": chosen(JUDGE[key])}]
        tasks.append({"id": key, "data": data, "annotations": given, "predictions": model})
    return tasks


def chosen(said: bool | None) -> list[dict[str, Any]]:
    region = {"from_name": "span", "type": "labels", "value": {"start": 0, "labels": ["x"]}}
    choice = {"from_name": "good", "type": "choices", "value": {"choices": [str(said)]}}
    return [choice, region] if said is not None else []


def argilla(flat: bool = False) -> list[dict[str, Any]]:
    records = []
    for key, text in ANSWERS.items():
        fields = {"prompt": f"What is {key}?", "response": text}
        said = [{"value": str(PEOPLE[key]), "user_id": "ann"}] if key in PEOPLE else []
        said += [{"value": "False", "user_id": "bob", "status": "discarded"}]
        own: dict[str, Any] = {"id": key, "status": "completed"}
        suggested = {"value": str(JUDGE[key]), "agent": "gpt-judge", "score": None}
        if flat:
            own |= fields | {"good.responses": [one["value"] for one in said]}
            own["good.responses.users"] = [one["user_id"] for one in said]
            own["good.responses.status"] = [one.get("status", "submitted") for one in said]
            own |= {"good.suggestion": suggested["value"], "good.suggestion.agent": "gpt-judge"}
        else:
            own |= {"fields": fields, "metadata": {}, "suggestions": {"good": suggested}}
            own["responses"] = {"good": said}
        records.append(own)
    return records


TOOLS: dict[str, tuple[Callable[[], Any], str, str, bool]] = {
    # what makes the log, its judge, what is left out, whether people are in it
    "an Inspect log": (inspect, "model_graded_qa", "1 sample with errors", True),
    "promptfoo results": (promptfoo, "llm-rubric", "1 output with errors", True),
    "Langfuse scores": (langfuse, "good", "1 correction", True),
    "MLflow traces": (mlflow, "openai:/gpt", "3 assessments that another one overrides", True),
    "lm-eval samples": (lm_eval, "exact_match", "3 scores that are no numbers", False),
    "a DeepEval test run": (deepeval, "gpt-judge", "", False),
    "AlpacaEval annotations": (alpaca_eval, "gpt4_fn", "1 pair of equal outputs", True),
    "a Label Studio export": (label_studio, "v1", "1 skipped annotation", True),
    "an Argilla export": (argilla, "gpt-judge", "3 responses that are discarded", True),
}


def written(folder: Path, content: Any, name: str = "log.json") -> Path:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / name).write_bytes(raw)
    return folder / name


def log_of(path: Path) -> Log:
    log = read_files(str(path))
    assert isinstance(log, Log)
    return log


def spoken(log: Log) -> tuple[Said, Said]:
    """(what was asked or the trace, who, run) -> cell, of people and of judges."""
    rows = log.rows("log")
    of = {row.id: row.source or row.id for row in rows}
    labels = {(of[row.id], x.who): x.cell for row in rows for x in row.labels}
    judged = {(of[row.id], row.text, x.who, x.run): x.cell for row in rows for x in row.verdicts}
    return labels, judged


def said_of(folder: Path, content: Any, name: str = "log.json") -> tuple[Said, Said]:
    return spoken(log_of(written(folder, content, name)))


@pytest.mark.parametrize("tool", TOOLS)
def test_each_log_says_who_said_what(tmp_path: Path, tool: str) -> None:
    make, judge, left_out, people = TOOLS[tool]
    log = log_of(written(tmp_path, make()))
    assert log.sentence.startswith(f"Read as {tool}: ") and left_out in log.sentence
    labels, judged = spoken(log)
    assert len(labels) == len(PEOPLE) * people and len({who for _, who in labels}) == people
    assert {who for _, _, who, _ in judged} == {judge}
    panel = LabelledTable(path=str(tmp_path / "log.json")).load()
    table = panel.judgments
    assert table is not None and table.names == (judge,) and len(table.raters) == people
    if table.kind == "category":
        first = np.array(["(2)" not in item for item in table.units.item])
        assert len({*table.verdicts[0, first, 0][:2]}) == 1  # of q1 and q2
    assert panel.provenance["log"] == log.sentence
    texts = {text for row in panel.texts for text in row if text}
    assert texts >= set(ANSWERS.values()) or tool == "Langfuse scores"


@pytest.mark.parametrize("tool", TOOLS)
def test_neither_name_nor_order_matters(tmp_path: Path, tool: str) -> None:
    make, *_ = TOOLS[tool]
    first, content = said_of(tmp_path, make()), make()
    if isinstance(content, list):
        random.Random(3).shuffle(content)
        lines = "\n".join(map(json.dumps, content)).encode()
        assert said_of(tmp_path, lines, "x.jsonl") == said_of(tmp_path, lines, "x.json") == first
    else:  # of epochs with one text the first is the verdict: their order stays
        rows = content.get("testCases") or content.get("results", {}).get("results", [])
        random.Random(3).shuffle(rows)
    assert said_of(tmp_path, content, "other.json") == first


def test_other_forms_of_a_log_say_the_same(tmp_path: Path) -> None:
    pd.DataFrame(langfuse()).to_csv(tmp_path / "scores.csv", index=False)
    assert spoken(log_of(tmp_path / "scores.csv")) == said_of(tmp_path, langfuse())
    pd.DataFrame(mlflow()).to_parquet(tmp_path / "traces.parquet")
    assert spoken(log_of(tmp_path / "traces.parquet")) == said_of(tmp_path, mlflow())
    assert said_of(tmp_path, argilla(flat=True)) == said_of(tmp_path, argilla())
    for zstd in (False, True):  # whatever it is called
        assert said_of(tmp_path, archive(inspect(), zstd), "a.json") == said_of(tmp_path, inspect())


def test_epochs_of_one_text_are_runs_and_others_are_items_of_its_cluster(tmp_path: Path) -> None:
    table = LabelledTable(path=str(written(tmp_path, inspect()))).load().judgments
    assert table is not None and table.units.item.tolist() == ["q1", "q1 (2)", "q2", "q3", "q4"]
    assert table.units.cluster.tolist()[1] == "q1" and table.raters == ("ann",)
    ok = table.levels.index("correct")
    assert (table.verdicts[0, :, 0] == ok).tolist() == [True, False, True, False, False]
    assert np.isnan(table.verdicts[0, 4, 0]) and table.asked[0, 4, 0]  # missing, and never wrong
    assert table.reasons == {"model_graded_qa": {"no grade found": 1}}
    assert table.again[0, 0, 0].tolist() == [float(table.levels.index("incorrect"))]


def test_a_folder_of_models(tmp_path: Path) -> None:
    written(tmp_path, inspect("gpt"), "a.json")
    written(tmp_path, archive(inspect("me", edited=False)), "b.eval")
    written(tmp_path, {"some": "settings"}, "eval-set.json")
    panel = LabelledTable(path=str(tmp_path)).load()
    assert [agent.name for agent in panel.agents] == ["gpt", "me"]
    assert "1 file of other kinds" in str(panel.provenance["log"])
    both = LabelledTable(path=[str(tmp_path / "a.json"), str(tmp_path / "b.eval")]).load()
    assert both.texts == panel.texts
    tables = [str(written(tmp_path, b"id,text\n1,a\n", f"{name}.csv")) for name in "xy"]
    with pytest.raises(DataError, match="no log of a known tool"):  # nor is the first one taken
        read_files(tables)
    for table in tables:
        Path(table).unlink()
    cut = written(tmp_path, json.dumps(inspect("cut")).encode()[:400], "cut.json")
    assert "1 file that cannot be read" in str(LabelledTable(path=str(tmp_path)).load().provenance)
    with pytest.raises(DataError, match=r"cut\.json"):  # which was asked for by its name
        read_files([str(tmp_path / "a.json"), str(cut)])
    cut.unlink()
    written(tmp_path, inspect(task="sea"), "c.json")
    with pytest.raises(DataError, match="sea and sky"):
        read_files(str(tmp_path))
    written(tmp_path, promptfoo(), "c.json")
    with pytest.raises(DataError, match="an Inspect log and promptfoo results"):
        read_files(str(tmp_path))


def test_metrics_and_overall_ratings_are_criteria(tmp_path: Path) -> None:
    log = promptfoo()
    for row in log["results"]["results"][:3]:
        parts = row["gradingResult"]["componentResults"]
        for metric in ("tone", "truth"):
            parts.insert(0, parts[0] | {"assertion": {"type": "g-eval", "metric": metric}})
    rows = log_of(written(tmp_path, log)).rows("log")
    named = {row.criterion: [x.who for x in row.verdicts] for row in rows if row.id == "test 1"}
    overall = ["all assertions", "llm-rubric"]
    assert named == {"tone": ["g-eval"], "truth": ["g-eval"], "overall": overall}
    labelled = [row.criterion for row in rows if row.labels and row.id == "test 1"]
    assert labelled == ["overall"], "nobody said of an answer that is bad in which way it is"
    criteria = LabelledTable(path=str(tmp_path / "log.json")).load().criteria
    assert set(criteria) == set(named) and criteria["overall"].names == tuple(overall)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"some": {"object": 1}}, "no log of a known tool: an Inspect log, promptfoo results"),
        (inspect() | {"samples": []}, "holds nothing that was scored"),
        (archive(inspect())[:400], "no whole Inspect log"),
    ],
)
def test_what_is_no_log(tmp_path: Path, content: Any, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read_files(str(written(tmp_path, content)))


def test_settings_of_columns_are_refused_and_others_hold(tmp_path: Path) -> None:
    file = str(written(tmp_path, inspect()))
    for given in ({"columns": {"id": "sample"}}, {"raters": ["ann"]}, {"judges": ["x"]}):
        with pytest.raises(ConfigError, match="was read as an Inspect log"):
            LabelledTable(path=file, **given).load()  # type: ignore[arg-type]
    table = LabelledTable(path=file, positive="incorrect", columns={"id": None}).load().judgments
    assert table is not None and table.positive == "incorrect"


def test_an_audit_says_what_was_read(tmp_path: Path) -> None:
    log, results = promptfoo(), []
    for k in range(60):
        good = k % 3 > 0
        parts = [{"pass": good, "assertion": {"type": "llm-rubric"}}]
        parts += [{"pass": good if k else not good, "assertion": {"type": "human"}}]
        results.append(result(k, f"Answer {k}.", parts, f"Question {k}?"))
    log["results"]["results"] = results
    page = judgelab.audit(written(tmp_path, log), paths__root=str(tmp_path), rules={"minimum": 0.8})
    assert page is not None and page.verdicts == {"llm-rubric": "use"}
    assert dict(page.content["answer"])["Read as promptfoo results"]


def test_labels_in_a_file_of_their_own_are_of_the_first_answer(tmp_path: Path) -> None:
    path, labels = str(written(tmp_path, inspect(edited=False))), tmp_path / "labels.csv"
    labels.write_text("sample_id,human_label\nq1,C\nq2,I\n")
    with pytest.raises(DataError, match="people say 'C' and 'I'.*dataset.labels="):
        LabelledTable(path=path, people=str(labels)).load()
    words = {"correct": "C", "incorrect": "I"}
    panel = LabelledTable(path=path, people=str(labels), labels=words).load()
    assert panel.judgments is not None
    said = judgment_records(panel.judgments).query("role == 'rater'")[["item", "category"]]
    assert said.values.tolist() == [["q1", "correct"], ["q2", "incorrect"]]
    assert "of q1 are taken to be of the first answer" in str(panel.provenance["log"])


def test_labels_of_another_tool_are_joined_by_its_fields_not_by_its_numbers(tmp_path: Path) -> None:
    path, tasks = str(written(tmp_path, inspect(edited=False))), list[dict[str, Any]]()
    for k, (key, text) in enumerate(reversed(ANSWERS.items()), start=1):
        chosen = {"from_name": "good", "type": "choices", "value": {"choices": ["correct"]}}
        data = {"sample_id": key, "response": text}
        tasks.append({"id": k, "data": data, "annotations": [{"result": [chosen]}]})
    people = str(written(tmp_path, tasks, "tasks.json"))
    panel = LabelledTable(path=path, people=people).load()
    assert panel.judgments is not None
    assert set(judgment_records(panel.judgments).query("role == 'rater'")["item"]) == set(ANSWERS)
    tasks[0]["data"]["sample_id"] = "q1"
    people = str(written(tmp_path, tasks, "tasks.json"))
    with pytest.raises(DataError, match="the text of item 'q1' is another one there"):
        LabelledTable(path=path, people=people).load()


def test_annotations_without_a_name_are_of_as_many_people(tmp_path: Path) -> None:
    rows = [*langfuse()[:3], *(score("q1", "ANNOTATION", "good", one) for one in (True, False))]
    found = log_of(written(tmp_path, rows)).rows("log")
    assert sum(len(row.labels) for row in found) == 2
