"""Closed questions put to a local model: from requests with labels to replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest, Reply
from judgelab.scoring.chat import ChatTemplate, LabelText
from judgelab.scoring.choose import choose
from judgelab.scoring.encode import Encoder
from judgelab.scoring.engine import Engine
from judgelab.scoring.generate import end_tokens
from judgelab.scoring.prefix_tree import Ids, Job
from judgelab.scoring.trie import Trie

FOLLOWERS = (*".,:;/%)!?]-*'\"`\n ", ".\n", ":\n", "\n\n", "**", " (", " -", " out", " and")
"""What often follows a label in a reply that has more to say."""


def answer_closed(
    engine: Engine,
    tokenizer: Any,
    template: ChatTemplate,
    prompts: Sequence[str],
    requests: Sequence[ChatRequest],
) -> list[Reply]:
    """One of its labels for every request, with the log-probability of each.

    Args:
        engine: of the model.
        tokenizer: the model's.
        template: writes the labels as replies.
        prompts: the requests as the model is to see them.
        requests: all with labels.

    Raises:
        ConfigError: two labels are the same tokens.
    """
    stops = _stops(engine.model, tokenizer)
    asked = _encoded(Encoder(tokenizer, LabelText(template), end_token=False), prompts, requests)
    longest = getattr(engine.model.config.get_text_config(), "max_position_embeddings", None)
    questions: dict[int, tuple[Ids, Trie]] = {}
    replies: dict[int, Reply] = {}
    for index, jobs in enumerate(asked):
        prompt, labels = _parted(jobs)
        if longest is not None and len(prompt) + max(map(len, labels)) >= longest:
            reason = f"the prompt's {len(prompt)} tokens leave the model no room to answer"
            replies[index] = Reply(None, reason, settled=True)
        else:
            questions[index] = prompt, _trie(labels, stops)
    for index, choice in zip(questions, choose(engine, list(questions.values())), strict=True):
        texts, read = requests[index].labels, len(questions[index][0])
        scored = tuple(zip(texts, choice.nats, strict=True))
        replies[index] = Reply(texts[choice.best], None, read, 0, label_logprobs=scored)
    return [replies[index] for index in range(len(requests))]


def _encoded(
    encoder: Encoder, prompts: Sequence[str], requests: Sequence[ChatRequest]
) -> list[list[Job]]:
    """For each request the tokens of prompt and label, by label."""
    labels = list(dict.fromkeys(label for request in requests for label in request.labels))
    place = {label: index for index, label in enumerate(labels)}
    pairs = [(c, place[label]) for c, request in enumerate(requests) for label in request.labels]
    jobs = iter(encoder.encode(prompts, labels, pairs).jobs)
    found: list[list[Job]] = []
    for request in requests:
        row = [next(jobs) for _ in request.labels]
        found.append([job for job in row if job is not None])  # a rendered prompt is never empty
    return found


def _parted(jobs: Sequence[Job]) -> tuple[Ids, tuple[Ids, ...]]:
    """What all labels of a request follow, and what follows it: where the prompt's last tokens
    merge with a label's first ones, those belong to the labels.
    """
    start = min(len(context) for context, _ in jobs)
    return jobs[0][0][:start], tuple((context + target)[start:] for context, target in jobs)


def _stops(model: Any, tokenizer: Any) -> Ids:
    """Tokens that end a reply, and those that often follow a label."""
    coded = tokenizer(list(FOLLOWERS), add_special_tokens=False)["input_ids"]
    single = {ids[0] for ids in coded if len(ids) == 1}
    return tuple(sorted(single | set(end_tokens(model, tokenizer))))


@lru_cache(maxsize=64)
def _trie(labels: tuple[Ids, ...], stops: Ids) -> Trie:
    if len(set(labels)) < len(labels) or not all(labels):
        raise ConfigError(
            "two of the allowed replies are the same tokens to this model, or one is empty: set "
            "mechanism.reply=generated."
        )
    return Trie(labels, stops)
