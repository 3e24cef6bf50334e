"""From texts to tokens: how they are put to a model, and where context ends and target begins.

Sharing a context between targets changes nothing only if the tokens of x + y are those of x
followed by those of y. That is checked for every pair; where it does not hold, the pair is encoded
jointly, and the target takes the tokens after the longest common beginning with x alone: of a
token that runs across the boundary the target is charged the whole, given the context before it
(endpoints that get raw texts sum the same tokens less what the context's own last ones cost:
log P(xy) - log P(x)).
"""

from __future__ import annotations

import hashlib
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

from judgelab.core.errors import ConfigError, require
from judgelab.core.estimator import Presentation
from judgelab.core.lm import (
    UNKNOWN,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Message,
    Pairs,
    Reply,
    Strings,
)
from judgelab.core.panel import HALVED, halved
from judgelab.scoring.load import load_tokenizer
from judgelab.scoring.prefix_tree import Ids, Job, common
from judgelab.scoring.source import ModelSource

Template = Literal["none", "chat"]
IMITATING = "a text spells out control tokens of the chat template"
NOW = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")  # how a template asks for the date
DATE = date(2024, 7, 26)
"""What templates that print today's date print, so that no answer depends on the day."""

SHORT = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
WINDOW = 64  # characters on either side of the boundary that are encoded for the check
AGREE = 8  # tokens on either side that must come out as in the whole text for that to count
Texts = dict[int, str]
Coded = dict[int, Ids]


def imitates(tokenizer: Any, text: str) -> bool:
    """Whether a text spells out a control token, and so could end its own turn in a chat."""
    tokens = tokenizer.added_tokens_decoder.values()
    return any(token.special and token.content in text for token in tokens)


class ChatTemplate:
    """Conversations as the text a model was trained on, printing ``DATE`` as the date; ConfigError
    where the tokenizer has no chat template, or one whose date cannot be pinned."""

    def __init__(self, tokenizer: Any) -> None:
        if not tokenizer.chat_template:
            raise ConfigError(
                "this model has no chat template: set evaluation_lm.template=none for raw texts, "
                "or choose an instruction-tuned model."
            )
        self.tokenizer = tokenizer
        template = tokenizer.get_chat_template()
        self._text = NOW.sub(lambda call: repr(DATE.strftime(call[2])), template)
        if "strftime_now(" in self._text:
            raise ConfigError(
                "the chat template of this model prints today's date in a way that cannot be "
                "pinned, so results would depend on the day: set evaluation_lm.template=none."
            )

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
                date_string=DATE.strftime("%d %b %Y"),
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


@dataclass(frozen=True)
class TextFrame:
    """A context and a target as the model is to see them; by default as they are."""

    context: Callable[[str], str] = str  # what stands before the target
    target: Callable[[str], str] = str  # what follows it
    controls: bool = False  # whether control tokens in the framed texts are the model's own
    guarded: bool = False  # whether a text must not write out control tokens itself


def chat_frame(template: ChatTemplate, system: str | None) -> TextFrame:
    """The context as a user's message, the target as the assistant's reply.

    The reply begins after the template's generation prompt, and the template writes it (some trim
    it) with what ends the turn; with an end token the sum includes the token that does, as GEM's.
    (GEM also counts the line break of the header, whose probability is about 1.) Without a system
    message the template has its own.
    """
    opening = () if system is None else (Message("system", system),)
    undefined = "log P(reply) is not defined: set evaluation_lm.template=none"
    return TextFrame(
        lambda text: template.render((*opening, Message("user", text)), reply_follows=True),
        lambda text: template.reply(opening, text, undefined),
        controls=True,
        guarded=True,
    )


def framed_encoder(
    tokenizer: Any, template: Template, system: str | None, end_token: bool | None
) -> Encoder:
    """Contexts and targets to tokens, by the settings of a ``FramedLM``.

    ConfigError: the tokenizer has no chat template, or one whose date cannot be pinned; or raw text
    is to end with a token, and the tokenizer names none.
    """
    if template == "chat":
        return Encoder(
            tokenizer, chat_frame(ChatTemplate(tokenizer), system), end_token is not False
        )
    if end_token and tokenizer.eos_token_id is None:
        raise ConfigError(
            "evaluation_lm.end_token=true: the model's tokenizer has no eos_token that could "
            "end a text: set evaluation_lm.end_token=null, or give one that names it."
        )
    return Encoder(tokenizer, TextFrame(), bool(end_token))


class FramedLM(EvaluationLM):
    """An LM whose contexts and targets become one text, and which knows the model's tokenizer."""

    # none: as they are; chat: the context is a user's message and the target the reply, by the
    # model's own chat template
    template: Template
    system: str | None  # system message of the chat; None for the template's own
    # whether the sum includes the token that ends the text, or the turn; None: in a chat alone
    end_token: bool | None

    @property
    @abstractmethod
    def _source(self) -> ModelSource:
        """Where the tokenizer lies, and which one it is."""

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._source.folder)

    @cached_property
    def _encoder(self) -> Encoder:
        return framed_encoder(self._tokenizer, self.template, self.system, self.end_token)

    @property
    def _counts_end(self) -> bool:
        """Whether the sum includes an end token."""
        return self.template == "chat" if self.end_token is None else self.end_token

    @property
    def _plain(self) -> bool:
        """Texts as they are, without an end token: what an LM without these settings does."""
        return self.template == "none" and not self._counts_end

    def _present(self, model: str, dtype: str = "", quantization: str = "none") -> Presentation:
        """The framing for an estimator's identity; precision as ``bf16`` or ``nf4 in bf16``."""
        precision = SHORT.get(dtype, "")
        if quantization != "none":
            precision = f"{quantization} in {precision or 'a dtype not known'}"
        system = "" if self.template == "none" or self.system is None else self._system_name
        end_token = "counted" if self._counts_end else "not counted"
        return Presentation(model, self.template, end_token, system, precision)

    @property
    def _framing(self) -> str:
        """Whatever of the framing can change an answer."""
        ends = f"template={self.template} end_token={'yes' if self._counts_end else 'no'}"
        if self.template == "none":
            return ends
        return f"{ends} system={self._system_name} template_date={DATE.isoformat()}"

    @property
    def _system_name(self) -> str:
        """The system message by its hash; none without one."""
        if self.system is None:
            return "none"
        return hashlib.sha256(self.system.encode()).hexdigest()[:12]


class LocalLM(FramedLM):
    """A causal LM of this machine: it scores tokens, and replies to rendered conversations."""

    @property
    @abstractmethod
    def _longest(self) -> float:
        """Tokens of context and target that it takes together."""

    @abstractmethod
    def _scores(self, jobs: Sequence[Job]) -> Sequence[float]:
        """log P(target | context) of each, nats."""

    @abstractmethod
    def _replies(self, prompts: Sequence[str], requests: Sequence[ChatRequest]) -> list[Reply]:
        """To each conversation as the model is to see it."""

    @cached_property
    def _template(self) -> ChatTemplate:
        return ChatTemplate(self._tokenizer)

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats; tokens are the model's.

        ConfigError: the model cannot be loaded. DriftError: a named back end disagrees with one
        sequence at a time.
        """
        jobs = self._encoder.encode(contexts, targets, pairs)
        rows, to_score = [UNKNOWN] * len(jobs), dict[int, Job]()
        for k, job in enumerate(jobs):
            if job is None:
                rows[k] = LogProb(math.nan, 0, IMITATING, settled=True)
            elif len(job[0]) + len(job[1]) > self._longest:
                reason = f"longer than the model's {self._longest} tokens"
                rows[k] = LogProb(math.nan, 0, reason, settled=True)
            elif not job[1]:
                rows[k] = LogProb(0.0, 0)  # nothing to predict: P of the empty text is 1
            else:
                to_score[k] = job
        sums = self._scores(list(to_score.values())) if to_score else ()
        for (k, job), nats in zip(to_score.items(), sums, strict=True):
            rows[k] = LogProb(nats, len(job[1]))
        return LogProbTable(rows)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """One reply per request, in order; a reply without text says why. ConfigError: the model
        cannot be loaded, or has no chat template."""
        replies, prompts = dict[int, Reply](), dict[int, str]()
        for k, request in enumerate(requests):
            texts = [message.content for message in request.messages]
            if any(map(halved, texts)):
                replies[k] = Reply(None, HALVED, settled=True)
            elif any(imitates(self._tokenizer, text) for text in texts):
                replies[k] = Reply(None, IMITATING, settled=True)
            else:
                prompts[k] = self._template.render(request.messages, reply_follows=True)
        if prompts:
            answers = self._replies(list(prompts.values()), [requests[k] for k in prompts])
            replies |= zip(prompts, answers, strict=True)
        return [replies[k] for k in range(len(requests))]


def no_room(tokens: int) -> Reply:
    """To a prompt of so many tokens, where a model can write none more."""
    reason = f"the prompt's {tokens} tokens leave the model no room to answer"
    return Reply(None, reason, settled=True)


class Encoder:
    """Tokens of contexts and targets, by a fast Hugging Face tokenizer.

    With ``end_token``, what ends a text (a turn, in a chat) is part of the target.
    """

    def __init__(self, tokenizer: Any, frame: TextFrame, end_token: bool) -> None:
        self.tokenizer, self.frame, self.end_token = tokenizer, frame, end_token
        self._controls = frozenset(
            i for i, token in tokenizer.added_tokens_decoder.items() if token.special
        )
        bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
        first = tokenizer("a", add_special_tokens=True)["input_ids"][:1]
        # A template writes its own first token; raw text gets the one the model was trained with.
        opens = bos is not None and first == [bos] and not frame.controls
        self._prefix: Ids = (bos,) if opens else ()
        self._start = eos if bos is None else bos

    def encode(self, contexts: Strings, targets: Strings, pairs: Pairs) -> list[Job | None]:
        """Context and target tokens of every pair; a target may hold none.

        None where there is nothing to condition on, or a text imitates control tokens or holds
        half a character. Texts that no pair names are not looked at.
        """
        asked_x, asked_y = sorted({c for c, _ in pairs}), sorted({t for _, t in pairs})
        x = {c: self.frame.context(contexts[c]) for c in asked_x if not self._refuses(contexts[c])}
        y = {t: self.frame.target(targets[t]) for t in asked_y if not self._refuses(targets[t])}
        ids_x = dict(zip(x, self._ids(list(x.values())), strict=True))
        ids_y = dict(zip(y, self._ids(list(y.values())), strict=True))
        joint = self._joint(x, y, ids_x, ids_y, [(c, t) for c, t in pairs if c in x and t in y])
        whole_x = {c: self._with_start(ids) for c, ids in ids_x.items()}
        whole_y = {t: self._with_end(ids) for t, ids in ids_y.items()}
        jobs: list[Job | None] = []
        for c, t in pairs:
            context, target = whole_x.get(c, ()), whole_y.get(t)
            if (c, t) in joint:
                before, after = joint[c, t]
                context, target = self._with_start(before), self._with_end(after)
            jobs.append((context, target) if context and target is not None else None)
        return jobs

    def _ids(self, texts: list[str]) -> list[Ids]:
        if not texts:
            return []
        coded = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=not self.frame.controls
        )
        return [tuple(ids) for ids in coded["input_ids"]]

    def _refuses(self, text: str) -> bool:
        return halved(text) or (self.frame.guarded and imitates(self.tokenizer, text))

    def _with_start(self, ids: Ids) -> Ids:
        """A context with its first token; of nothing, a token that begins or ends a text."""
        start = () if self._start is None else (self._start,)
        return self._prefix + ids or start

    def _with_end(self, ids: Ids) -> Ids:
        """A raw target with its end token, if asked for; a chat turn up to the one it has."""
        if not self.frame.controls:
            end = self.tokenizer.eos_token_id
            return (*ids, end) if self.end_token and end is not None else ids
        place = next((k for k, token in enumerate(ids) if token in self._controls), len(ids))
        return ids[: place + self.end_token]

    def _joint(
        self, x: Texts, y: Texts, ids_x: Coded, ids_y: Coded, pairs: Pairs
    ) -> dict[tuple[int, int], Job]:
        """Pairs whose tokens are not those of their two texts, with the tokens they have.

        Only those are encoded that the few characters around the boundary do not clear. Tokenizers
        decide locally: where a window gives the same tokens near the boundary as the whole texts
        do, and splits at the boundary, so do the whole texts.
        """
        tails = {c: text[-WINDOW:] for c, text in x.items()}
        heads = {t: text[:WINDOW] for t, text in y.items()}
        texts = list(dict.fromkeys([*tails.values(), *heads.values()]))
        ids = dict(zip(texts, self._ids(texts), strict=True))
        sound_x = {c for c in x if ids[tails[c]][-AGREE:] == ids_x[c][-AGREE:]}
        sound_y = {t for t in y if ids[heads[t]][:AGREE] == ids_y[t][:AGREE]}
        windows = list(dict.fromkeys((tails[c], heads[t]) for c, t in pairs))
        coded = self._ids([tail + head for tail, head in windows])
        clear = {w for w, both in zip(windows, coded, strict=True) if both == ids[w[0]] + ids[w[1]]}
        suspects = [
            (c, t)
            for c, t in dict.fromkeys(pairs)
            if c not in sound_x or t not in sound_y or (tails[c], heads[t]) not in clear
        ]
        joint = {}
        wholes = self._ids([x[c] + y[t] for c, t in suspects])
        for (c, t), whole in zip(suspects, wholes, strict=True):
            if whole != ids_x[c] + ids_y[t]:
                shared = common(whole, ids_x[c])
                joint[c, t] = (whole[:shared], whole[shared:])
        return joint
