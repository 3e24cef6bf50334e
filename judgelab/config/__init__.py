"""From a command line to objects: composed configs checked, built, and run under Hydra."""

from judgelab.config.build import AXES, ROLES, WRITER, build, fitting, frame, resolved, writer_nodes
from judgelab.config.composing import register
from judgelab.config.settings import Budget, Frame, Paths

register()

__all__ = [
    "AXES",
    "ROLES",
    "WRITER",
    "Budget",
    "Frame",
    "Paths",
    "build",
    "fitting",
    "frame",
    "resolved",
    "writer_nodes",
]
