"""Restaurants that several customers wrote about, drawn as in the GEM paper."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from judgelab.core.bounds import Count
from judgelab.core.errors import DataError
from judgelab.core.panel import Item, Panel, rng_for
from judgelab.dataset.peer_texts import PeerItem, own_panel, peer_panel, with_references
from judgelab.dataset.provenance import SourcedDataset

PREFIXES = ("", "yelp_academic_dataset_")  # of the names of Yelp's files
KIND = "Restaurants"


@dataclass(frozen=True, kw_only=True)
class Yelp(SourcedDataset):
    """Restaurants, each with a few long reviews, as agents ``reviewer_1`` and so on.

    From the Yelp Open Dataset the paper takes 300 restaurants at random among those with at
    least 50 reviews of at least 1000 characters, and three such reviews of each at random. The
    synopsis is the restaurant's categories; there is no source text.
    """

    SOURCES: ClassVar[Sequence[str]] = ("sample", "path")

    noun: str = "restaurant"
    restaurants: Count = 300
    reviews: Count = 3
    minimum: Count = 50
    characters: Count = 1000
    references: Sequence[str] = ("reviewer_1", "reviewer_3")
    seed: int = 0

    def _panel(self, limit: int | None) -> Panel:
        origin = self._find("yelp")
        facts = {**origin.facts}
        if self.source == "sample":
            panel = own_panel(origin.files[0], "review")
        else:
            facts |= {"seed": self.seed, "minimum": self.minimum, "characters": self.characters}
            panel = peer_panel(self._draw(origin.files[0]), "review")
        return with_references(panel, self.references, facts).head(limit)

    def _draw(self, folder: Path) -> list[PeerItem]:
        businesses = {
            str(row["business_id"]): row
            for row in _lines(folder, "business", ("business_id",))
            if KIND in _categories(row)
        }

        def long() -> Iterator[tuple[str, str, str]]:  # too many to be held: read through twice
            for row in _lines(folder, "review", ("business_id", "review_id", "text")):
                name, text = str(row["business_id"]), str(row["text"])
                if name in businesses and len(text) >= self.characters:
                    yield name, str(row["review_id"]), text

        count = Counter(name for name, _, _ in long())
        fit = sorted(name for name, n in count.items() if n >= self.minimum)
        if len(fit) < self.restaurants:
            raise DataError(
                f"{str(folder)!r} has {len(fit)} restaurants with {self.minimum} reviews of "
                f"{self.characters} characters: set dataset.restaurants to no more than that."
            )
        order = rng_for(self.seed, "yelp", "restaurants").permutation(len(fit))
        texts: dict[str, dict[str, str]] = {fit[k]: {} for k in order[: self.restaurants]}
        for name, review, text in long():
            if name in texts:
                texts[name][review] = text
        return [self._item(businesses[name], its) for name, its in texts.items()]

    def _item(self, business: Mapping[str, Any], texts: Mapping[str, str]) -> PeerItem:
        name = str(business["business_id"])
        order = rng_for(self.seed, "yelp", name).permutation(len(texts))[: self.reviews]
        names = sorted(texts)
        meta = {key: str(business[key]) for key in ("name", "city") if business.get(key)}
        item = Item(name, "", synopsis=", ".join(_categories(business)), meta=meta)
        return item, tuple(texts[names[k]] for k in order)


def _categories(business: Mapping[str, Any]) -> list[str]:
    return [part.strip() for part in str(business.get("categories") or "").split(",")]


def _lines(folder: Path, kind: str, keys: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The objects of one of Yelp's files, a line each."""
    names = [f"{prefix}{kind}.json" for prefix in PREFIXES]
    file = next((folder / name for name in names if (folder / name).is_file()), None)
    if file is None:
        raise DataError(
            f"{str(folder)!r} has no {' or '.join(names)}: unpack the Yelp Open Dataset there."
        )
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line)
                row |= {key: row[key] for key in keys}
            except (KeyError, ValueError, TypeError) as cause:
                why = f"there is no {cause}" if isinstance(cause, KeyError) else "not a JSON object"
                raise DataError(f"{str(file)!r}, line {number}: {why}.") from cause
            yield row
