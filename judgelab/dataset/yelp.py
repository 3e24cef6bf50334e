"""Restaurants and their customers' reviews (GEM paper, appendix A.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel, rng_for
from judgelab.dataset.peer_texts import PeerItem, peer_panel, read_items
from judgelab.dataset.provenance import SourcedDataset, sample_file

PREFIXES = ("", "yelp_academic_dataset_")
KIND = "Restaurants"


@dataclass(frozen=True, kw_only=True)
class Yelp(SourcedDataset):
    """Restaurants, each with a few long reviews, as agents ``reviewer_1`` and so on.

    From the Yelp Open Dataset the paper takes 300 restaurants at random among those with at
    least 50 reviews of at least 1000 characters, and three such reviews of each at random. The
    synopsis is the restaurant's categories; there is no source text.

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
    """

    SOURCES = ("sample", "path")

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
        if self.path is None:
            file, facts["file"] = sample_file("yelp")
            items = read_items(file)
        else:
            facts |= {"file": self.path, "seed": self.seed, "minimum": self.minimum}
            facts["characters"] = self.characters
            items = self._drawn(Path(self.path).expanduser())
        return peer_panel(items, self.references, "review", facts).head(limit)

    def _drawn(self, folder: Path) -> list[PeerItem]:
        businesses = {
            str(row["business_id"]): row
            for row in _lines(_file(folder, "business"), ("business_id",))
            if KIND in _categories(row)
        }
        reviews = _file(folder, "review")
        count = Counter(name for name, _, _ in self._long(reviews) if name in businesses)
        fit = sorted(name for name, found in count.items() if found >= self.minimum)
        if len(fit) < self.restaurants:
            raise DataError(
                f"{str(folder)!r} has {len(fit)} restaurants with {self.minimum} reviews of "
                f"{self.characters} characters: set dataset.restaurants to no more than that."
            )
        order = rng_for(self.seed, "yelp", "restaurants").permutation(len(fit))
        drawn = [fit[k] for k in order[: self.restaurants]]
        texts: dict[str, dict[str, str]] = {name: {} for name in drawn}
        for name, review, text in self._long(reviews):
            if name in texts:
                texts[name][review] = text
        return [self._item(businesses[name], texts[name]) for name in drawn]

    def _item(self, business: Mapping[str, Any], texts: Mapping[str, str]) -> PeerItem:
        name = str(business["business_id"])
        order = rng_for(self.seed, "yelp", name).permutation(len(texts))[: self.reviews]
        names = sorted(texts)
        meta = {key: str(business[key]) for key in ("name", "city") if business.get(key)}
        chosen = tuple(texts[names[k]] for k in order)
        return PeerItem(name, "", ", ".join(_categories(business)), chosen, meta=meta)

    def _long(self, file: Path) -> Iterator[tuple[str, str, str]]:
        """(business, review, text) of every long review."""
        for row in _lines(file, ("business_id", "review_id", "text"), self.characters):
            text = str(row["text"])
            if len(text) >= self.characters:
                yield str(row["business_id"]), str(row["review_id"]), text


def _categories(business: Mapping[str, Any]) -> list[str]:
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
