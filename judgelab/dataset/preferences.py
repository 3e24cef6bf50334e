"""How people write which of two texts is better: names, letters and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.dataset.cells import number

CODINGS: Mapping[str, Mapping[float, float]] = {
    "1 first, 2 second, 0 or 1.5 neither": {1: 1.0, 2: 0.0, 0: 0.5, 0.5: 0.5, 1.5: 0.5},
    "1 first, 0 second, .5 neither": {1: 1.0, 0: 0.0, 0.5: 0.5},
    "1 first, -1 second, 0 neither": {1: 1.0, -1: 0.0, 0: 0.5},
}
"""What numbers may mean -> number -> 1 where the first text is better, 0 the second, .5 neither."""

NUMBERS = frozenset(value for coding in CODINGS.values() for value in coding)
SIDES: Mapping[str, float] = {"a": 1.0, "first": 1.0, "left": 1.0, "1": 1.0} | {
    "b": 0.0, "second": 0.0, "right": 0.0, "2": 0.0
}  # fmt: skip
NOUNS = "answer|assistant|candidate|model|option|output|response|summary|system|text"
SIDE = re.compile(rf"(?:(?:{NOUNS})[ _-]?)?(a|b|1|2)|(first|second|left|right)")
TIE = re.compile(r"c|tied?|ties|equal|both|neither|draw|same|tie \(.*\)")
MEANINGS: Mapping[str, float] = {"first": 1.0, "second": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Preferences:
    """The meaning of cells.

    Attributes:
        coding: how numbers are read; a key of ``CODINGS``, or "as given".
        numbers: number -> value.
        words: cell, in small letters -> value; before all else but names of systems.
        comma: see CellTable.
    """

    coding: str
    numbers: Mapping[float, float]
    words: Mapping[str, float]
    comma: bool

    @staticmethod
    def of(
        said: Mapping[str, Iterable[str]], given: Mapping[str, object] | None, comma: bool
    ) -> Preferences:
        """As the settings say, or as the numbers of all fit together.

        Args:
            said: who -> cells.
            given: first, second, tie -> what cells say; None: found out.

        Raises:
            ConfigError: numbers are used in ways that do not fit together.
        """
        if given is not None:
            for name in given:
                if name not in MEANINGS:
                    hint = did_you_mean(name, MEANINGS)
                    raise ConfigError(f"dataset.preferences.{name} is not a known key.{hint}")
            words = {str(said).strip().lower(): MEANINGS[name] for name, said in given.items()}
            numbers = {number(said): value for said, value in words.items()}
            return Preferences("as given", numbers, words, comma)
        found = {
            name: coding
            for name, cells in said.items()
            if (coding := _coding({number(cell, comma) for cell in cells} & NUMBERS))
        }
        if len(set(found.values())) > 1:
            (one, its), *rest = found.items()
            two, others = next(pair for pair in rest if pair[1] != its)
            raise ConfigError(
                f"Numbers of {one} seem to mean {its}, those of {two} {others}: say what cells "
                "mean with 'dataset.preferences={first: 1, second: 2, tie: 0}'."
            )
        coding = next(iter(found.values()), next(iter(CODINGS)))
        return Preferences(coding, CODINGS[coding], {}, comma)

    def read(self, cell: str, first: str, second: str) -> tuple[float, bool] | None:
        """1, 0 or .5, and whether a place was named (no system, no tie); None where unreadable."""
        text = cell.strip()
        if text in (first, second):
            return float(text == first), False
        figure, value = number(text, self.comma), self.words.get(text.lower())
        if value is None:
            value = self.numbers.get(figure) if figure == figure else self._named(text.lower())
        return None if value is None else (value, value != 0.5)

    def _named(self, low: str) -> float | None:
        """What the usual words mean, where the settings say no others."""
        if self.words:
            return None
        low = low if low.startswith("tie") else low.strip("[]().\"' ")
        side = SIDE.fullmatch(low)
        return SIDES[side[1] or side[2]] if side else 0.5 if TIE.fullmatch(low) else None


def _coding(numbers: set[float]) -> str | None:
    """How a column uses numbers; None where it does not show."""
    one_two, one_zero, signs = CODINGS
    if -1.0 in numbers:
        return signs
    if numbers & {2.0, 1.5}:
        return one_two
    return one_zero if 0.0 in numbers else None
