"""Does a mechanism tell good texts from bad, and still under an attack? (TVD-MI paper)"""

from judgelab.study.discrimination.study import Discrimination

__all__ = ["Discrimination"]
