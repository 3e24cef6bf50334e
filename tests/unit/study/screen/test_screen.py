"""A screen on tables of known truth, on the real path, offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgelab
from judgelab.core.errors import ConfigError
from judgelab.python.results import RunResult

WORDS = {
    "n": "Adams Baker Clark Davis Evans Frank Ghosh Hills Irwin Jones Klein Lopez",
    "p": "Aarhus Bergen Cadiz Dublin Exeter Faro Ghent Halle Izmir Jena Kiel Lund",
    "t": "bridge school harbour museum station library market theatre hospital airport",
    "v": "opened closed sold repaired painted searched rented flooded",
}
GREEK = "κείμενο άνθρωπος πόλη σπίτι δρόμος χρόνος νερό γη ήλιος θάλασσα"
STYLES = (
    "{n} {v} the {t} in {p} on day {d}, which cost {c} euros.",
    "On day {d} the {t} of {p} was {v} by {n}; the bill came to {c} euros.",
    "{p}: {t} {v} by {n}. It happened on day {d} and took {c} euros.",
    "It was {n} who {v} the {t} at {p}. Day {d}. Price: {c} euros.",
)
DULL = ("The text reports on what somebody did, where, when and for how much money.",) * 3


def facts(item: int) -> dict[str, object]:
    rng = np.random.default_rng(item)
    drawn: dict[str, object] = {k: str(rng.choice(words.split())) for k, words in WORDS.items()}
    return drawn | {"d": int(rng.integers(100, 999)), "c": int(rng.integers(1000, 99999))}


def writer(style: str, ahead: int = 0, end: str = "") -> Callable[[int], str]:
    """Who writes of an item, or of one so far ahead."""
    return lambda i: style.format(**facts(i + ahead)) + end


def table(items: int = 18, styles: Sequence[str] = STYLES, **more: object) -> pd.DataFrame:
    """Honest agents of these styles, and those of ``more``: name -> text of an item."""
    makers = {f"honest {k}": writer(style) for k, style in enumerate(styles)}
    rows = [
        {"id": f"doc {i}", "agent": name, "text": make(i)}
        for i in range(items)
        for name, make in {**makers, **more}.items()  # type: ignore[dict-item]
    ]
    return pd.DataFrame(rows)


def screened(data: pd.DataFrame, folder: Path, *words: str) -> RunResult:
    found = judgelab.run("study=screen", *words, data=data, paths__root=str(folder))
    assert found is not None
    return found


def verdicts(found: RunResult) -> dict[str, object]:
    return {
        key.removeprefix("verdict/"): value
        for key, value in found.content["summary"].items()
        if key.startswith("verdict/")
    }


PLANTED = {"dull": lambda i: DULL[i % 3], "elsewhere": writer(STYLES[0], 500)}
COPY = writer(STYLES[1], end=" Indeed.")


def test_planted_agents_are_named_whatever_things_are_called(tmp_path: Path) -> None:
    data = table(**PLANTED)
    found = screened(data, tmp_path)
    words = verdicts(found)
    honest = {name: "something" for name in words if "honest" in name}
    assert words == honest | dict.fromkeys(PLANTED, "nothing") and len(honest) == 4
    assert all(name in found.content["title"] for name in PLANTED)
    of_all, among = found.tables["critics"].iloc[0][["auc", "auc_of_those_that_say_something"]]
    assert of_all < 0.85 and among > 0.95, "the systems are empty, the critic is not weak"
    critics = dict(found.content["answer"])["Critics"]
    assert f"({100 * among:.0f} among systems that say something)" in critics

    names = {name: f"x{k}" for k, name in enumerate(sorted(words, reverse=True))}
    turned = data.sample(frac=1, random_state=1)
    turned["id"] = "new " + turned["id"].str[::-1]
    turned["agent"] = turned["agent"].map(names)
    again = screened(turned, tmp_path)
    assert {names[name]: word for name, word in words.items()} == verdicts(again)
    assert again.tables["critics"].equals(found.tables["critics"]), "names decide nothing"

    twice = pd.concat([data, data.assign(id="again " + data["id"])])
    double = screened(twice, tmp_path)
    for key in ("items", "critics", "verdict/dull", "verdict/honest 0"):
        assert double.content["summary"][key] == found.content["summary"][key]
    assert double.tables["agents"].equals(found.tables["agents"])


def test_copies_templates_and_what_cannot_be_compared_are_said_as_what_they_are(
    tmp_path: Path,
) -> None:
    def template(item: int) -> str:
        return (
            "Thank you for your question about this matter, which we have read with great care "
            f"and interest before we wrote an answer: {STYLES[1].format(**facts(item))[:40]}"
        )

    def greek(item: int) -> str:
        return " ".join(np.random.default_rng(item).choice(GREEK.split(), 8))

    odd = {"template": template, "greek": greek, "letter": lambda i: "ABCD"[i % 4]}
    found = screened(table(**odd, copy=COPY), tmp_path)
    said = dict(found.content["answer"])
    assert "copy" in said["Copies"] and "honest 1" in said["Copies"]
    assert "template" in said["Templates"]
    assert verdicts(found)["copy"] == verdicts(found)["template"] == "something"
    assert verdicts(found)["greek"] == verdicts(found)["letter"] == "not known"


def test_templates_are_named_however_many_there_are_and_missing_texts_are_counted(
    tmp_path: Path,
) -> None:
    def form(k: int) -> Callable[[int], str]:
        words = " ".join(f"{word}{k}" for word in GREEK.split())
        return lambda i: f"{words} {facts(i)['n']} {facts(i)['p']}"

    def blank(item: int) -> str:
        return " " if item % 2 else writer(STYLES[0])(item)

    odd = {f"form {k}": form(k) for k in range(6)}
    data = table(dull=PLANTED["dull"], blank=blank, **odd)
    found = screened(pd.concat([data, data.assign(id="again " + data["id"])]), tmp_path)
    answer = dict(found.content["answer"])
    assert all(name in answer["Templates"] for name in ("dull", *odd))
    assert not any(name in answer["Templates"] for name in ("honest", "blank"))
    missing = answer["Missing"]
    assert "blank has no text on 9 of 18 items" in missing and "honest" not in missing
    assert "18 of 36" in answer["Items"] and "18 items" in answer["Few items"]


def test_who_writes_another_language_is_not_cleared_as_equal_nor_ranked(tmp_path: Path) -> None:
    def names(item: int) -> str:
        greek = " ".join(np.random.default_rng(item).choice(GREEK.split(), 10))
        return f"{greek} {facts(item)['n']} {facts(item)['p']}"

    found = screened(table(18, names=names), tmp_path, "study.tau=0", "study.probability=0.5")
    agents = found.tables["agents"].set_index("system")["verdict"]
    assert verdicts(found)["names"] == "something" and agents["names"] != agents["honest 0"]
    assert "names" in found.content["title"]
    assert "names" not in {*found.tables["ranking"]["system"]}


def test_a_lone_truthful_system_is_cleared_by_the_sources(tmp_path: Path) -> None:
    """Three systems agree on other items' facts; one writes of its own, and has the source."""
    makers = {f"wrong {k}": writer(style, 500) for k, style in enumerate(STYLES)}
    data = table(18, (), **makers, right=writer(STYLES[0]))
    data["source"] = data["id"].map(lambda name: writer(STYLES[3])(int(name.split()[1])))
    assert verdicts(screened(data.drop(columns="source"), tmp_path))["right"] == "nothing"
    cleared = screened(data, tmp_path)
    assert verdicts(cleared)["right"] == "not known"
    assert "sources" in dict(cleared.content["answer"])["Not known"]


def test_nothing_is_said_where_nobody_says_anything(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = " ".join(WORDS.values()).split()
    makers = {f"a{k}": lambda i: " ".join(rng.choice(words, 12)) for k in range(5)}
    found = screened(table(18, (), **makers), tmp_path)
    assert not verdicts(found) and found.content["summary"]["critics"] == 0
    assert "Nothing can be said" in found.content["title"]


def test_who_only_writes_as_much_as_the_item_asks_for_hides_nobody(tmp_path: Path) -> None:
    def long(style: str) -> Callable[[int], str]:
        return lambda i: " ".join(writer(style, 500 * k)(i) for k in range(1 + i % 5))

    def cheat(item: int) -> str:
        return " ".join((DULL[0].split() * 9)[: len(long(STYLES[0])(item).split())])

    honest = {f"honest {k}": long(style) for k, style in enumerate(STYLES)}
    found = screened(table(18, **honest, cheat=cheat, again=cheat), tmp_path)
    words = verdicts(found)
    assert found.tables["critics"].set_index("critic")["auc"]["length"] > 0.75
    assert [words[name] for name in honest] == ["something"] * 4
    assert {words["cheat"], words["again"]} <= {"nothing", "much less"}
    assert "Length" in dict(found.content["answer"])


def test_nobody_is_accused_beside_copies_too_short_to_tell(tmp_path: Path) -> None:
    bot, turned = "{n} {v} {t} {p} {d} {c}", "{c} {d} {p} {t} {v} {n}"
    people = {"person": "no idea what you mean, {n}", "other": "well, {n} again I guess"}
    styles = {"bot": bot, "its copy": bot, "third": turned, **people}
    data = table(18, (), **{name: writer(style) for name, style in styles.items()})
    assert set(verdicts(screened(data, tmp_path)).values()) <= {"something", "not known"}


def test_one_terse_system_clears_nobody_else(tmp_path: Path) -> None:
    less = writer("I was told a story about {n} in a town, and cannot say much more.")
    terse = table(18, less=less, terse=writer("{n} {v}"))
    assert verdicts(screened(terse, tmp_path))["less"] == "much less"


@pytest.mark.parametrize(("agents", "items"), [(2, 24), (4, 6)])
def test_too_little_is_refused(agents: int, items: int, tmp_path: Path) -> None:
    data = table(items, STYLES[:agents])
    with pytest.raises(ConfigError, match="at least 3 systems on at least 10 items"):
        screened(data, tmp_path)


def test_a_ranking_is_shown_where_it_is_believed_and_attacks_are_tried(tmp_path: Path) -> None:
    def sorry(item: int) -> str:
        return (writer(STYLES[0], 500) if item % 6 else writer(STYLES[2]))(item)

    words = ("study.tau=0", "study.probability=0.5")
    found = screened(table(36, sorry=sorry), tmp_path, *words)
    assert verdicts(found)["sorry"] == "much less"
    assert found.content["summary"]["ranking"] == "believed"
    assert set(found.tables["ranking"]["system"]) == {f"honest {k}" for k in range(4)}
    assert "much less" in found.content["title"]
    found = screened(table(12), tmp_path, *words, "study.attacked=true", "study.block=4")
    tried = found.tables["attacks"]
    damage = [f"replaced_{share}" for share in (25, 50, 75)]
    assert set(tried["attack"]) == {"padding", "repetition", "format", "pattern", *damage}
    told = found.tables["critics"].set_index("critic")[[f"over_{name}" for name in damage]]
    assert (told.loc["shared words"] > 0.75).all() and (told.loc["length"] < 0.6).all()
    lost = tried[tried["attack"].isin(damage)].groupby("attack")["gain"].max()
    assert lost.is_monotonic_decreasing and (lost < 0).all()
    assert (tried["places_gained"][tried["gain"] < 0] <= 0).all()
    assert (tried["places_gained"][tried["gain"].abs() < 0.001] == 0).all()
    assert "Cheats" in dict(found.content["answer"])


def test_rows_and_columns_in_another_order_change_no_table(tmp_path: Path) -> None:
    data = table(12, copy=COPY, **PLANTED)
    data = pd.concat([data, data.assign(id="z" + data["id"])])
    turned = data.sample(frac=1, random_state=1).iloc[:, ::-1]
    words = ("study.attacked=true", "study.block=4", "study.tau=0", "study.probability=0.5")
    first, second = (screened(one, tmp_path, *words).tables for one in (data, turned))
    assert {"agents", "critics", "attacks", "belief", "odd_items"} <= set(first)
    for name, rows in first.items():
        pd.testing.assert_frame_equal(rows, second[name], check_exact=True, obj=name)
