"""Readers of texts by several peers: rows, Yelp's layout, the GEM release's layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.peer_texts import PeerTexts
from judgelab.dataset.yelp import Yelp

GRADES = {"reviewer_1": 3, "reviewer_2": 2.5}
TEXTS = {"reviewer_1": "a", "reviewer_2": "b"}
ROW = {"id": 1, "source": "s", "synopsis": "z", "responses": TEXTS, "human": GRADES}
MINE: Any = {"task": "peer_review", "task_description": "Review", "noun": "paper"}


def lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def peers(file: Path, **options: Any) -> PeerTexts:
    return PeerTexts(name="mine", source="path", path=str(file), **MINE, **options)


def test_lines_become_reviewers_with_grades(tmp_path: Path) -> None:
    texts = {"reviewer_1": "c", "reviewer_3": "d"}
    rows = [ROW, {"id": "x", "synopsis": "y", "responses": texts, "human": {"reviewer_3": 1}}]
    panel = peers(lines(tmp_path / "p.jsonl", rows), references=["reviewer_3"]).load()
    assert [a.name for a in panel.agents] == [f"reviewer_{k}" for k in (1, 2, 3)]
    assert [a.reference for a in panel.agents] == [False, False, True]
    assert panel.texts == (("a", "b", None), ("c", None, "d"))
    assert [dict(item.human) for item in panel.items] == [GRADES, {"reviewer_3": 1.0}]
    assert (panel.items[0].id, panel.items[0].synopsis) == ("1", "z")
    assert (panel.items[1].source, panel.items[1].synopsis) == ("", "y")
    assert panel.task == "peer_review" and panel.judgments is None
    few = peers(tmp_path / "p.jsonl").load(limit=1)
    assert len(few.items) == 1
    assert len(few.agents) == 3, "the reviewers do not depend on the limit"
    bare = {name: value for name, value in ROW.items() if name not in ("source", "synopsis")}
    with pytest.raises(DataError, match="line 1: source is missing"):
        peers(lines(tmp_path / "p.jsonl", [bare])).load()


def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = lines(tmp_path / "p.jsonl", [ROW])
    with pytest.raises(ConfigError, match="no reviewer 'reviewer_9'"):
        peers(file, references=["reviewer_9"]).load()
    with pytest.raises(ConfigError, match="every reviewer"):
        peers(file, references=["reviewer_1", "reviewer_2"]).load()
    with pytest.raises(ConfigError, match="no public copy of yelp is known"):
        PeerTexts(name="yelp", source="hub", **MINE)


def yelp_folder(folder: Path) -> Path:
    businesses = [
        {"business_id": f"b{k}", "name": f"N{k}", "city": "C", "categories": "Thai, Restaurants"}
        for k in range(6)
    ]
    businesses.append({"business_id": "shop", "categories": "Shopping"})
    businesses.append({"business_id": "none", "categories": None})
    reviews = []
    for k, business in enumerate(businesses):
        count = 2 if k == 0 else 5
        for r in range(count):
            text = f"{business['business_id']} {r} " + "long " * 10
            reviews.append({"review_id": f"{k}-{r}", "text": text})
            reviews.append({"review_id": f"{k}-{r}-short", "text": "short"})
            for row in reviews[-2:]:
                row["business_id"] = str(business["business_id"])
    lines(folder / "yelp_academic_dataset_business.json", businesses)
    lines(folder / "yelp_academic_dataset_review.json", reviews)
    return folder


def yelp(folder: Path, **options: Any) -> Yelp:
    settings: dict[str, Any] = {"restaurants": 4, "minimum": 4, "characters": 40, **options}
    return Yelp(task_description="Review", source="path", path=str(folder), **settings)


def test_yelp_draws_restaurants_with_enough_long_reviews(tmp_path: Path) -> None:
    folder = yelp_folder(tmp_path)
    panel = yelp(folder, references=["reviewer_1", "reviewer_3"]).load()
    assert len(panel.items) == 4
    ids = {item.id for item in panel.items}
    assert ids <= {f"b{k}" for k in range(1, 6)}, "b0 has too few, the shop is no restaurant"
    for item, row in zip(panel.items, panel.texts, strict=True):
        assert item.synopsis == "Thai, Restaurants"
        assert len(set(row)) == 3
        assert all(text is not None and text.startswith(item.id) for text in row)
        assert all(len(text or "") >= 40 for text in row)
    draws = [yelp(folder, seed=seed).load().digest for seed in (0, 0, 1, 2)]
    assert draws[0] == draws[1] and len(set(draws)) > 1, "another seed, another draw"


def test_yelp_says_what_is_missing(tmp_path: Path) -> None:
    folder = yelp_folder(tmp_path)
    with pytest.raises(DataError, match="has 5 restaurants with 4 reviews of 40 characters"):
        yelp(folder, restaurants=6).load()
    (folder / "yelp_academic_dataset_review.json").write_text('{"text": 1\n')
    with pytest.raises(DataError, match="line 1: not a JSON object"):
        yelp(folder, characters=1).load()
    (folder / "yelp_academic_dataset_review.json").unlink()
    with pytest.raises(DataError, match="has no review.json or yelp_academic"):
        yelp(folder).load()


SECTIONS = ["summary_of_the_paper", "clarity,_quality"]
FORM = {"id": "paper", "synopsis": "abstract", "reviews": "json.reviews", "form": "content"}


def paper(number: int, *reviews: Mapping[str, Any]) -> dict[str, Any]:
    held = json.dumps({"reviews": [{"content": one} for one in reviews]})
    return {"paper": f"p{number}", "abstract": "About it.", "json": held}


def test_reviews_of_a_public_dataset_are_read_by_their_form(tmp_path: Path) -> None:
    """The Hub's layout: JSON in a column, a form for each review, grades that stay out."""
    forms = [
        {"summary_of_the_paper": f"S{k}", "clarity,_quality": f"C{k}", "rating": "8: accept"}
        for k in range(3)
    ]
    rows = [paper(0, *forms[:2]), paper(1, forms[0]), paper(2, *forms), paper(3, *forms)]
    pd.DataFrame(rows).to_parquet(tmp_path / "p.parquet")
    fields = {**FORM, "sections": SECTIONS, "reviewers": 2}
    panel = peers(tmp_path / "p.parquet", fields=fields, references=["reviewer_2"]).load(limit=2)
    assert [item.id for item in panel.items] == ["p0", "p2"]
    assert panel.provenance["skipped_rows"] == [1]
    assert panel.items[0].synopsis == "About it."
    assert panel.texts[0] == (
        "Summary Of The Paper:\n\nS0\n\nClarity, Quality:\n\nC0",
        "Summary Of The Paper:\n\nS1\n\nClarity, Quality:\n\nC1",
    )
    own = lines(tmp_path / "p.jsonl", [ROW])
    assert peers(own, fields=fields).load().texts == (("a", "b"),), "our own form is known"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"sections": ["review"]}, "has none of review, but summary_of_the_paper"),
        ({"sections": SECTIONS, "reviewers": 9}, "no row has 9 reviews"),
        ({"sections": SECTIONS, "synopsis": "gist"}, "'gist' is missing"),
    ],
)
def test_unexpected_forms_are_named(tmp_path: Path, fields: dict[str, Any], fault: str) -> None:
    row = paper(0, *[{"summary_of_the_paper": "S", "clarity,_quality": "C"}] * 3)
    pd.DataFrame([row]).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError, match=fault):
        peers(tmp_path / "p.parquet", fields={**FORM, **fields}).load()
    with pytest.raises(ConfigError, match=r"dataset\.fields\.rewiews"):
        peers(tmp_path / "p.parquet", fields={**FORM, "rewiews": "x"}).load()
