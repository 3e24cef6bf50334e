"""Does an LM's estimate of P(x, y) depend on the order? (GEM paper, appendix A.5)"""

from judgelab.study.symmetry.study import Symmetry

__all__ = ["Symmetry"]
