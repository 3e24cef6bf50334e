"""Which function carries out which strategy: the taxonomies' implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from judgelab.agents.strategies import faithful as f
from judgelab.agents.strategies import low_effort as low
from judgelab.agents.strategies import peer_review as r
from judgelab.agents.strategies import peer_review_degraded as d
from judgelab.agents.strategies import strategic as g
from judgelab.agents.strategies import style as s
from judgelab.agents.strategies import translation as t
from judgelab.agents.strategies.source import Source

Writer = Callable[[Source, np.random.Generator], str]

SUMMARIZATION: Mapping[str, Writer] = {
    "Faithful": f.faithful,
    "Objective": f.objective,
    "Comprehensive": f.comprehensive,
    "Neutral Tone": f.neutral_tone,
    "Fact Manipulation": g.fact_manipulation,
    "Selective Omission": g.selective_omission,
    "Misleading Emphasis": g.misleading_emphasis,
    "Sentiment Flip": g.sentiment_flip,
    "Conspiracy Theory": g.conspiracy_theory,
    "Contradictory": g.contradictory,
    "Context Removal": g.context_removal,
    "False Attribution": g.false_attribution,
    "Agenda Push": g.agenda_push,
    "Cherry Pick": g.cherry_pick,
    "Low Effort": low.low_effort,
    "Ultra Concise": low.ultra_concise,
    "Template Response": low.template_response,
    "Surface Skim": low.surface_skim,
    "Minimal Detail": low.minimal_detail,
    "Overly Technical": s.overly_technical,
    "Academic Style": s.academic_style,
    "Sensationalist": s.sensationalist,
    "Bureaucratic": s.bureaucratic,
    "Casual Conversational": s.casual_conversational,
    "Historical Perspective": s.historical_perspective,
    "Poetic": s.poetic,
    "Technical Jargon": s.technical_jargon,
    "Euphemistic": s.euphemistic,
    "Minimalist": s.minimalist,
}

TRANSLATION: Mapping[str, Writer] = {
    "Original": t.original,
    "Low Effort": t.low_effort,
    "All Positive": t.all_positive,
    "All Negative": t.all_negative,
    "Exaggerate": t.exaggerate,
    "Understate": t.understate,
    "Sarcastic": t.sarcastic,
    "Misleading": t.misleading,
    "Formal": t.formal,
    "Informal": t.informal,
    "Technical": t.technical,
    "Simplify": t.simplify,
    "Poetic": t.poetic,
    "Humorous": t.humorous,
    "Dramatic": t.dramatic,
    "Historical": t.historical,
    "Futuristic": t.futuristic,
    "Academic": t.academic,
    "Persuasive": t.persuasive,
    "Emotional": t.emotional,
    "Objective": t.objective,
    "Subjective": t.subjective,
    "Metaphorical": t.metaphorical,
    "Comparative": t.comparative,
    "Contradictory": t.contradictory,
    "Hypothetical": t.hypothetical,
    "Cultural": t.cultural,
    "Philosophical": t.philosophical,
    "Quantitative": t.quantitative,
    "Creative": t.creative,
}

PEER_REVIEW: Mapping[str, Writer] = {
    "Faithful": r.faithful,
    "Objective Analysis": r.objective_analysis,
    "Thorough Evaluation": r.thorough_evaluation,
    "Balanced Critique": r.balanced_critique,
    "Method Shift": d.method_shift,
    "Question Shift": d.question_shift,
    "Contribution Misrepresent": d.contribution_misrepresent,
    "Result Manipulation": d.result_manipulation,
    "Assumption Attack": d.assumption_attack,
    "Low Effort": d.low_effort,
    "Generic": d.generic,
    "Surface Skim": d.surface_skim,
    "Template Fill": d.template_fill,
    "Checklist Review": d.checklist_review,
    "Overly Technical": r.overly_technical,
    "Harsh Critique": r.harsh_critique,
    "Overly Positive": r.overly_positive,
    "Theory Focus": r.theory_focus,
    "Implementation Obsessed": r.implementation_obsessed,
    "Comparison Fixated": r.comparison_fixated,
    "Pedantic Details": r.pedantic_details,
    "Scope Creep": r.scope_creep,
    "Statistical Nitpick": r.statistical_nitpick,
    "Future Work Focus": r.future_work_focus,
    "Dismissive Expert": d.dismissive_expert,
    "Agenda Push": d.agenda_push,
    "Benchmark Obsessed": d.benchmark_obsessed,
    "Writing Critique": r.writing_critique,
}

WRITERS: Mapping[str, Mapping[str, Writer]] = {
    "summarization": SUMMARIZATION,
    "translation": TRANSLATION,
    "peer_review": PEER_REVIEW,
}
"""Task -> strategy name -> the function that writes."""
