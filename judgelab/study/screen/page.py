"""The page of a screen: title, answer and tables, from what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judgelab.core.result import Headline, Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.provenance import origin_of, sources
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.screen.verdicts import Verdict
from judgelab.study.common.tables import about, named_columns
from judgelab.study.common.templates import sentences, table
from judgelab.study.screen.case import LENGTH, WORDS, RankingBelief, ScreenCase, Tried

HEADLINES = (Headline("says_nothing", "Systems that say nothing about their item", lower=True),)
ORDER: Sequence[Verdict] = ("nothing", "much less", "not known", "something")
PHRASES = {
    "nothing": "says nothing that could be seen",
    "much less": "shares much less than the others",
    "something": "says something",
    "not known": "not known",
}
FEATURE_NAMES = (
    "how far it would be the same on other items of the kind (0 to 1)",
    "how far it is the length of texts (0 to 1)",
    "how far critics agree on it (-1 to 1)",
)
"""As of ``stats.screen.belief.FEATURES``."""
EXEMPT = "says something, in words of its own"
MOST_ODD = 12  # rows of the table of items
GAPS = 0.05  # share of the items without its text from which an agent is named


def page(context: Context, ranking: RankingBelief, given: int, attacks: Tried) -> Result:
    """Everything as one result.

    Args:
        given: items of the data, also those that do not count.
        attacks: what they did, where any were tried.
    """
    case = ranking.case
    facts = _facts(case, ranking) | {"given": given, "tried": attacks}
    title, *said = sentences(__package__, "answer.md.j2", **facts)
    tables = [_agents(case), _critics(case, attacks), attacks.table, _belief(ranking), _odd(case)]
    if ranking.standing == "believed":
        tables.insert(1, _ranking(case))
    return Result(
        summary=_summary(context, case, ranking),
        primary="says_nothing",
        headlines=HEADLINES,
        tables=[one for one in tables if one.rows],
        notes=list(sources(context, case.panel)),
        provenance={"clean": origin_of(case.panel, {})},
        estimators=[one.critic.estimator for one in case.sat if one.critic.estimator],
        answer=[(head, rest) for head, _, rest in (line.partition(": ") for line in said)],
        title=title,
    )


def _facts(case: ScreenCase, ranking: RankingBelief) -> dict[str, Any]:
    """What the answer is made of."""
    named = {word: sorted(case.names[k] for k in case.those(word)) for word in ORDER}
    names, unknown = case.names, case.those("not known")
    items, alike = len(case.panel.items), case.facts.alike
    gaps = [sum(text is None for text in texts) for texts in zip(*case.panel.texts, strict=True)]
    return {
        "case": case,
        "ranking": ranking,
        "names": names,
        "nothing": named["nothing"],
        "less": named["much less"],
        "short": _words(case, case.those("much less")),
        "long": _words(case, case.those("something")),
        "something": named["something"],
        "unknown": named["not known"],
        "exempt": sorted(names[k] for k in case.exempt),
        "items": items,
        "gaps": [(names[k], n) for k, n in enumerate(gaps) if n > max(2, GAPS * items)],
        "not_known": [
            (reason, sorted(names[k] for k in unknown if case.reasons[k] == reason))
            for reason in dict.fromkeys(case.reasons[k] for k in unknown)
        ],
        "copies": [
            (sorted(names[k] for k in those), float(np.nanmean(alike[np.ix_(those, those)])))
            for those in case.copies
        ],
        "templates": [
            (names[k], float(case.facts.own[k]), float(case.facts.repeated[k]))
            for k in np.flatnonzero(case.facts.template)
        ],
        "apart": sorted(names[k] for k in case.apart),
        "sources": not np.isnan(case.facts.source_p).any(),
        "critics": [one for one in case.sat if one.critic.name != LENGTH],
    }


def _words(case: ScreenCase, those: Sequence[int]) -> str:
    return f"{np.median(case.words[those]):.0f}" if those else ""


def _agents(case: ScreenCase) -> Table:
    """One row each; by verdict and name, so that the order is no ranking."""
    found = case.screened
    rows = list[Row]()
    order = sorted(
        range(len(case.verdicts)), key=lambda k: (ORDER.index(case.verdicts[k]), case.names[k])
    )
    asked = [one.critic.name for one in case.pool if one.critic.estimator]
    for k in order if found is not None else ():
        assert found is not None
        phrase = EXEMPT if k in case.exempt else PHRASES[case.verdicts[k]]
        row: dict[str, Value] = {"system": case.names[k], "verdict": phrase}
        share = named_columns("percent_of_median_other", found.share.at(k)).items()
        row |= {key: round(100 * float(value or 0.0), 1) for key, value in share}
        row["p"] = float(found.p[k])
        if asked:
            row |= named_columns("shared", item_mean(case.effects[asked[0]][:, k]))
        texts = int((~np.isnan(found.effect[:, k])).sum())
        rows.append(row | {"words": float(case.words[k]), "texts": texts})
    return table(__package__, "agents", rows, critic=asked[0] if asked else "")


def _critics(case: ScreenCase, attacks: Tried) -> Table:
    rows: list[Row] = []
    for one in case.sat:
        found = one.exam.estimates
        part = "yes" if one.qualifies else "no, a control" if one.critic.name == LENGTH else "no"
        row: dict[str, Value] = {"critic": one.critic.name, "takes_part": part}
        row |= named_columns("auc", found["auc"])
        row["auc_of_those_that_say_something"] = case.among_informative(one)
        row |= {"tpr": found["tpr"].value, "tnr": found["tnr"].value}
        row |= named_columns("beyond_length", one.ahead)
        if one.critic.name not in (WORDS, LENGTH):
            row |= named_columns("over_shared_words", one.over_words)
        for name, told in attacks.told.items():
            row |= named_columns(f"over_{name}", told[one.critic.name])
        rows.append(row | {"both_orders": one.exam.orders})
    return table(__package__, "critics", rows, told=attacks.told)


def _belief(ranking: RankingBelief) -> Table:
    belief = ranking.belief
    rows: list[Row] = [
        {"what": what, "here": here, "usual": None if belief is None else belief.means[name]}
        for (name, here), what in zip(ranking.features.items(), FEATURE_NAMES, strict=False)
    ]
    return table(__package__, "belief", rows)


def _ranking(case: ScreenCase) -> Table:
    found = case.ranking
    assert found is not None
    ends = {"rank": found.rank, "rank_low": found.rank_low, "rank_high": found.rank_high}
    rows: list[Row] = [
        {"system": case.names[case.ranked[k]]} | {key: float(x[k]) for key, x in ends.items()}
        for k in np.argsort(found.rank)
    ]
    return table(__package__, "ranking", rows)


def _odd(case: ScreenCase) -> Table:
    """Items on which agents that say nothing, say much less or stand apart share least."""
    rows = list[Row]()
    odd = [*case.those("nothing"), *case.those("much less"), *case.apart]
    effect = np.empty((0, 0)) if case.screened is None else case.screened.effect
    for k in odd:
        others = np.nanmean(np.delete(effect, k, axis=1), axis=1)
        gap = np.where(np.isnan(effect[:, k]), np.inf, effect[:, k] - others)
        for at in np.argsort(gap, kind="stable")[: max(MOST_ODD // len(odd), 1)]:
            row: Row = {"system": case.names[k], "item": case.panel.items[at].id}
            scores: Row = {"its_score": float(effect[at, k]), "mean_of_others": float(others[at])}
            rows.append({**row, **scores})
    return table(__package__, "odd_items", rows)


def _summary(context: Context, case: ScreenCase, ranking: RankingBelief) -> Mapping[str, Value]:
    made = about(context, case.panel, "screen") | {
        "items": len(case.panel.items),
        "systems": len(case.panel.agents),
        "says_nothing": len(case.those("nothing")),
        "says_much_less": len(case.those("much less")),
        "says_something": len(case.those("something")),
        "not_known": len(case.those("not known")),
        "copies": sum(len(one) - 1 for one in case.copies),
        "apart": len(case.apart),
        "critics": len(case.pool),
        "ranking": ranking.standing,
        "ranking/tau": ranking.tau,
        "ranking/probability": ranking.probability,
    }
    verdicts = zip(case.names, case.verdicts, strict=False)  # none where no critic qualifies
    return made | {f"verdict/{name}": word for name, word in verdicts}
