"""judgelab from Python: the runs of the command line, and what they found as DataFrames."""

from judgelab.core.errors import JudgelabError
from judgelab.python.results import RunComparison, RunResult, compare, load
from judgelab.python.running import audit, run

__all__ = ["JudgelabError", "RunComparison", "RunResult", "audit", "compare", "load", "run"]
