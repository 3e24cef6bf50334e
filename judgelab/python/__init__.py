"""judgelab from Python: the runs of the command line, and what they found as DataFrames."""

from judgelab.core.errors import JudgelabError
from judgelab.python.auditing import audit
from judgelab.python.comparing import RunComparison, compare
from judgelab.python.found import RunResult
from judgelab.python.loading import load
from judgelab.python.running import run

__all__ = ["JudgelabError", "RunComparison", "RunResult", "audit", "compare", "load", "run"]
