"""Who writes the most informative responses?"""

from judgelab.study.leaderboard.benchmarks import correlations, read_benchmarks
from judgelab.study.leaderboard.study import Leaderboard

__all__ = ["Leaderboard", "correlations", "read_benchmarks"]
