"""The compressor is a language model: its figures follow from sizes, and it reads the context."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.capability import Capability
from judgelab.errors import CapabilityError, ConfigError
from judgelab.evaluation_lm.compression import NATS_PER_BYTE, Compression, sizes

NEWS = "The council of Lund voted on Tuesday to close the harbour bridge until September. "


def test_log_probability_is_the_difference_of_compressed_sizes() -> None:
    lm = Compression(workers=1)
    table = lm.logprob([NEWS], ["The bridge closes."], [(0, 0)])
    alone, joint = sizes([NEWS.encode(), (NEWS + "The bridge closes.").encode()], 6, 1 << 24)
    assert table.total[0] == -(joint - alone) * NATS_PER_BYTE
    assert table.tokens[0] == len("The bridge closes.")
    assert table.per_token[0] == table.total[0] / len("The bridge closes.")


def test_a_context_on_the_same_matter_helps_and_another_does_not() -> None:
    lm = Compression(workers=1)
    other = (
        "Penguins of the southern colonies raise one chick a year on bare rock and ice shelves. "
    )
    table = lm.logprob(["", NEWS, other], [NEWS], [(0, 0), (1, 0), (2, 0)])
    blank, same, different = table.total
    assert same > blank + 50
    assert same > different + 50


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4), st.text(max_size=60))
def test_any_text_is_scored_and_order_does_not_matter(targets: list[str], context: str) -> None:
    lm = Compression(workers=1)
    pairs = [(c, t) for c in range(2) for t in range(len(targets))]
    table = lm.logprob(["", context], targets, pairs)
    back = lm.logprob(["", context], targets, pairs[::-1])
    assert np.isfinite(table.total).all()
    np.testing.assert_array_equal(table.total, back.total[::-1])
    np.testing.assert_array_equal(table.tokens, [len(targets[t].encode()) for _, t in pairs])


def test_processes_and_one_process_agree() -> None:
    targets = [NEWS[k % 40 :] for k in range(60)]
    contexts = [NEWS * (k + 1) for k in range(10)]
    pairs = [(c, t) for c in range(10) for t in range(60)]
    many = Compression(workers=2)
    try:
        parallel = many.logprob(contexts, targets, pairs)
    finally:
        many.close()
    np.testing.assert_array_equal(
        parallel.total, Compression(workers=1).logprob(contexts, targets, pairs).total
    )


def test_priming_is_part_of_the_identity_and_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "primer.txt").write_text(NEWS)
    plain, primed = (
        Compression(workers=1),
        Compression(priming=str(tmp_path / "primer.txt"), workers=1),
    )
    assert plain.identity != primed.identity
    assert (
        primed.logprob([""], [NEWS], [(0, 0)]).total > plain.logprob([""], [NEWS], [(0, 0)]).total
    )
    assert Compression(workers=2).identity == plain.identity


def test_it_says_what_it_cannot_do() -> None:
    lm = Compression(workers=1)
    assert lm.capabilities == {Capability.LOGPROB}
    with pytest.raises(CapabilityError, match="cannot chat"):
        lm.chat([])
    with pytest.raises(ConfigError, match="evaluation_lm.priming"):
        Compression(priming="no/such/file")


def test_a_text_without_characters_has_no_rate() -> None:
    table = Compression(workers=1).logprob(["x"], [""], [(0, 0)])
    assert table.tokens[0] == 0
    assert math.isnan(table.per_token[0])
