"""Training texts are the scoring prompts, token for token, and papers are split cleanly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("peft", reason="needs the extra local")

from judgelab.errors import ConfigError, DataError
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.finetune import data
from judgelab.finetune.settings import Settings
from judgelab.finetune.split import refuse_overlap, split
from judgelab.mechanism.conditional import measure_conditional
from judgelab.panel import Agent, Item, Panel
from judgelab.prompt import Prompt
from tests.scripted import ScriptedLogProb
from tests.tiny_models import model, tokenizer

PROMPT = Prompt("second_opinion.txt")


def panel(papers: int = 4, reviewers: int = 3, synopsis: bool = True) -> Panel:
    items = tuple(
        Item(f"p{k}", f"Work {k}", synopsis=f" About {k}. " if synopsis else None)
        for k in range(papers)
    )
    texts = tuple(
        tuple(f"Review {j} of {k}: it holds.\n" for j in range(reviewers)) for k in range(papers)
    )
    return Panel(items, tuple(Agent(f"r{j}") for j in range(reviewers)), texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model") / "llama"
    model("llama_gqa").save_pretrained(place)
    tokenizer().save_pretrained(place)
    return place


def settings(folder: Path, **changes: Any) -> Settings:
    return Settings("test", str(folder), PROMPT, **changes)


def test_a_paper_gives_nine_prompts_for_each_metric_and_they_are_those_of_scoring() -> None:
    one = panel(1)
    found = list(data.examples(one, PROMPT))
    assert [e.metric for e in found] == ["gem"] * 9 + ["gem_s"] * 9
    for metric, setting in data.metrics(PROMPT).items():
        lm = ScriptedLogProb(lambda context, target: -1.0)
        measure_conditional(one, lm, setting, ~np.eye(3, dtype=np.bool_))
        mine = [(e.context, e.target) for e in found if e.metric == metric]
        assert len(set(mine)) == 9 and set(mine) == set(lm.seen)
    assert sum("Not available" in e.context for e in found if e.metric == "gem_s") == 3


def test_without_a_synopsis_there_are_no_gem_s_prompts() -> None:
    found = list(data.examples(panel(1, synopsis=False), PROMPT))
    assert len(found) == 9 and {e.metric for e in found} == {"gem"}


def test_three_texts_are_drawn_by_seed_and_paper_and_lonely_ones_are_left_out() -> None:
    many = panel(6, 5)
    rows = list(many.texts)
    rows[2] = (None, "only one", None, "  ", None)
    many = replace(many, texts=tuple(rows))
    three = data.chosen(many, 3, 1)
    assert [item.id for item in three.items] == ["p0", "p1", "p3", "p4", "p5"]
    assert three.provenance["too_few_texts"] == 1
    assert all(
        len(set(row)) == 3 and set(row) <= set(rows[int(item.id[1])])
        for item, row in zip(three.items, three.texts, strict=True)
    )
    alone = data.chosen(replace(many, items=many.items[4:], texts=many.texts[4:]), 3, 1)
    assert alone.texts == three.texts[3:], "one paper's draw does not depend on the others"
    assert any(data.chosen(many, 3, s).texts != three.texts for s in range(2, 6))


@pytest.mark.parametrize("chat", [True, False])
def test_tokens_are_those_of_scoring_with_one_beginning_and_one_end(
    folder: Path, chat: bool
) -> None:
    told = settings(folder, chat=chat, end_token=True, loss_on="response")
    found = list(data.examples(panel(1), PROMPT))
    rows = data.sequences(found, data.encoder(told, folder), told)
    lm = Transformers(**told.scoring)
    contexts, targets = [e.context for e in found], [e.target for e in found]
    pairs = [(k, k) for k in range(len(found))]
    scored = lm._encoder.encode(contexts, targets, pairs).jobs
    assert len(rows.rows) == len(scored) == 18 and rows.cut == rows.left_out == 0
    words = tokenizer()
    for row, job in zip(rows.rows, scored, strict=True):
        assert job is not None
        assert row.input_ids == job[0] + job[1]
        assert row.labels == (data.IGNORED,) * len(job[0]) + job[1]
        assert row.input_ids.count(words.bos_token_id) == 1
        assert row.input_ids[-1] == words.eos_token_id
    assert rows.tokens == sum(len(row.input_ids) for row in rows.rows)


def test_sequence_loss_predicts_everything_and_long_texts_lose_their_end(folder: Path) -> None:
    found = list(data.examples(panel(1), PROMPT))
    whole = data.sequences(found, data.encoder(settings(folder), folder), settings(folder))
    assert all(row.labels == row.input_ids for row in whole.rows)
    lengths = sorted(len(row.input_ids) for row in whole.rows)
    told = settings(folder, max_seq_length=lengths[-1] - 1, loss_on="response")
    cut = data.sequences(found, data.encoder(told, folder), told)
    assert cut.cut == sum(n == lengths[-1] for n in lengths) and cut.left_out == 0
    assert max(len(row.input_ids) for row in cut.rows) == lengths[-1] - 1
    told = settings(folder, max_seq_length=8)
    none = data.sequences(found, data.encoder(told, folder), told)
    assert none.rows == () and none.left_out == 18


def test_a_text_that_imitates_the_template_is_left_out(folder: Path) -> None:
    one = panel(1)
    texts = (("Fine.<|end|>", "So it is.", "Good."),)
    found = list(data.examples(replace(one, texts=texts), PROMPT))
    rows = data.sequences(found, data.encoder(settings(folder), folder), settings(folder))
    assert rows.left_out == 2 * (2 + 2 + 1) and len(rows.rows) == 18 - 10


def test_every_paper_draws_its_own_number() -> None:
    ten = panel(10)
    first = split(ten, 0.3, 0)
    assert len(first.held_out.items) == 3 and len(first.train.items) == 7
    held = {item.id for item in first.held_out.items}
    assert held.isdisjoint(item.id for item in first.train.items)
    turned = replace(ten, items=ten.items[::-1], texts=ten.texts[::-1])
    assert {item.id for item in split(turned, 0.3, 0).held_out.items} == held
    assert {i.id for i in split(ten, 0.3, 5).held_out.items} != held
    assert len(split(ten, 0.01, 0).held_out.items) == 1
    with pytest.raises(DataError, match="at least two papers"):
        split(panel(1), 0.5, 0)
    with pytest.raises(ConfigError, match=r"study\.held_out=1"):
        split(ten, 1.0, 0)


def test_papers_that_share_a_text_go_the_same_way() -> None:
    same = "The same reviewer wrote the very same words about two papers, and they are many. " * 2
    six = panel(6)
    rows = list(six.texts)
    rows[0] = (same, *rows[0][1:])
    rows[5] = (*rows[5][:2], same.upper() + " ")
    six = replace(six, texts=tuple(rows))
    for seed in range(12):
        held = {item.id for item in split(six, 0.34, seed).held_out.items}
        assert ("p0" in held) == ("p5" in held)


def test_overlap_with_evaluation_papers_is_refused() -> None:
    mine = panel(3)
    other = replace(mine, items=tuple(replace(i, id=f"e{i.id}") for i in mine.items))
    refuse_overlap(mine, other)  # equal, but short texts: stock phrases
    refuse_overlap(mine, Panel(()))
    with pytest.raises(DataError, match=r"3 of 3 papers .*id 'p0'"):
        refuse_overlap(mine, mine)
    long = "What the authors claim in section four does not follow from what they show. " * 2
    rows = ((long, "b", "c"), *mine.texts[1:])
    again = (("x", "y", f"  {long.upper()}\n"), *mine.texts[1:])
    with pytest.raises(DataError, match=r"Paper 'p0' .* evaluation paper 'ep0'"):
        refuse_overlap(replace(mine, texts=rows), replace(other, texts=again))
