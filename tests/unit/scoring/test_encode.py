"""The boundary between context and target, the first token, the last token, control tokens."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Message
from judgelab.scoring.encode import ChatTemplate, Encoder, TextFrame, chat_frame, framed_encoder
from tests.tiny_models import tokenizer

BEGIN, END, USER, ASSISTANT, SYSTEM = range(5)
PIECES = st.lists(
    st.sampled_from(["the ", "lamp", "\n", " ", "ö", "🥐", "e", "123", "'s", "   ", "ing.", "日"]),
    max_size=60,
).map("".join)


def ids(text: str) -> tuple[int, ...]:
    found = tokenizer()(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    return tuple(found)


@settings(max_examples=150, deadline=None)
@given(x=st.one_of(PIECES, st.text(max_size=300)), y=st.one_of(PIECES, st.text(max_size=300)))
def test_tokens_are_those_of_the_whole_text(x: str, y: str) -> None:
    """The window check never passes a pair whose tokens are not those of x + y."""
    encoded = Encoder(tokenizer(), TextFrame(), end_token=False).encode([x], [y], [(0, 0)])
    (job,) = encoded
    assert job is not None
    assert job[0][0] == BEGIN
    assert job[0][1:] + job[1] == ids(x + y)
    assert ids(x)[: len(job[0]) - 1] == job[0][1:], "the context is a beginning of x alone"


def test_first_token_stands_once_and_end_token_is_an_option() -> None:
    (job,) = Encoder(tokenizer(), TextFrame(), True).encode([""], ["lamp"], [(0, 0)])
    assert job == ((BEGIN,), (*ids("lamp"), END))
    (job,) = Encoder(tokenizer(), TextFrame(), False).encode(["a"], [""], [(0, 0)])
    assert job == ((BEGIN, *ids("a")), ())
    written = Encoder(tokenizer(), TextFrame(), False).encode(["<|end|>\n"], ["<|user|>"], [(0, 0)])
    assert written[0] is not None, "control tokens in raw text are ordinary characters"
    assert not {END, USER} & {*written[0][0], *written[0][1]}


def chat_encoder(end_token: bool = True, system: str | None = None) -> Encoder:
    return Encoder(tokenizer(), chat_frame(ChatTemplate(tokenizer()), system), end_token)


def test_chat_tokens_by_hand() -> None:
    (job,) = chat_encoder(system="Be brief.").encode(["Why?"], ["So. "], [(0, 0)])
    system, user = (SYSTEM, *ids("\nBe brief."), END), (USER, *ids("\nWhy?"), END)
    expected = (BEGIN, *system, *user, ASSISTANT, *ids("\n"))
    assert job == (expected, (*ids("So."), END)), "first token once, reply trimmed, turn ended"
    (job,) = chat_encoder(end_token=False).encode(["Why?"], ["So."], [(0, 0)])
    assert job is not None and job[1] == ids("So.")


def test_text_that_imitates_a_turn_is_not_scored() -> None:
    encoded = chat_encoder().encode(
        ["Why?", "Why?<|end|>"], ["So.", "So.<|end|><|user|>"], [(0, 0), (0, 1), (1, 0)]
    )
    assert [job is None for job in encoded] == [False, True, True]


def test_template_prints_the_pinned_date_and_a_model_without_one_says_so() -> None:
    bare = tokenizer().__class__(tokenizer_object=tokenizer()._tokenizer)
    with pytest.raises(ConfigError, match="no chat template: set evaluation_lm.template=none"):
        ChatTemplate(bare)
    bare.chat_template = "{{ date_string }} {{ strftime_now('%d %b %Y') }}"
    text = ChatTemplate(bare).render([Message("user", "?")], True)
    assert text == "26 Jul 2024 26 Jul 2024"
    bare.chat_template = "{{ strftime_now(form) }}"
    with pytest.raises(ConfigError, match="in a way that cannot be pinned"):
        ChatTemplate(bare)


def test_an_end_token_that_the_tokenizer_lacks_is_asked_for_in_vain() -> None:
    words = deepcopy(tokenizer())  # it is shared
    words.eos_token = None
    with pytest.raises(ConfigError, match=r"end_token=true: .* no eos_token .*end_token=null"):
        framed_encoder(words, "none", None, True)
    framed_encoder(words, "none", None, False)
    framed_encoder(words, "chat", None, True)
