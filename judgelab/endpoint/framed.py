"""Prompts that we render and tokenise ourselves, for servers that report their log-probabilities.

The server is sent the very tokens that a local model is given, so a sum is the local one's. Where
it takes text alone it is sent the tokens' text, without the first token where it adds that itself.
Which of these a server reads as we mean it is settled by one prompt whose tokens are known, and
every answer must hold as many tokens as were meant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from judgelab.core.errors import CapabilityError
from judgelab.endpoint.attempts import Call, Caller, estimate
from judgelab.endpoint.logprobs import (
    Mode,
    ScoredPrompt,
    UnusableError,
    read_prompt,
    scoring_body,
    total,
)
from judgelab.scoring.encode import Encoder
from judgelab.scoring.prefix_tree import Ids, Job

Form = Literal["tokens", "text", "text without its first token"]
CONTEXT, TARGET = "Which ships came in before the fog did?\n", "Two of them, said the keeper."


class FramedPrompts:
    """log P(target | context) of token sequences, asked of a server.

    Args:
        encoder: contexts and targets to tokens, by the model's own tokenizer.
        model: as the server calls it.
        mode: how the server reports log-probabilities of a prompt.

    Attributes:
        imitating: pairs unscored, as a text spells out control tokens.
        unsent: pairs unscored, as the server takes text alone, and would read the tokens' text as
            other tokens.
        misread: pairs unscored, as the server read another number of tokens (it cuts prompts).
    """

    def __init__(self, encoder: Encoder, model: str, mode: Mode) -> None:
        self.encoder, self.model, self.mode = encoder, model, mode
        self.imitating = self.unsent = self.misread = 0
        self.form: Form | None = None

    async def settle(self, caller: Caller) -> None:
        """Find the form in which the server reads the tokens that we mean.

        Raises:
            CapabilityError: there is none.
        """
        (job,) = self.encoder.encode([CONTEXT], [TARGET], [(0, 0)]).jobs
        assert job is not None
        forms: tuple[Form, ...] = ("tokens", "text", "text without its first token")
        for form in forms:
            prompt = self._prompt(job, form)
            if prompt is not None and self._as_meant(await self._ask(caller, prompt, job), job):
                self.form = form
                return
        raise CapabilityError(
            f"{caller.where} reads other tokens than the model's tokenizer makes of a rendered "
            "text, sent as tokens or as text: is evaluation_lm.tokenizer that of the model which "
            "answers there? Else use evaluation_lm.template=none and end_token=null."
        )

    async def score(self, caller: Caller, job: Job | None) -> tuple[float, int]:
        """(sum in nats, tokens) of the target; NaN where it could not be scored."""
        assert self.form is not None
        if job is None:
            self.imitating += 1
            return math.nan, 0
        prompt = self._prompt(job, self.form)
        if prompt is None:
            self.unsent += 1
            return math.nan, 0
        if not job[1]:
            return 0.0, 0
        scored = await self._ask(caller, prompt, job)
        if scored is None:
            return math.nan, 0
        if len(scored.logprobs) != len(job[0]) + len(job[1]):
            self.misread += 1
            return math.nan, 0
        return total(scored.logprobs[len(job[0]) :])

    def _prompt(self, job: Job, form: Form) -> Ids | str | None:
        """What is sent; None where the text of the tokens would be read as other tokens."""
        ids: Ids = (*job[0], *job[1])
        if form == "tokens":
            return ids
        words: Any = self.encoder.tokenizer
        rest = ids if form == "text" else ids[1:]
        text = str(words.decode(rest, clean_up_tokenization_spaces=False))
        again = words(text, add_special_tokens=form != "text")["input_ids"]
        return text if tuple(again) == ids else None

    async def _ask(self, caller: Caller, prompt: Ids | str, job: Job) -> ScoredPrompt | None:
        body = scoring_body(self.model, self.mode, prompt)
        size = estimate([prompt]) if isinstance(prompt, str) else len(prompt)
        answer = await caller.call(Call("completions", body, ("logprob",), (size, 1)))
        if answer.body is None:
            return None
        try:
            return read_prompt(answer.body, self.mode)
        except UnusableError as cause:
            if self.form is None:
                return None  # another form may do
            raise CapabilityError(
                f"{caller.where} stopped giving log-probabilities: {cause}."
            ) from None

    def _as_meant(self, scored: ScoredPrompt | None, job: Job) -> bool:
        """Whether it holds our tokens: as many, and the target's text where the target is."""
        if scored is None or len(scored.tokens) != len(job[0]) + len(job[1]):
            return False
        read = "".join(scored.tokens[len(job[0]) :])
        return read.strip().startswith(TARGET) and all(_known(scored.logprobs[1:]))


def _known(values: Sequence[float | None]) -> list[bool]:
    return [value is not None for value in values]
