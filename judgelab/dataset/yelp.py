"""Restaurants and their customers' reviews (GEM paper, appendix A.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel, rng_for
from judgelab.dataset.files import Row, each_row
from judgelab.dataset.peer_texts import PeerItem, peer_panel, read_items
from judgelab.dataset.provenance import Provenance, SourcedDataset, fetch, sample_file

PREFIXES = ("", "yelp_academic_dataset_")
KIND = "Restaurants"
KEPT = ("business_id", "name", "city", "categories")


@dataclass(frozen=True, kw_only=True)
class Yelp(SourcedDataset):
    """Restaurants, each with a few long reviews, as agents ``reviewer_1`` and so on.

    From the Yelp Open Dataset the paper takes 300 restaurants at random among those with at
    least 50 reviews of at least 1000 characters, and three such reviews of each at random. The
    synopsis is the restaurant's categories; there is no source text. On the Hub lie copies in which
    every review carries its business: rows of business_id, name, categories, review_id and text.

    Args:
        task_description: one line for prompts.
        noun: what is reviewed, for prompts.
        path: the folder with business.json and review.json (or the names that Yelp gives them).
        restaurants: how many are drawn.
        reviews: how many of each are drawn.
        minimum: long reviews that a restaurant must have.
        characters: length of a long review.
        references: agents that are references; empty: each text is compared with all others.
        seed: of the draws.
        hub: where such a copy lies; its size is that of the whole dataset.
    """

    task_description: str
    noun: str = "restaurant"
    restaurants: int = 300
    reviews: int = 3
    minimum: int = 50
    characters: int = 1000
    references: Sequence[str] = ("reviewer_1", "reviewer_3")
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = (self.restaurants, self.reviews, self.minimum, self.characters)
        if min(counts) < 1 or self.reviews > self.minimum:
            raise ConfigError(
                "dataset.restaurants, reviews, minimum and characters must be at least 1, and "
                f"minimum={self.minimum} not below reviews={self.reviews}."
            )

    def _panel(self, limit: int | None) -> Panel:
        facts: dict[str, object] = {"dataset": "yelp", "source": self.source}
        facts["task_description"] = self.task_description
        if self.source == "sample":
            file, facts["file"] = sample_file("yelp")
            items = read_items(file)
        else:
            facts |= {"seed": self.seed, "minimum": self.minimum, "characters": self.characters}
            items = self._drawn(*self._data(facts))
        return peer_panel(items, self.references, "review", facts).head(limit)

    def _data(
        self, facts: dict[str, object]
    ) -> tuple[str, Iterable[Row], Callable[[], Iterable[Row]]]:
        """Where the data are (for messages), rows with restaurants, and with reviews.

        Reviews are too many to be held, so they are read through twice.
        """
        if self.source == "hub":
            found = fetch(self.hub)
            facts |= found.facts
            return found.where, _joined(found), lambda: _joined(found)
        facts["file"] = self.path
        folder = Path(str(self.path)).expanduser()
        business, review = _file(folder, "business"), _file(folder, "review")
        needed = ("business_id", "review_id", "text")
        restaurants = _lines(business, ("business_id",))
        return repr(str(folder)), restaurants, lambda: _lines(review, needed, self.characters)

    def _drawn(
        self, where: str, rows: Iterable[Row], reviews: Callable[[], Iterable[Row]]
    ) -> list[PeerItem]:
        businesses = {
            str(row["business_id"]): {key: row.get(key) for key in KEPT}
            for row in rows
            if KIND in _categories(row)
        }

        def long() -> Iterator[tuple[str, str, str]]:
            for row in reviews():
                name, text = str(row["business_id"]), str(row["text"])
                if name in businesses and len(text) >= self.characters:
                    yield name, str(row["review_id"]), text

        count = Counter(name for name, _, _ in long())
        fit = sorted(name for name, n in count.items() if n >= self.minimum)
        if len(fit) < self.restaurants:
            raise DataError(
                f"{where} has {len(fit)} restaurants with {self.minimum} reviews of "
                f"{self.characters} characters: set dataset.restaurants to no more than that."
            )
        order = rng_for(self.seed, "yelp", "restaurants").permutation(len(fit))
        drawn = [fit[k] for k in order[: self.restaurants]]
        texts: dict[str, dict[str, str]] = {name: {} for name in drawn}
        for name, review, text in long():
            if name in texts:
                texts[name][review] = text
        return [self._item(businesses[name], texts[name]) for name in drawn]

    def _item(self, business: Row, texts: Mapping[str, str]) -> PeerItem:
        name = str(business["business_id"])
        order = rng_for(self.seed, "yelp", name).permutation(len(texts))[: self.reviews]
        names = sorted(texts)
        meta = {key: str(business[key]) for key in ("name", "city") if business.get(key)}
        chosen = tuple(texts[names[k]] for k in order)
        return Item(name, "", synopsis=", ".join(_categories(business)), meta=meta), chosen


def _joined(found: Provenance) -> Iterator[Row]:
    """Rows in which a review carries its business."""
    for row in each_row(found.files):
        for key in ("business_id", "review_id", "text", "categories"):
            if key not in row:
                raise DataError(f"{found.where}: there is no column {key!r}.")
        yield row


def _categories(business: Row) -> list[str]:
    return [part.strip() for part in str(business.get("categories") or "").split(",")]


def _file(folder: Path, kind: str) -> Path:
    names = [f"{prefix}{kind}.json" for prefix in PREFIXES]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataError(
        f"{str(folder)!r} has no {' or '.join(names)}: unpack the Yelp Open Dataset there."
    )


def _lines(file: Path, keys: Sequence[str], shortest: int = 0) -> Iterator[Mapping[str, Any]]:
    """One object a line; lines of fewer than ``shortest`` bytes are passed over unread."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if len(line) < shortest or not line.strip():
                continue
            try:
                row = json.loads(line)
                missing = [key for key in keys if key not in row]
            except (ValueError, TypeError) as cause:
                raise DataError(f"{str(file)!r}, line {number}: not a JSON object.") from cause
            if missing:
                raise DataError(f"{str(file)!r}, line {number}: there is no {missing[0]!r}.")
            yield row
