"""Prompts are files: readable, replaceable, and their hash goes into every record."""

from __future__ import annotations

import hashlib
import string

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Message
from judgelab.core.resources import conf, own_or_shipped

FOLDER = conf() / "prompt"


class Prompt:
    """A user message with ``{fields}``.

    Args:
        file: a name under conf/prompt, or a path to a text file of the user's own (``./judge.txt``
            where one of ours has its name).

    Attributes:
        shipped: whether it is one of ours, and no file of the user's own.

    Raises:
        ConfigError: the file is absent, or is not UTF-8 text.
    """

    def __init__(self, file: str) -> None:
        path = own_or_shipped(file, FOLDER)
        try:
            self.template = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as cause:
            names = ", ".join(sorted(p.name for p in FOLDER.glob("*.txt")))
            raise ConfigError(
                f"prompt.file={file!r} cannot be read: give a text file or one of {names}."
            ) from cause
        self.file = path.name
        self.shipped = path.resolve().parent == FOLDER
        self.sha = hashlib.sha256(self.template.encode()).hexdigest()[:12]
        self.fields = {name for _, name, _, _ in string.Formatter().parse(self.template) if name}

    @property
    def identity(self) -> str:
        """File name and hash: goes into the result."""
        return f"{self.file} sha256:{self.sha}"

    def messages(self, **values: str) -> tuple[Message, ...]:
        """One user message; see ``text``."""
        return (Message("user", self.text(**values)),)

    def text(self, **values: str) -> str:
        """The template filled in; what the values contain is not interpreted.

        Raises:
            ConfigError: the template asks for a field that the mechanism does not have.
        """
        unknown = self.fields - values.keys()
        if unknown:
            raise ConfigError(
                f"The prompt {self.file} asks for {sorted(unknown)}, but it is offered "
                f"{sorted(values)}: correct the field names in the file."
            )
        return self.template.format_map(values)
