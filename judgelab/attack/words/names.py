"""Names that belong to nobody and nothing, made from syllables."""

from __future__ import annotations

import numpy as np

_STARTS = "Bre Dul Fenn Gol Hesk Ith Jor Kel Lom Mar Nov Osk Pell Quor Rath Sev Tarn Ulm Vesk Zol"
_MIDDLES = "a e i o al en ir or an el"
_ENDS = "dra ven mont stead wick nara lin bury gard moor tis rell na dor quist bane"
STARTS, MIDDLES, ENDS = (part.split() for part in (_STARTS, _MIDDLES, _ENDS))


def coined(rng: np.random.Generator) -> str:
    """A made-up name, some 3,000 of them: Jorelwick, Ithandor."""
    parts = (STARTS, MIDDLES, ENDS)
    return "".join(part[int(rng.integers(len(part)))] for part in parts)
