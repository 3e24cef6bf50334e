"""What must come out of the trials: a sentence, the figure it goes by, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.results import Row
from experiments.trust.cells import decided
from experiments.trust.pools import experts

KNOWS_NOTHING = (
    "always the larger class", "always longer", "always the first shown", "right in .55",
    "always the first stored", "knows the system alone", "length alone", "random",
    "rater with noise of two grades",
)  # fmt: skip
Line = tuple[str, object, bool]


def required(cells: list[Row], families: list[Row], coverage: list[Row], data: Path) -> list[Row]:
    """Every requirement of the audit, from the rows of the trials."""

    def of(*judges: str, least: int = 0, kind: str = "") -> list[Row]:
        rows = (row for row in cells if row["judge"] in judges and row["labels"] >= least)
        return [row for row in rows if row["data"].startswith(kind)]

    best = of("the truth", "mean of ten raters", least=100, kind="grades")
    sure = [row for row in of("perfect", least=100) if row["data"].endswith("% pass, bar .8")]
    sure = [row for row in sure if row.get("enough", 0) >= 10]
    bar = of("right in .8, the bar")
    at_bar = {name: sum(row.get(name, 0) for row in bar) for name in ("use", "tables")}
    good = "right in .97 of each class"
    power = min(row["gain found"] / max(row["by t"], 1) for row in families)
    shares = [row["hold"] / row["samples"] for row in coverage]
    inside = sum(0.925 <= x <= 0.975 for x in shares)
    refused = list(_refused(data))
    lines = [
        ("SummEval's experts as judges: none is refused", ", ".join(refused), not refused),
        _most("one more rater: refused", of("one more rater"), "do not use", 0.005),
        _least("truth, mean of ten raters; grades: use", best, "use", 0.95),
        _least("the same: as it is", best, "average as it is", 0.95),
        _least("perfect, 20 labels of each class: use", sure, "enough, use", 0.95, "enough"),
        _least("the same: as it is", sure, "enough, average as it is", 0.95, "enough"),
        _most("knows nothing: use", of(*KNOWS_NOTHING), "use", 0.05),
        _most("finds .3 of a class of two: use", of("finds .3 of those that pass"), "use", 0),
        _least("right in .97, 5 %, 1,000: use", of(good, least=1000, kind="5 %"), "use", 0.5),
        _most("right in .97, 5 %: as it is", of(good, kind="5 %"), "average as it is", 0),
        _most("exactly at the bar: use", [at_bar], "use", 0.05),
        _most("other order and names: another word", cells, "changed", 0),
        _most(
            "ten judges of no gain, 100 items: one is better",
            [row for row in families if row["items"] == 100],
            "no gain, yet better", 0.06, "families",
        ),
        ("power over that of a clustered t test, at least 0.9", power, power >= 0.9),
        ("intervals hold in .93 to .97", f"{inside} of {len(shares)}", inside == len(shares)),
    ]  # fmt: skip
    return [{"requirement": a, "figure": b, "holds": c} for a, b, c in lines]


def _most(text: str, rows: list[Row], word: str, limit: float, of: str = "tables") -> Line:
    figure = max((row.get(word, 0) / row[of] for row in rows), default=float("nan"))
    return f"{text}, at most {limit:g}", figure, figure <= limit


def _least(text: str, rows: list[Row], word: str, limit: float, of: str = "tables") -> Line:
    figure = min((row.get(word, 0) / row[of] for row in rows), default=float("nan"))
    return f"{text}, at least {limit:g}", figure, figure >= limit


def _refused(data: Path) -> Iterable[str]:
    """Experts that are refused, though their agreement is not surely below the others'."""
    for name, table in experts(data):
        one, verdict, _ = decided(table)
        lower = any(each.value.high < 0 for each in one.of("people"))
        if verdict.word == "do not use" and not lower:
            yield name
