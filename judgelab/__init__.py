"""judgelab: a laboratory for evaluating evaluators."""

__version__ = "0.1.0"
