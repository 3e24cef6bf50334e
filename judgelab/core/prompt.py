"""Prompts are files: readable, replaceable, and their hash goes into every record."""

from __future__ import annotations

import ast
import hashlib
import string
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgelab.core.errors import ConfigError
from judgelab.core.lm import Message
from judgelab.core.resources import conf, own_or_shipped

FOLDER = conf() / "prompt"

TEXTS = frozenset({"one", "two", "a", "b", "text", "response"})
"""Fields for what is judged or rewritten; a prompt that leaves one out asks about nothing."""

BRACES = str.maketrans({"{": "{{", "}": "}}"})  # plain text in a template
Marks = dict[str, str | list[str]]


class Prompt:
    """A user message with ``{fields}``, perhaps after a system message.

    Args:
        file: a name under conf/prompt, or a path to a text file of the user's own (``./judge.txt``
            where one of ours has its name).
        system_file: the same for a system message; None: there is none.
        marks: for words that were not written for judgelab: what stands in the file where a text
            goes, such as ``{{original_text}}``, and the field that goes there. Where a mark
            occurs several times, a list has a field for each. All other braces are plain text.
        part: of a Python file, the function or the constant whose string is the message.

    Attributes:
        marked: whether it is read by ``marks``; its system message has no fields then.
        shipped: whether it is one of ours, and asks for what ours ask.

    Raises:
        ConfigError: a file is absent, or is not UTF-8 text, or lacks the part or a mark.
    """

    def __init__(
        self,
        file: str,
        system_file: str | None = None,
        marks: Marks | None = None,
        part: str | None = None,
    ) -> None:
        path = own_or_shipped(file, FOLDER)
        user = _part(path, part) if part is not None else _read(path)
        self.file = path.name if part is None else f"{path.name}:{part}"
        self.template = (user if marks is None else _with_fields(user, marks, self.file)).strip()
        self.marked = marks is not None
        ours = path.resolve().parent == FOLDER and system_file is None
        self.shipped = ours and not self.marked
        self.system, content = None, self.template.encode()
        if system_file is not None:
            own = own_or_shipped(system_file, FOLDER)
            self.system = _read(own).strip()
            self.file = f"{own.name}+{self.file}"
            content = self.system.encode() + b"\0" + content
        self.sha = hashlib.sha256(content).hexdigest()[:12]
        both = (self.template, "" if self.marked else self.system or "")
        self.fields = {
            name for text in both for _, name, _, _ in string.Formatter().parse(text) if name
        }

    @property
    def identity(self) -> str:
        """File names and hash: goes into the result."""
        return f"{self.file} sha256:{self.sha}"

    def messages(self, **values: str) -> tuple[Message, ...]:
        """The system message, if there is one, and the user's, filled in; ConfigError where the
        template asks for a field that the mechanism lacks, or leaves out a text it is about."""
        unknown, left_out = self.fields - values.keys(), TEXTS & values.keys() - self.fields
        if unknown:
            raise ConfigError(
                f"The prompt {self.file} asks for {sorted(unknown)}, but it is offered "
                f"{sorted(values)}: correct the field names in the file."
            )
        if left_out:
            fields = " and ".join(f"{{{name}}}" for name in sorted(left_out))
            raise ConfigError(
                f"The prompt {self.file} does not show the text that it is about: put {fields} "
                "where it goes."
            )
        user = Message("user", self.template.format_map(values))
        if self.system is None:
            return (user,)
        whole = self.system if self.marked else self.system.format_map(values)
        return Message("system", whole), user

    def text(self, **values: str) -> str:
        """Both messages as one text, filled in; what the values contain is not interpreted."""
        return "\n\n".join(message.content for message in self.messages(**values))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        names = ", ".join(sorted(p.name for p in FOLDER.glob("*.txt")))
        raise ConfigError(
            f"prompt.file={str(path)!r} cannot be read: give a text file or one of {names}."
        ) from cause


def _part(path: Path, name: str) -> str:
    """The string that a function of a Python file assigns or returns first, or a constant holds.

    The file is parsed and never run; what an f-string inserts stands as ``{name}``.
    """
    try:
        tree = ast.parse(_read(path))
    except SyntaxError as cause:
        raise ConfigError(f"{path.name} is no Python that can be parsed ({cause.msg}).") from cause
    for node in ast.walk(tree):
        inner: Sequence[ast.stmt] = ()
        if isinstance(node, ast.FunctionDef) and node.name == name:
            inner = node.body[1:] if ast.get_docstring(node) else node.body
        elif isinstance(node, ast.Assign) and any(ast.unparse(t) == name for t in node.targets):
            inner = [node]
        for one in (value for statement in inner for value in ast.walk(statement)):
            if isinstance(one, ast.JoinedStr):
                return "".join(
                    f"{{{ast.unparse(part.value)}}}"
                    if isinstance(part, ast.FormattedValue)
                    else str(ast.literal_eval(part))
                    for part in one.values
                )
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                return one.value
    raise ConfigError(f"{path.name} holds no prompt {name!r}: is it another version of the file?")


def _with_fields(text: str, marks: Mapping[str, str | Sequence[str]], file: str) -> str:
    """The template whose fields stand where the marks did, all other braces escaped."""
    text = text.translate(BRACES)
    for mark, fields in marks.items():
        before, *pieces = text.split(mark.translate(BRACES))
        names = [fields] * max(1, len(pieces)) if isinstance(fields, str) else fields
        if len(names) != len(pieces):
            raise ConfigError(
                f"The prompt {file} has {mark!r} {len(pieces)} times, not {len(names)}: is it "
                "another version of the file?"
            )
        text = before + "".join(f"\0{n}\1{rest}" for n, rest in zip(names, pieces, strict=True))
    return text.replace("\0", "{").replace("\1", "}")
