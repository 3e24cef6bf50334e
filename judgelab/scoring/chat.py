"""How texts are put to a model: chat template with a pinned date, system message, end token.

One meaning for every LM that gives log-probabilities: ``FramedLM``.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

from judgelab.core.errors import ConfigError, require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import EvaluationLM, Message
from judgelab.core.panel import HALVED, halved
from judgelab.scoring.encode import Encoder, RawText, imitates
from judgelab.scoring.load import load_tokenizer
from judgelab.scoring.source import ModelSource

Template = Literal["none", "chat"]
IMITATING = "a text spells out control tokens of the chat template"
NOW = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")
"""How a template asks for the date."""
SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def refusal(tokenizer: Any, texts: Sequence[str]) -> str | None:
    """Why a conversation of these texts is not put to the model; None where it may be."""
    if any(map(halved, texts)):
        return HALVED
    return IMITATING if any(imitates(tokenizer, text) for text in texts) else None


class ChatTemplate:
    """Conversations as the text a model was trained on, printing ``today`` as the date.

    Raises:
        ConfigError: the tokenizer has no chat template, or one whose date cannot be pinned.
    """

    def __init__(self, tokenizer: Any, today: date) -> None:
        if not tokenizer.chat_template:
            raise ConfigError(
                "this model has no chat template: set evaluation_lm.template=none for raw texts, "
                "or choose an instruction-tuned model."
            )
        self.tokenizer, self.today = tokenizer, today
        self._text = _pinned(tokenizer.get_chat_template(), today)

    def render(self, messages: Sequence[Message], reply_follows: bool) -> str:
        """The conversation as one text, up to where the model's reply begins if ``reply_follows``.

        Raises ConfigError where the template refuses these roles.
        """
        jinja: Any = require("jinja2", extra="local")
        try:
            text = self.tokenizer.apply_chat_template(
                [{"role": m.role, "content": m.content} for m in messages],
                tokenize=False,
                add_generation_prompt=reply_follows,
                chat_template=self._text,
                date_string=self.today.strftime("%d %b %Y"),
            )
        except jinja.TemplateError as cause:
            roles = ", ".join(m.role for m in messages)
            raise ConfigError(
                f"the chat template of this model refuses the roles {roles} ({cause}): "
                "set evaluation_lm.system=null if it knows no system message."
            ) from cause
        return str(text)

    def reply(self, opening: Sequence[Message], text: str, undefined: str) -> str:
        """What the template writes after its generation prompt where the reply is ``text``.

        ConfigError, saying what is ``undefined``, where conversations do not continue that prompt.
        """
        ask = (*opening, Message("user", "-"))
        before = self.render(ask, reply_follows=True)
        whole = self.render((*ask, Message("assistant", text)), reply_follows=False)
        if not whole.startswith(before):
            raise differs(undefined)
        return whole[len(before) :]


def differs(undefined: str) -> ConfigError:
    """A template that writes a conversation with a reply unlike one that awaits it."""
    return ConfigError(
        "the chat template of this model writes a reply differently from its generation prompt, "
        f"so {undefined}."
    )


def _pinned(template: str, today: date) -> str:
    """The template with every date of the clock written out."""
    pinned = NOW.sub(lambda call: repr(today.strftime(call[2])), template)
    if "strftime_now(" in pinned:
        raise ConfigError(
            "the chat template of this model prints today's date in a way that cannot be pinned, "
            "so results would depend on the day: set evaluation_lm.template=none."
        )
    return pinned


class ChatText:
    """The context is a user's message, the target the assistant's reply.

    The reply's text begins after the template's generation prompt; with ``end_token`` the sum
    includes the token that ends the turn, as GEM's does. (GEM also counts the line break of the
    header, whose probability is about 1.) Without a system message the template has its own.
    """

    controls = True
    guarded = True

    def __init__(self, template: ChatTemplate, system: str | None) -> None:
        self.template = template
        self._opening = () if system is None else (Message("system", system),)

    def context(self, text: str) -> str:
        """The conversation up to where the reply begins."""
        return self.template.render((*self._opening, Message("user", text)), reply_follows=True)

    def target(self, text: str) -> str:
        """The reply as the template writes it (some trim it), with what ends the turn."""
        undefined = "log P(reply) is not defined: set evaluation_lm.template=none"
        return self.template.reply(self._opening, text, undefined)


@dataclass(frozen=True)
class Framing:
    """How contexts and targets become one text; see ``of``."""

    template: Template
    system: str | None
    today: date
    end_token: bool

    @classmethod
    def of(
        cls, template: Template, system: str | None, template_date: str, end_token: bool | None
    ) -> Framing:
        """From an LM's settings.

        Args:
            template: ``none``: as they are; ``chat``: the context is a user's message and the
                target the reply, by the model's own chat template.
            system: system message of the chat; None for the template's own.
            template_date: the date that templates print, YYYY-MM-DD.
            end_token: whether the sum includes the token that ends the text, or the turn; None
                means yes in a chat and no for raw text.

        Raises:
            ConfigError: ``template_date`` is no date.
        """
        try:
            today = date.fromisoformat(template_date)
        except ValueError as cause:
            raise ConfigError(
                f"evaluation_lm.template_date={template_date!r} must be a date like 2024-07-26."
            ) from cause
        return cls(template, system, today, template == "chat" if end_token is None else end_token)

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

    def presentation(self, model: str, dtype: str = "", quantization: str = "none") -> Presentation:
        """The same for an estimator's identity; precision as ``bf16`` or ``nf4 in bf16``."""
        held = SHORT.get(dtype, "")
        if quantization != "none":
            held = f"{quantization} in {held or 'a dtype not known'}"
        system = "" if self.template == "none" or self.system is None else self.system_name
        counted = "counted" if self.end_token else "not counted"
        return Presentation(model, self.template, counted, system, held)

    @property
    def identity(self) -> str:
        """Whatever of it can change an answer."""
        ends = f"template={self.template} end_token={'yes' if self.end_token else 'no'}"
        if self.template == "none":
            return ends
        return f"{ends} system={self.system_name} template_date={self.today.isoformat()}"

    @property
    def system_name(self) -> str:
        """The system message by its hash; none without one."""
        return (
            "none" if self.system is None else hashlib.sha256(self.system.encode()).hexdigest()[:12]
        )


class FramedLM(EvaluationLM):
    """An LM that puts texts to a model by a framing, and knows the model's tokenizer."""

    framing: Framing

    @property
    @abstractmethod
    def _source(self) -> ModelSource:
        """Where the tokenizer lies, and which one it is."""

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._source.folder)

    @cached_property
    def _template(self) -> ChatTemplate:
        return ChatTemplate(self._tokenizer, self.framing.today)

    @cached_property
    def _encoder(self) -> Encoder:
        return self.framing.encoder(self._tokenizer)
