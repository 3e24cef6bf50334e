"""What a judge said of single texts, and why it said nothing, heard from the LM that was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.closed_questions import shares
from judgelab.core.judgments import JudgmentTable, Mask
from judgelab.core.lm import ChatRequest, EvaluationLM, LogProbTable, Pairs, Reply, WrappedLM
from judgelab.engine.unscored import grouped

if TYPE_CHECKING:
    from pandas import DataFrame

NO_REASON = "no value"
"""Why a verdict is missing of which nothing more is known."""

MOST = 50_000_000
"""Characters of replies that are kept for the record, and of prompts."""

NOT_KEPT = "not kept here, as there are too many replies: the call cache has it"


@dataclass
class SaidOf:
    """What was said about one text, or one pair.

    Attributes:
        reply: as the LM wrote it; None without one.
        reason: why there is none, or why nothing could be read in it; "" where it was read.
        probabilities: of the labels that it could have said, in words; "" where they are not known.
        prompt: what the LM was shown; None where that is not kept.
    """

    reply: str | None = None
    reason: str = ""
    probabilities: str = ""
    prompt: str | None = None


class Listening(WrappedLM):
    """``lm``, with what it replied, and why its answers hold nothing, by what they are about."""

    def __init__(self, lm: EvaluationLM) -> None:
        super().__init__(lm)
        self._why: dict[tuple[str, ...], str] = {}
        self._said: dict[tuple[tuple[str, ...], int], SaidOf] = {}
        self._kept = self._shown = 0
        self._silent: dict[int, str] = {}

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """The LM's."""
        table = self.lm.logprob(contexts, targets, pairs)
        lost = np.flatnonzero(np.isnan(table.total)).tolist()
        self._silent = {k: table.reasons.get(k) or NO_REASON for k in lost}
        return table

    def about(
        self,
        contexts: Sequence[str],
        targets: Sequence[str],
        pairs: Pairs,
        abouts: Sequence[tuple[str, ...]],
    ) -> None:
        """See EvaluationLM; a mechanism says it of the pairs that it has just asked about."""
        for k, reason in self._silent.items():
            self._said[abouts[k], 0] = SaidOf(reason=reason)
        self._silent = {}
        super().about(contexts, targets, pairs, abouts)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        replies = self.lm.chat(requests)
        for request, reply in zip(requests, replies, strict=True):
            said = replace(self._heard(request, reply), prompt=self._prompt(request))
            self._said[request.key, request.repeat] = said
            if reply.text is None:
                self._note(request.key, reply.reason or NO_REASON)
        return replies

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """See EvaluationLM."""
        self._note(request.key, reason)
        if (said := self._said.get((request.key, request.repeat))) is not None:
            said.reason = reason
        super().unread(request, reply, reason)

    def _heard(self, request: ChatRequest, reply: Reply) -> SaidOf:
        if reply.text is None:
            return SaidOf(reason=reply.reason or NO_REASON)
        self._kept += len(reply.text)
        if self._kept > MOST:
            return SaidOf(reason=NOT_KEPT)
        told = shares(reply, {label: label for label in request.labels})
        words = ", ".join(f"{label} {share:.2f}" for label, share in told.items())
        return SaidOf(reply.text, probabilities=words)

    def _prompt(self, request: ChatRequest) -> str | None:
        text = shown(request)
        self._shown += len(text)
        return text if self._shown <= MOST else None

    def _note(self, key: tuple[str, ...], reason: str) -> None:
        for names in (key[1:3], key[1:4]):  # item and agent, and peer
            self._why[names] = grouped(reason)

    def of(self, table: JudgmentTable, missing: Mask) -> dict[str, int]:
        """Reason -> how many verdicts are missing for it.

        Args:
            missing: [units, orders] of the table.
        """
        units = table.units
        counts: Counter[str] = Counter()
        for k, order in np.argwhere(missing):
            item, texts = str(units.item[k]), (str(units.first[k]), str(units.second[k]))
            shown = texts if order == 0 else texts[::-1]
            keys = ((item, *shown), (item, shown[0]), (item, shown[1]))
            counts[next((self._why[key] for key in keys if key in self._why), NO_REASON)] += 1
        return dict(counts.most_common())

    def records(self, judge: str, agents: Collection[str]) -> DataFrame:
        """One row for each reply about a text or pair, and for each call about one without a value.

        Columns: judge, item, agent, peer (of a pair: ``agent`` was shown first), detail (what else
        was asked about), draw, reply, reason (why there is none, or it could not be read),
        probabilities, prompt.
        """
        import pandas as pd

        known, rows = frozenset(agents), []
        for (key, draw), said in self._said.items():
            if len(key) < 3 or key[2] not in known:
                continue
            peer, rest = (key[3], key[4:]) if key[3:4] and key[3] in known else ("", key[3:])
            about = (judge, key[1], key[2], peer, ", ".join(rest))
            words = (_text(said.reply), _text(said.reason), said.probabilities)
            rows.append((*about, draw, *words, _text(said.prompt)))
        names = ("judge", "item", "agent", "peer", "detail", "draw", "reply", "reason")
        made = pd.DataFrame(rows, columns=[*names, "probabilities", "prompt"])
        return made.astype({name: "string" for name in made if name != "draw"})


def shown(request: ChatRequest) -> str:
    """What an LM reads of a request; of several messages, each under who says it."""
    if len(request.messages) == 1:
        return request.messages[0].content
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in request.messages)


def _text(reply: str | None) -> str | None:
    """As a file can hold it: half a character is none."""
    return reply and reply.encode(errors="backslashreplace").decode()
