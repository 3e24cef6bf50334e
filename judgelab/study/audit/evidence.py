"""What is known of each judge: estimates of all judges at once, from what they and people say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judgelab.core.judgments import Floats
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import Target, cohens_kappa
from judgelab.stats.trust.biases import position_bias
from judgelab.stats.trust.partial_correlation import given_system
from judgelab.study.audit.conditions import Condition, Evidence
from judgelab.study.audit.design import Design, answers_of, rules_of, shares_of_people, systems_of


def evidence(
    design: Design, probes: Mapping[str, Sequence[Condition]] | None = None
) -> list[Evidence]:
    """Everything that is known of every judge; conditions and a verdict follow from it.

    Args:
        probes: judge -> conditions of manipulations that were tried.
    """
    table, target, beside, cluster = design.table, design.target, design.beside, design.cluster
    answers, said, systems = answers_of(table), shares_of_people(table), systems_of(design)
    judged, in_both = design.judged, np.asarray(table.asked.all(axis=2))
    labelled, both = judged & table.labelled, judged & design.double

    own = target.shares(answers, judged)
    simple = {rule: target.shares(its, judged) for rule, its in rules_of(table).items()}
    agreement, gains = own.estimates(), own.gains(list(simple.values()))
    people, classes = list[Estimates](), list[Estimates]()
    recall = position = None
    kappas, confusions = dict[int, Estimate](), dict[int, Floats]()
    if beside is not None:
        of_people = beside.of_people(both)
        people += beside.shares(answers, both).against(of_people)
    if isinstance(target, Target) and table.levels:
        recall = target.recall(answers, judged).estimates()
        for k, x in enumerate(labelled):
            kappas[k] = cohens_kappa(said[x], answers[k, x], design.weights[x], cluster[x])
            verdicts = np.column_stack([answers[k], 1 - answers[k].sum(axis=1)])
            confusions[k] = np.nan_to_num(said)[judged[k]].T @ verdicts[judged[k]]
    if isinstance(beside, Target) and table.levels:
        classes += beside.recall(answers, both).against(beside.recall_of_people(both))
    if table.kind == "preference":
        position = position_bias(table.verdicts, table.asked, cluster)

    known = list[Evidence]()
    for k, who in enumerate(table.judges):
        system, misaligned = None, False
        if systems is not None:
            system, misaligned = given_system(systems[0][k], *systems[1:], cluster)
        twice = in_both[k].any() and not who.pointwise
        enough = beside is not None and of_people.clusters[k] >= design.bars.labels
        one = Evidence(
            design,
            who.name,
            labelled=design.labelled_items(judged[k]),
            missed=design.labelled_items(~judged[k]),
            asked=int(table.asked[k].sum()),
            lost=int((table.asked[k] & np.isnan(table.verdicts[k])).sum()),
            agreement=agreement.at(k),
            controls={rule: float(x.value[k]) for rule, x in simple.items()},
            gains={rule: gains.at(j, k) for j, rule in enumerate(simple)},
            people=[x.at(k) for x in people if enough],
            recall={x: recall.at(k, j) for j, x in enumerate(table.levels) if recall is not None},
            recall_beside={
                x: [x.at(k, j) for x in classes] for j, x in enumerate(table.levels) if classes
            },
            system=system,
            position=position.at(k) if position and twice else None,
            averaged=bool((in_both[k] == judged[k]).all()),
            kappa=kappas.get(k),
            confusion=confusions.get(k),
            misaligned=misaligned and table.kind == "grade",
            probes=(probes or {}).get(who.name, ()),
        )
        known.append(one)
    return known
