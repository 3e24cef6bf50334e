"""Steps by which a metric is rated, written by the LM itself (Auto-CoT; DHP paper, section 2.2).

G-Eval and the DHP paper have an LM write them once from a metric's name and definition; they are
part of every question on it. The call cache keeps them, so that a repeated run asks the same
questions, and the result holds them with their hash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

import yaml

from judgelab.core.capability import Capability
from judgelab.core.criteria import Criteria, Metric
from judgelab.core.errors import CapabilityError, DataError
from judgelab.core.exchange import Exchange
from judgelab.core.lm import NOT_ASKED, NOT_YET, ChatRequest, EvaluationLM, Reply
from judgelab.core.prompt import Prompt

PROMPT = "rating_steps.txt"
MAX_TOKENS = 500
MOST = 12
UNWRITTEN = ("A step that the LM is still to write, of about so many words as they have.",) * 6
"""Steps in a dry run, which counts what would be asked."""

_STEP = re.compile(r"^\s*(?:\*\*)?(?:step\s+)?(?:\d+\s*[.):]|[-*•])(?:\*\*)?\s*(\S.*?)\s*$", re.I)


def with_steps(
    criteria: Criteria, metrics: Sequence[Metric], lm: EvaluationLM
) -> tuple[tuple[Metric, ...], dict[str, str]]:
    """The metrics, those without steps with the LM's own, and what to note of these.

    A metric stays without steps while workers are still to ask for them.

    Raises:
        CapabilityError: steps are to be written by an LM that cannot write.
        DataError: the LM's reply is no list of steps.
    """
    lacking = [metric for metric in metrics if not metric.steps]
    if not lacking:
        return tuple(metrics), {}
    names = ", ".join(metric.name for metric in lacking)
    if Capability.CHAT not in lm.capabilities:
        raise CapabilityError(
            f"{criteria.identity.split()[0]} gives no steps for {names}, and "
            f"{lm.identity.split()[0]} cannot write them: add steps to the file, or choose an LM "
            "that chats."
        )
    prompt = Prompt(PROMPT)
    said = Exchange.put(lm, {m.name: _request(prompt, criteria, m) for m in lacking})
    written = {m.name: _steps(m, said.replies[m.name], lm) for m in lacking}
    made = tuple(replace(m, steps=written.get(m.name, m.steps)) for m in metrics)
    text = yaml.safe_dump({name: list(steps) for name, steps in written.items()}, sort_keys=False)
    noted = {"steps": text, "steps_sha256": sha256(text.encode()).hexdigest()[:12]}
    return made, noted | {"steps_written_by": lm.identity, "steps_prompt": prompt.identity}


def read_steps(text: str) -> tuple[str, ...]:
    """The entries of a numbered or bulleted list, without markup; none where there are fewer than
    two or too many to be steps."""
    found = [match[1] for line in text.splitlines() if (match := _STEP.match(line))]
    steps = tuple(step.replace("**", "").strip() for step in found)
    return steps if 2 <= len(steps) <= MOST else ()


def noted_steps(attrs: Mapping[str, object]) -> list[tuple[str, int, str]]:
    """(metric, number, step) of what ``with_steps`` noted; empty where nothing was written."""
    written = yaml.safe_load(str(attrs.get("steps", ""))) or {}
    return [(name, k, step) for name, own in written.items() for k, step in enumerate(own, start=1)]


def _request(prompt: Prompt, criteria: Criteria, metric: Metric) -> ChatRequest:
    messages = prompt.messages(
        text_noun=criteria.text,
        source_noun=criteria.source,
        metric=metric.name.replace("_", " "),
        criterion=metric.criterion,
        scale="\n".join(f"{grade}: {words}" for grade, words in metric.scale.items()),
        low=str(metric.low),
        high=str(metric.high),
    )
    return ChatRequest(messages, max_tokens=MAX_TOKENS, key=("steps", metric.name))


def _steps(metric: Metric, reply: Reply, lm: EvaluationLM) -> tuple[str, ...]:
    if reply.text is None and reply.reason in (NOT_ASKED, NOT_YET):
        return UNWRITTEN if reply.reason == NOT_ASKED else ()
    if steps := read_steps(reply.text or ""):
        return steps
    said = f"its reply begins {reply.text[:60]!r}" if reply.text else str(reply.reason)
    raise DataError(
        f"{lm.identity.split()[0]} wrote no list of steps for the metric {metric.name} ({said}): "
        "give steps in the criteria file, or choose another LM."
    )
