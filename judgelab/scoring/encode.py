"""From texts to tokens: where the context ends and the target begins, in one place.

Sharing a context between targets changes nothing only if the tokens of x + y are those of x
followed by those of y. That is checked for every pair; where it does not hold, the pair is encoded
jointly, and the target takes the tokens after the longest common beginning with x alone: of a
token that runs across the boundary the target is charged the whole, given the context before it
(endpoints and vLLM sum the same tokens less what the context's own last ones cost: log P(xy) -
log P(x)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgelab.core.lm import Pairs
from judgelab.core.panel import halved
from judgelab.scoring.prefix_tree import Ids, Job

WINDOW = 64  # characters on either side of the boundary that are encoded for the check
AGREE = 8  # tokens on either side that must come out as in the whole text for that to count
Texts = dict[int, str]
Coded = dict[int, Ids]


class TextFrame(Protocol):
    """How a context and a target become one text; see ``RawText`` and ``chat.ChatText``."""

    controls: bool  # whether control tokens written out in the framed texts are the model's own
    guarded: bool  # whether a text must not write out control tokens itself

    def context(self, text: str) -> str:
        """What stands before the target."""
        ...

    def target(self, text: str) -> str:
        """What follows the context: the target and, in a chat, what ends the turn."""
        ...


class RawText:
    """Texts as they are; a control token written out in one is ordinary characters."""

    controls = False
    guarded = False

    def context(self, text: str) -> str:
        """The text."""
        return text

    def target(self, text: str) -> str:
        """The text."""
        return text


@dataclass(frozen=True)
class Encoded:
    """Token sequences of the pairs asked for.

    Attributes:
        jobs: [pairs] context and target tokens; None where there is nothing to condition on, or a
            text imitates control tokens or holds half a character. A target may hold no token.
    """

    jobs: tuple[Job | None, ...]
    joint: int  # pairs whose boundary tokens merge, encoded jointly


class Encoder:
    """Tokens of contexts and targets, by a fast Hugging Face tokenizer.

    With ``end_token``, what ends a text (a turn, in a chat) is part of the target.
    """

    def __init__(self, tokenizer: Any, frame: TextFrame, end_token: bool) -> None:
        self.tokenizer, self.frame, self.end_token = tokenizer, frame, end_token
        self._controls = frozenset(
            i for i, token in tokenizer.added_tokens_decoder.items() if token.special
        )
        first = tokenizer("a", add_special_tokens=True)["input_ids"][:1]
        opens = tokenizer.bos_token_id is not None and first == [tokenizer.bos_token_id]
        # A template writes its own first token; raw text gets the one the model was trained with.
        self._prefix: Ids = tuple(first) if opens and not frame.controls else ()
        start = tokenizer.bos_token_id
        self._start = tokenizer.eos_token_id if start is None else start

    def encode(self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs) -> Encoded:
        """Tokens of every pair; texts that no pair names are not looked at."""
        used_x = sorted({c for c, _ in pairs})
        used_y = sorted({t for _, t in pairs})
        refused_x = {c for c in used_x if self._refuses(contexts[c])}
        refused_y = {t for t in used_y if self._refuses(targets[t])}
        x = {c: self.frame.context("" if c in refused_x else contexts[c]) for c in used_x}
        y = {t: self.frame.target("" if t in refused_y else targets[t]) for t in used_y}
        ids_x = dict(zip(used_x, self._ids(list(x.values())), strict=True))
        ids_y = dict(zip(used_y, self._ids(list(y.values())), strict=True))
        joint = self._joint(x, y, ids_x, ids_y, pairs)
        ends_x = {c: self._prefix + ids for c, ids in ids_x.items()}
        ends_y = {t: self._ended(ids) for t, ids in ids_y.items()}
        jobs: list[Job | None] = []
        for c, t in pairs:
            if (c, t) in joint:
                before, after = joint[c, t]
                job = self._job(self._prefix + before, self._ended(after))
            else:
                job = self._job(ends_x[c], ends_y[t])
            jobs.append(None if c in refused_x or t in refused_y else job)
        return Encoded(tuple(jobs), sum(pair in joint for pair in pairs))

    def _ids(self, texts: list[str]) -> list[Ids]:
        if not texts:
            return []
        found = self.tokenizer(
            texts, add_special_tokens=False, split_special_tokens=not self.frame.controls
        )
        return [tuple(ids) for ids in found["input_ids"]]

    def _refuses(self, text: str) -> bool:
        return halved(text) or (self.frame.guarded and imitates(self.tokenizer, text))

    def _job(self, context: Ids, target: Ids) -> Job | None:
        if not context:
            if self._start is None:
                return None
            context = (self._start,)
        return context, target

    def _ended(self, ids: Ids) -> Ids:
        """A raw target with its end token, if asked for; a chat turn up to the one it has."""
        if not self.frame.controls:
            end = self.tokenizer.eos_token_id
            return (*ids, end) if self.end_token and end is not None else ids
        for place, token in enumerate(ids):
            if token in self._controls:
                return ids[: place + self.end_token]
        return ids

    def _joint(
        self, x: Texts, y: Texts, ids_x: Coded, ids_y: Coded, pairs: Pairs
    ) -> dict[tuple[int, int], Job]:
        """Pairs whose tokens are not those of their two texts, with the tokens they have."""
        suspects = self._suspects(x, y, ids_x, ids_y, list(dict.fromkeys(pairs)))
        whole = self._ids([x[c] + y[t] for c, t in suspects])
        result = {}
        for (c, t), ids in zip(suspects, whole, strict=True):
            if ids != ids_x[c] + ids_y[t]:
                shared = 0
                while shared < min(len(ids), len(ids_x[c])) and ids[shared] == ids_x[c][shared]:
                    shared += 1
                result[c, t] = (ids[:shared], ids[shared:])
        return result

    def _suspects(
        self, x: Texts, y: Texts, ids_x: Coded, ids_y: Coded, pairs: Pairs
    ) -> list[tuple[int, int]]:
        """Pairs that the few characters around the boundary do not clear.

        Tokenizers decide locally: where a window gives the same tokens near the boundary as the
        whole texts do, and splits at the boundary, so do the whole texts.
        """
        tails = {c: text[-WINDOW:] for c, text in x.items()}
        heads = {t: text[:WINDOW] for t, text in y.items()}
        texts = list(dict.fromkeys([*tails.values(), *heads.values()]))
        ids = dict(zip(texts, self._ids(texts), strict=True))
        sound_x = {c for c in x if ids[tails[c]][-AGREE:] == ids_x[c][-AGREE:]}
        sound_y = {t for t in y if ids[heads[t]][:AGREE] == ids_y[t][:AGREE]}
        windows = list(dict.fromkeys((tails[c], heads[t]) for c, t in pairs))
        found = self._ids([tail + head for tail, head in windows])
        clear = {w for w, got in zip(windows, found, strict=True) if got == ids[w[0]] + ids[w[1]]}
        return [
            (c, t)
            for c, t in pairs
            if c not in sound_x or t not in sound_y or (tails[c], heads[t]) not in clear
        ]


def imitates(tokenizer: Any, text: str) -> bool:
    """Whether a text spells out a control token, and so could end its own turn in a chat."""
    tokens = tokenizer.added_tokens_decoder.values()
    return any(token.special and token.content in text for token in tokens)
