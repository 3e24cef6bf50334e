"""Chat template and end token: one meaning for every LM that gives log-probabilities."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from judgelab.core.errors import ConfigError
from judgelab.core.estimator import Presentation
from judgelab.scoring.chat import ChatTemplate, ChatText
from judgelab.scoring.encode import Encoder, RawText

Template = Literal["none", "chat"]
SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


@dataclass(frozen=True)
class Framing:
    """How contexts and targets become one text.

    Attributes:
        template: ``none``: as they are; ``chat``: the context is a user's message and the target
            the reply, by the model's own chat template.
        system: system message of the chat; None for the template's own.
        today: the date that templates print.
        end_token: whether the sum includes the token that ends the text, or the turn.
    """

    template: Template
    system: str | None
    today: date
    end_token: bool

    def encoder(self, tokenizer: Any) -> Encoder:
        """Contexts and targets to tokens.

        Raises:
            ConfigError: the tokenizer has no chat template, or one whose date cannot be pinned;
                or raw text is to end with a token, and the tokenizer names none.
        """
        if self.template == "none":
            if self.end_token and tokenizer.eos_token_id is None:
                raise ConfigError(
                    "evaluation_lm.end_token=true: the model's tokenizer has no eos_token that "
                    "could end a text: set evaluation_lm.end_token=null, or give a tokenizer "
                    "that names one."
                )
            return Encoder(tokenizer, RawText(), self.end_token)
        frame = ChatText(ChatTemplate(tokenizer, self.today), self.system)
        return Encoder(tokenizer, frame, self.end_token)

    @property
    def plain(self) -> bool:
        """Texts as they are, without an end token: what an LM without these settings does."""
        return self.template == "none" and not self.end_token

    def presentation(self, model: str, precision: str = "") -> Presentation:
        """The same for an estimator's identity."""
        system = "" if self.template == "none" or self.system is None else text_hash(self.system)
        counted = "counted" if self.end_token else "not counted"
        return Presentation(model, self.template, counted, system, precision)

    @property
    def identity(self) -> str:
        """Whatever of it can change an answer."""
        ends = f"template={self.template} end_token={'yes' if self.end_token else 'no'}"
        if self.template == "none":
            return ends
        system = "none" if self.system is None else text_hash(self.system)
        return f"{ends} system={system} template_date={self.today.isoformat()}"


def ends(template: Template, end_token: bool | None) -> bool:
    """Whether the end token counts: where nothing is said, in a chat only."""
    return template == "chat" if end_token is None else end_token


def precision(dtype: str, quantization: str) -> str:
    """Both in the field's words: ``bf16``, ``nf4 in bf16``; empty where the dtype is not known."""
    short = SHORT.get(dtype, "")
    return short if quantization == "none" else f"{quantization} in {short or 'a dtype not known'}"


def text_hash(text: str) -> str:
    """A short name of a text's content."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
