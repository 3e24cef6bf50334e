"""A model's chat template around texts, with its date pinned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from judgelab.core.errors import ConfigError, require
from judgelab.core.lm import Message
from judgelab.core.surrogates import HALVED, halved
from judgelab.scoring.encode import imitates

IMITATING = "a text spells out control tokens of the chat template"
NOW = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")
"""How a template asks for the date."""


def pinned_date(text: str) -> date:
    """The date that templates print.

    Raises:
        ConfigError: it is not one.
    """
    try:
        return date.fromisoformat(text)
    except ValueError as cause:
        raise ConfigError(
            f"evaluation_lm.template_date={text!r} must be a date like 2024-07-26."
        ) from cause


def refusal(tokenizer: Any, texts: Sequence[str]) -> str | None:
    """Why a conversation of these texts is not put to the model; None where it may be."""
    if any(map(halved, texts)):
        return HALVED
    return IMITATING if any(imitates(tokenizer, text) for text in texts) else None


class ChatTemplate:
    """Conversations as the text a model was trained on.

    Args:
        tokenizer: has a chat template.
        today: the date that templates which print one are given, so that no result depends on
            the day of the run.

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
        """The conversation as one text.

        Args:
            reply_follows: end with what precedes the model's reply.

        Raises:
            ConfigError: the template refuses these roles.
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

    def reply(self, opening: Sequence[Message], text: str) -> str | None:
        """What the template writes after its generation prompt where the reply is ``text``.

        None where it writes a conversation with a reply in another way than one that awaits it.
        """
        ask = (*opening, Message("user", "-"))
        before = self.render(ask, reply_follows=True)
        whole = self.render((*ask, Message("assistant", text)), reply_follows=False)
        return whole[len(before) :] if whole.startswith(before) else None


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
    header, whose probability is about 1.)

    Args:
        template: renders conversations.
        system: system message, or None for the template's own.
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
        """The reply as the template writes it (some trim it), with what ends the turn.

        Raises:
            ConfigError: the template's conversations do not continue its generation prompt.
        """
        written = self.template.reply(self._opening, text)
        if written is None:
            raise ConfigError(
                "the chat template of this model writes a reply differently from its generation "
                "prompt, so log P(reply) is not defined: set evaluation_lm.template=none."
            )
        return written


class LabelText:
    """Contexts are rendered conversations already; a target is a reply, without what ends it."""

    controls = True
    guarded = False

    def __init__(self, template: ChatTemplate) -> None:
        self.template = template
        self._known: dict[str, str] = {}

    def context(self, text: str) -> str:
        """The text."""
        return text

    def target(self, text: str) -> str:
        """The reply, behind whatever the template writes before one (a space, in some).

        Raises:
            ConfigError: the template's conversations do not continue its generation prompt.
        """
        if text not in self._known:
            written = self.template.reply((), text)
            if written is None or text not in written:
                raise ConfigError(
                    "the chat template of this model writes a reply differently from its "
                    "generation prompt, so P(label) is not defined: set mechanism.reply=generated."
                )
            self._known[text] = written[: written.index(text) + len(text)]
        return self._known[text]
