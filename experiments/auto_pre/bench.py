"""One dataset as its tables need it: exams, weights, and methods counted in three ways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.auto_pre import counting, printed
from experiments.auto_pre.printed import judges, recipes, settings
from experiments.auto_pre.release import AutoPreRecords
from judgelab.stats.intervals.arrays import Floats, Mask

PAIRWISE = "pairwise"
HUMAN_BAR, CONSISTENCY_BAR = 0.6, 0.55
STATED_EXAM = ("ChatGLM2-6B", "gpt-3.5-turbo", 1)
"""L1, L2 and prompt of the pertinence exam that the paper uses."""


@dataclass(frozen=True)
class Recipe:
    """Who votes, and with what weight."""

    judges: tuple[str, ...]
    weight: tuple[float, ...]


@dataclass(frozen=True)
class Bench:
    """A dataset, and what follows from it and from what is printed of it."""

    data: AutoPreRecords

    @property
    def name(self) -> str:
        """Of the dataset."""
        return self.data.name

    @cached_property
    def count(self) -> Mapping[str, object]:
        """How the authors count here (recipes.yaml)."""
        return settings(self.name)

    @property
    def macro(self) -> bool:
        """Whether accuracy is the mean over items."""
        return self.count["average"] == "items"

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """The paper's judges that the dataset has, else all of its judges."""
        of_paper = tuple(j for j in recipes()["judges"] if j in self.data.verdict)
        return of_paper or tuple(self.data.verdict)

    @cached_property
    def truth(self) -> Floats:
        """[items, pairs] people's preference."""
        return self.data.truth()

    @cached_property
    def verdicts(self) -> dict[str, Floats]:
        """Judge -> [items, pairs, orders] as released: does the pair's first answer win?"""
        return {judge: self._of_pairs(cells) for judge, cells in self.data.verdict.items()}

    @cached_property
    def unread(self) -> dict[str, Mask]:
        """Judge -> [items, pairs, orders] does the reply name neither an answer nor a tie?"""
        return {
            judge: (cells == 0.5) & np.isnan(self._of_pairs(self.data.readable[judge]))
            for judge, cells in self.verdicts.items()
        }

    def _of_pairs(self, cells: Floats) -> Floats:
        first, second = self.data.pairs.T
        return np.stack([cells[:, first, second], 1 - cells[:, second, first]], axis=-1)

    @property
    def forms(self) -> tuple[str, ...]:
        """Formats with data, in the paper's order."""
        of_grades = [form for form in ("5-level", "100-level") if form in self.data.grades]
        return (*of_grades, PAIRWISE)

    def by_judge(self, form: str) -> Mapping[str, Floats]:
        """Judge -> verdicts or grades of a format."""
        return self.verdicts if form == PAIRWISE else self.data.grades.get(form, {})

    def readable(self, judge: str, form: str) -> Floats:
        """The same of one judge, without what could not be read: NaN."""
        cells = self.by_judge(form)[judge]
        return np.where(self.unread[judge], np.nan, cells) if form == PAIRWISE else cells

    def single(self, judge: str, form: str) -> float:
        """Accuracy of one judge as the release counts it."""
        right = counting.released_single(self.by_judge(form)[judge], self.truth, self.data.pairs)
        return counting.mean(right, self.macro)

    def human_exam(self, judge: str, form: str, *, misspelt: bool) -> float:
        """Accuracy on pairs among the human exam's answers; on all pairs where it has none."""
        key = "exam_answers_graded" if misspelt and form != PAIRWISE else "exam_answers"
        among = self.count.get(key) or self.count["exam_answers"]
        assert isinstance(among, list)
        inside = np.isin(self.data.agents, among)
        inside_pairs = inside[self.data.pairs].all(axis=1)
        if not inside_pairs.any():
            return self.single(judge, form)
        truth = np.where(inside_pairs, self.truth, 0.0)
        right = counting.released_single(self.by_judge(form)[judge], truth, self.data.pairs)
        return counting.mean(right, macro=False)

    @cached_property
    def consistency(self) -> dict[str, float]:
        """P_c over all pairs, as the release counts it."""
        cells = {judge: self.verdicts[judge] for judge in self.candidates}
        return {judge: self._share(counting.same(each)) for judge, each in cells.items()}

    @cached_property
    def pertinence(self) -> dict[str, float]:
        """P_p of the paper's configuration; where it is not released, what is known of it."""
        shares = {judge: self._share(rows) for judge, rows in self.relevant(*STATED_EXAM).items()}
        typed = self.count.get("pertinence") or {}
        assert isinstance(typed, dict)
        return shares or {judge: float(value) for judge, value in typed.items()}

    @cached_property
    def strong_ra(self) -> dict[str, float]:
        """P_p with L1=GPT-4: from its rows, else as printed; the paper's own for the rest."""
        rows = self.relevant("gpt4", STATED_EXAM[1], STATED_EXAM[2])
        shares = {judge: self._share(cells) for judge, cells in rows.items()}
        return {**self.pertinence, **(shares or printed.pertinence("gpt4", STATED_EXAM[1]))}

    def relevant(self, first: str, second: str, prompt: int) -> dict[str, Floats]:
        """Judge -> [items, 2]: was the relevant answer preferred (.5: neither), as released."""
        rows = self.data.pertinence
        mine = rows[
            (rows["L1_RA"] == first) & (rows["L2_IA"] == second) & (rows["prompt"] == prompt)
        ]
        return {
            str(judge): counting.relevant(part, self.data.tasks)
            for judge, part in mine.groupby("evaluator", observed=True)
        }

    @staticmethod
    def _share(cells: Floats) -> float:
        return float(np.nanmean(cells))

    @cached_property
    def confident(self) -> dict[str, bool]:
        """Judge -> whether P_s = 1: by prompt1, else in words ('null'), else by prompt2; where
        nothing is released, by Table 6."""
        _, listed = printed.ablation("Auto-PRE (S)", self.name)
        passed = {judge: judge in (listed or ()) for judge in self.candidates if listed}
        for method, prompt in (("prob", "prompt2"), ("direct", "null"), ("prob", "prompt1")):
            for judge in self.candidates:
                easy, hard = counting.confidence(self.data.confidence, method, prompt, judge)
                if len(easy) and len(hard):
                    passed[judge] = bool(easy.mean() > hard.mean())
        return passed

    def passing(self, exam: str) -> tuple[str, ...]:
        """Who passes by the stated rule: above the mean of all candidates; P_s = 1.

        Where an exam is not released, Table 6's list; where that has none, everybody (``notes``
        says so).
        """
        if exam == "confidence":
            return tuple(j for j in self.candidates if self.confident.get(j, True))
        values = self.consistency if exam == "consistency" else self.pertinence
        if not all(judge in values for judge in self.candidates):
            _, listed = printed.ablation("Auto-PRE (P)", self.name)
            return listed or self.candidates
        bar = math.fsum(values[judge] for judge in self.candidates) / len(self.candidates)
        return tuple(judge for judge in self.candidates if values[judge] > bar + 1e-12)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which exams were not released, and who is taken to have passed them."""
        sentences = []
        absent = [judge for judge in self.candidates if judge not in self.pertinence]
        _, listed = printed.ablation("Auto-PRE (P)", self.name)
        if absent:
            fate = "Table 6 says who passed" if listed else "everybody is taken to have passed"
            sentences.append(f"{self.name}: P_p of {', '.join(absent)} was not released: {fate}.")
        absent = [judge for judge in self.candidates if judge not in self.confident]
        if absent:
            sentences.append(
                f"{self.name}: P_s of {', '.join(absent)} was not released, nor does Table 6 say "
                "who passed: they are taken to have passed."
            )
        return tuple(sentences)

    def recipe(self, typed: Sequence[str], form: str) -> Recipe | None:
        """A typed-in recipe, e.g. ("4567", "human"), as judges and weights; None without data."""
        names = judges(typed[0])
        if not all(name in self.by_judge(form) for name in names):
            return None
        weight = tuple(self.weight(typed[1], judge, form) for judge in names)
        return None if np.isnan(weight).any() else Recipe(names, weight)

    def weight(self, rule: str, judge: str, form: str) -> float:
        """Weight of a judge by a rule of recipes.yaml; NaN where its exam was not released."""
        for transform in ("exp", "logit"):
            if rule.startswith(f"{transform}_"):
                w = self.weight(rule.removeprefix(f"{transform}_"), judge, form)
                return math.exp(w / (1 - w)) if transform == "exp" else math.log(w / (1 - w))
        if rule == "one":
            return 1.0
        if rule == "human":
            return self.human_exam(judge, form, misspelt=True)
        if rule == "whole":
            other = self.count.get(f"whole_{form}") or {}
            assert isinstance(other, dict)
            return float(other.get(judge, self.single(judge, form)))
        pertinent = dict(self.strong_ra if rule.startswith("strong") else self.pertinence)
        if rule == "strong_mean":
            misprints = self.count.get(rule) or {}
            assert isinstance(misprints, dict)
            pertinent |= misprints
        if rule == "consistency":
            return self.consistency.get(judge, math.nan)
        if rule in ("pertinence", "strong_ra"):
            return pertinent.get(judge, math.nan)
        exams = [self.consistency.get(judge), pertinent.get(judge), 1.0]  # who passed has P_s = 1
        marks = [value for value in exams if value is not None]  # an exam not released is left out
        return sum(marks) / len(marks)

    def stated(self, method: str, form: str) -> Recipe | None:
        """The recipe that the paper states for a method; None: it has none, or nobody passes."""
        recipe = self._stated(method, form)
        return recipe if recipe is not None and recipe.judges else None

    def _stated(self, method: str, form: str) -> Recipe | None:
        everyone = [judge for judge in self.candidates if judge in self.by_judge(form)]
        if method == "PRE (w/o Filter)":
            return Recipe(tuple(everyone), (1.0,) * len(everyone))
        if method == "PRE (Auto-Exam)":
            names = [judge for judge in everyone if self.consistency[judge] > CONSISTENCY_BAR]
            return Recipe(tuple(names), (1.0,) * len(names))
        if method == "PRE (Human Filter)":
            if not self.count["exam_answers"]:
                return None  # which answers people judged for the exam is not known
            marks = {judge: self.human_exam(judge, form, misspelt=False) for judge in everyone}
            passed = {judge: mark for judge, mark in marks.items() if mark > HUMAN_BAR}
            return Recipe(tuple(passed), tuple(passed.values()))
        exams = {
            "Auto-PRE (P)": ["pertinence"],
            "Auto-PRE (S)": ["confidence"],
            "Auto-PRE": ["consistency", "pertinence", "confidence"],
            "Auto-PRE (C+P+S)": ["consistency", "pertinence", "confidence"],
        }.get(method)
        if exams is None:
            return None
        lists = [self.passing(exam) for exam in exams]
        names = [judge for judge in everyone if all(judge in listed for listed in lists)]
        rule = "mean" if len(exams) == 3 else "one"
        return Recipe(tuple(names), tuple(self.weight(rule, judge, form) for judge in names))
