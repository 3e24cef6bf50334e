"""Who writes the most informative responses? (GEM paper, section 5)"""

from judgelab.study.leaderboard.study import Leaderboard

__all__ = ["Leaderboard"]
