"""Which estimator a score is by, and comparisons that would mix two."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM, CountingLM
from judgelab.calls.log import LoggedLM
from judgelab.calls.pace import Limits
from judgelab.core.estimator import LM, Estimator, differences, marks, mixtures
from judgelab.core.prompt import Prompt
from judgelab.engine.context import estimator_of
from judgelab.evaluation_lm.compression import Compression
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.report import console
from judgelab.report.jobs import jobs
from judgelab.report.sweep import screen, table, write
from judgelab.scale.ray import Collector
from tests.scripted import ScriptedChat, ScriptedLogProb
from tests.unit.report.report_results import result, write_job, write_run

CHAT = Estimator(
    mechanism="gem",
    model="transformers tiny",
    lm="transformers model=sha256:1 chat=yes",
    template="chat",
    end_token="counted",
    instructions="in the user's message",
    reply="",
    preprocessor="rules",
    precision="fp32",
    prompt="p.txt sha256:1",
    definition="corrected",
)
RAW = replace(CHAT, template="none", end_token="not counted", instructions="before the text")


def made(mechanism: Any, lm: Any, preprocessor: str = "rules", **attrs: str) -> Estimator:
    return estimator_of(mechanism, lm, preprocessor, attrs, "corrected")


def test_an_lm_says_how_texts_are_put_to_it_through_every_wrapper(tmp_path: Path) -> None:
    here, limits = str(tmp_path), Limits()
    lm = OpenAI(here, "http://h/v1", limits, logprobs="echo", template="chat", end_token=False)
    cached = CachedLM(lm, CallCache(tmp_path / "c.sqlite"))
    said = lm.presentation
    assert (said.template, said.end_token, said.precision) == ("chat", "not counted", "")
    for wrapper in (cached, CountingLM(cached), LoggedLM(cached), Collector(cached)):
        assert wrapper.presentation == said
    cached.close()
    assert Compression().presentation.end_token == "not counted"
    assert ScriptedLogProb(lambda c, t: 0.0).presentation.template == "not known"


def test_a_critic_that_chats_sums_no_end_token() -> None:
    critic = TvdMi(Prompt("tvd_mi.txt"))
    chat = made(critic, ScriptedChat(lambda r: ""), critic="chat", prompt="tvd_mi.txt sha256:0")
    assert (chat.template, chat.end_token, chat.reply) == ("chat", "", "generated")
    assert chat.instructions == "in the user's message"
    by_labels = made(critic, ScriptedChat(lambda r: ""), critic="chat", reply="labels")
    assert mixtures([chat, by_labels])[0].count("replies generated; replies labels") == 1
    likely = made(critic, Compression(), critic="likelihood")
    assert (likely.template, likely.end_token, likely.reply) == ("none", "not counted", "")


def test_what_differs_under_one_name_is_told_and_marked() -> None:
    (said,) = mixtures([CHAT, RAW, CHAT])
    assert said == (
        "Different estimators under one name: rows of gem differ in the chat template (chat "
        "template; no chat template) and the end token (end token counted; end token not counted), "
        "so their scores do not measure the same quantity."
    )
    other = replace(CHAT, mechanism="mi", template="none")
    assert mixtures([CHAT, other, None]) == ()
    told = ["chat template, end token counted", "no chat template, end token not counted"]
    assert marks([CHAT, RAW, other, None]) == [*told, "", ""]


def test_what_a_comparison_names_and_what_nobody_knows_differ_from_nothing() -> None:
    hosted = replace(CHAT, model="openai m", lm="openai model=m", precision="")
    assert differences([CHAT, hosted], ["model"]) == {}
    assert differences([CHAT, hosted]) == {"gem": ("model",)}
    for part, value in (("precision", "bf16"), ("preprocessor", "none"), ("prompt", "q.txt")):
        assert differences([CHAT, replace(CHAT, **{part: value})]) == {"gem": (part,)}
    other = replace(RAW, model="x", precision="bf16")
    assert differences([CHAT, other], LM) == {"gem": ("instructions",)}


def sweep(root: Path, axis: str, each: dict[str, Estimator]) -> Path:
    for number, (value, one) in enumerate(each.items()):
        run = root / "runs" / f"r{number}"
        write_run(run, {**result(3, ("clean",)), "estimators": [asdict(one)]})
        choices = {"mechanism": one.mechanism, axis: value}
        write_job(root / "sweeps" / "s", number, choices, status="done", run=str(run))
    return root / "sweeps" / "s"


def said(folder: Path) -> tuple[str, str]:
    page = write(folder).read_text(encoding="utf-8")
    return console.rendered(screen(jobs(folder), folder), 200), page


def test_a_sweep_over_the_template_says_so_on_top_and_marks_the_rows(tmp_path: Path) -> None:
    folder = sweep(tmp_path, "evaluation_lm.template", {"chat": CHAT, "none": RAW})
    text, page = said(folder)
    first = next(line for line in text.splitlines() if line)
    assert first.startswith("Different estimators under one name: rows of gem differ in the chat")
    assert "no chat template, end token not counted" in text
    assert page.index("Different estimators under one name") < page.index("<table ")
    rows = table(jobs(folder)).to_dict("records")
    assert [row["estimator_differs"] for row in rows] == marks([CHAT, RAW])
    assert [row["estimator"] for row in rows] == [CHAT.line, RAW.line]
    named = {"a": CHAT, "b": replace(RAW, model="b", lm="b")}
    other = sweep(tmp_path / "lms", "evaluation_lm", named)
    assert "rows of gem differ in the chat template" in said(other)[0], "also where LMs are named"
