"""Training texts are the scoring prompts, token for token, and papers are split cleanly."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import DataError
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.finetune import data
from judgelab.finetune.data import refuse_overlap, split
from judgelab.finetune.settings import Settings
from judgelab.mechanism.logprob import measure_conditional
from judgelab.scoring.source import TRAINED_ON, TrainedOn, digest, trained_on
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


def settings(folder: Path | str = "m", **changes: Any) -> Settings:
    return Settings("test", str(folder), PROMPT, **changes)


def test_a_paper_gives_nine_prompts_for_each_metric_and_they_are_those_of_scoring() -> None:
    one = panel(1)
    for metric, setting in data.settings_of(settings()).items():
        lm = ScriptedLogProb(lambda context, target: -1.0)
        measure_conditional(one, lm, setting, ~np.eye(3, dtype=np.bool_))
        mine = list(data.prompts(one, settings(metrics=[metric])))
        assert len(mine) == 9 and set(mine) == set(lm.seen)
    alone = [context for context, _ in data.prompts(one, settings(metrics=["gem_s"]))]
    assert sum("Not available" in context for context in alone) == 3
    assert len(list(data.prompts(one, settings()))) == 18
    assert len(list(data.prompts(panel(1, synopsis=False), settings()))) == 9, "none of gem_s"


def test_loss_is_nats_over_the_tokens_of_the_texts_that_are_predicted() -> None:
    """At 1 nat per token the loss is 1, also where one direction of a pair is unscored."""
    texts = (("alpha " * 2, "beta " * 9, "gamma " * 5),)
    for lost in ("alpha", "beta"):
        lm = ScriptedLogProb(lambda x, y, lost=lost: np.nan if lost in x else -len(y.split()))
        values, raw = data.measure(replace(panel(1), texts=texts), lm, settings())
        assert raw["gem"]["peer_given_agent"].isnull().sum() == 3 + 2  # the diagonal, and lost's
        assert values["loss"].tolist() == [1.0]


def test_three_texts_are_drawn_by_seed_and_paper_and_lonely_ones_are_left_out() -> None:
    many = panel(6, 5)
    rows = list(many.texts)
    rows[2] = (None, "only one", None, "  ", None)
    many = replace(many, texts=tuple(rows))
    three = data.sample_texts(many, 3, 1)
    assert [item.id for item in three.items] == ["p0", "p1", "p3", "p4", "p5"]
    assert three.provenance["too_few_texts"] == 1
    assert all(
        len(set(row)) == 3 and set(row) <= set(rows[int(item.id[1])])
        for item, row in zip(three.items, three.texts, strict=True)
    )
    alone = data.sample_texts(replace(many, items=many.items[4:], texts=many.texts[4:]), 3, 1)
    assert alone.texts == three.texts[3:], "one paper's draw does not depend on the others"
    assert any(data.sample_texts(many, 3, s).texts != three.texts for s in range(2, 6))


@pytest.mark.parametrize("chat", [True, False])
def test_tokens_are_of_scoring_with_one_beginning_and_one_end(folder: Path, chat: bool) -> None:
    told = settings(folder, chat=chat, end_token=True, loss_on="response")
    rows = data.examples(panel(1), told, folder)
    contexts, targets = zip(*data.prompts(panel(1), told), strict=True)
    pairs = [(k, k) for k in range(len(contexts))]
    scored = Transformers(**told.scoring)._encoder.encode(contexts, targets, pairs)
    assert len(rows.rows) == len(scored) == 18 and rows.cut == rows.left_out == 0
    words = tokenizer()
    for row, job in zip(rows.rows, scored, strict=True):
        assert job is not None
        assert row.input_ids == job[0] + job[1]
        assert row.labels == (data.IGNORED,) * len(job[0]) + job[1]
        assert row.input_ids.count(words.bos_token_id) == 1
        assert row.input_ids[-1] == words.eos_token_id


def test_sequence_loss_predicts_everything_and_long_texts_lose_their_end(folder: Path) -> None:
    whole = data.examples(panel(1), settings(), folder)
    assert all(row.labels == row.input_ids for row in whole.rows)
    lengths = sorted(len(row.input_ids) for row in whole.rows)
    told = settings(max_seq_length=lengths[-1] - 1, loss_on="response")
    cut = data.examples(panel(1), told, folder)
    assert cut.cut == sum(n == lengths[-1] for n in lengths) and cut.left_out == 0
    assert max(len(row.input_ids) for row in cut.rows) == lengths[-1] - 1
    none = data.examples(panel(1), settings(max_seq_length=8), folder)
    assert none.rows == () and none.left_out == 18


def test_a_text_that_imitates_the_template_is_left_out(folder: Path) -> None:
    texts = (("Fine.<|end|>", "So it is.", "Good."),)
    rows = data.examples(replace(panel(1), texts=texts), settings(), folder)
    assert rows.left_out == 2 * (2 + 2 + 1) and len(rows.rows) == 18 - 10


def held_out(papers: Panel, share: float, seed: int) -> set[str]:
    train, held = split(papers, share, seed)
    ids = {item.id for item in held.items}
    assert ids.isdisjoint(item.id for item in train.items)
    assert len(train.items) + len(ids) == len(papers.items)
    return ids


def test_every_paper_draws_its_own_number() -> None:
    ten = panel(10)
    held = held_out(ten, 0.3, 0)
    assert len(held) == 3
    assert held_out(replace(ten, items=ten.items[::-1], texts=ten.texts[::-1]), 0.3, 0) == held
    assert held_out(ten, 0.3, 5) != held
    assert len(held_out(ten, 0.01, 0)) == 1 and not held_out(ten, 0, 0)
    with pytest.raises(DataError, match="at least two papers"):
        split(panel(1), 0.5, 0)


def test_papers_that_share_a_long_text_go_the_same_way() -> None:
    six = described(panel(6), p1=LONG, p4=f"  {LONG.upper()}\n")
    rows = list(six.texts)
    same = "The same reviewer wrote the very same words about two papers, and they are many. " * 2
    rows[0] = (same, *rows[0][1:])
    rows[5] = (*rows[5][:2], same.upper() + " ")
    for seed in range(12):
        held = held_out(replace(six, texts=tuple(rows)), 0.34, seed)
        assert ("p0" in held) == ("p5" in held) and ("p1" in held) == ("p4" in held)


def test_overlap_with_evaluation_papers_is_refused() -> None:
    own = panel(3)
    other = replace(own, items=tuple(replace(i, id=f"e{i.id}") for i in own.items))
    refuse_overlap(own, other)  # equal, but short texts: stock phrases
    refuse_overlap(own, Panel(()))
    with pytest.raises(DataError, match=r"3 of 3 papers .*id 'p0'"):
        refuse_overlap(own, own)
    again = (("x", "y", f"  {LONG.upper()}\n"), *own.texts[1:])
    for papers in (replace(own, texts=((LONG, "b", "c"), *own.texts[1:])), described(own, p0=LONG)):
        with pytest.raises(DataError, match=r"Paper 'p0' .* evaluation paper 'ep0'"):
            refuse_overlap(papers, replace(other, texts=again))


LONG = "We study how reviewers agree when none of them has read the paper to its very end. " * 2


def described(panel: Panel, **synopses: str) -> Panel:
    """The panel with other synopses for some papers."""
    items = tuple(replace(i, synopsis=synopses.get(i.id, i.synopsis)) for i in panel.items)
    return replace(panel, items=items)


def test_an_adapter_says_which_papers_trained_it(tmp_path: Path) -> None:
    loaded = described(panel(4), p2=LONG)
    rows = (("x" * 120, None, None), *loaded.texts[1:])
    loaded = replace(loaded, texts=rows)
    train = data.sample_texts(replace(loaded, items=loaded.items[1:3], texts=rows[1:3]), 3, 0)
    train = replace(train, texts=(("y" * 120, "short", "b"), train.texts[1]))
    made = TrainedOn.of("base", "sha256:1", train, loaded)
    hashes = {hashlib.sha256(t.encode()).hexdigest() for t in ("y" * 120, LONG.lower().strip())}
    assert made.papers == ("p1", "p2") and set(made.texts) == hashes, "p0 did not train"
    assert trained_on(tmp_path) is None
    (tmp_path / TRAINED_ON).write_text(json.dumps(asdict(made)), encoding="utf-8")
    found = trained_on(tmp_path)
    assert found == made
    assert found.overlap(loaded) == ["p1", "p2"]
    renamed = replace(loaded, items=tuple(replace(i, id=f"n{i.id}") for i in loaded.items))
    assert found.overlap(renamed) == ["np2"], "short texts are stock phrases"
    assert found.overlap(replace(renamed, texts=(("Y" * 120, "", ""), *rows[1:]))) == ["np0", "np2"]
    (tmp_path / TRAINED_ON).write_text('{"base": 3}', encoding="utf-8")
    with pytest.raises(DataError, match=r"trained_on\.json is damaged .*: train the adapter again"):
        trained_on(tmp_path)


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # from peft
def test_an_adapter_on_another_base_of_the_same_shape_is_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import peft
    import torch

    path = tmp_path / "adapter"
    own = shutil.copytree(folder, tmp_path / "own")
    twin = copy.deepcopy(model("llama_gqa"))  # it is every test's
    with torch.no_grad():
        twin.model.norm.weight += 1.0
    twin.save_pretrained(tmp_path / "other")
    tokenizer().save_pretrained(tmp_path / "other")
    peft.get_peft_model(twin, peft.LoraConfig(target_modules=["q_proj"])).save_pretrained(str(path))
    record = TrainedOn.of("the base", f"sha256:{digest(folder)}", panel(1), panel(1))
    (path / TRAINED_ON).write_text(json.dumps(asdict(record)), encoding="utf-8")
    for put_on, said in ((own, None), (tmp_path / "other", "trained on the base (sha256:")):
        lm = Transformers(str(put_on), adapter=str(path), device_map="cpu")
        assert np.isfinite(lm.logprob(["a"], ["b"], [(0, 0)]).total).all()
        told, found = capsys.readouterr().err, lm.facts["adapter_base"]
        if said is None:
            assert found is None and "warning" not in told, "a copy elsewhere is the same base"
        else:
            assert found.startswith(said) and f"put on {put_on} (sha256:" in found
            assert f"warning: the adapter {path} was {found}: " in told
