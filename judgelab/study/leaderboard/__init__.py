"""Who writes the most informative responses?"""

from judgelab.study.leaderboard.study import Leaderboard, correlations, read_benchmarks

__all__ = ["Leaderboard", "correlations", "read_benchmarks"]
