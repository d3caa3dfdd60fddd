"""Reads a script from a YAML file: the same texts, lists and mappings that Python takes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ...schema.loading.loading import read_file
from ...schema.values.errors import ConfigError
from ...schema.values.problems import quoted
from ...schema.values.yaml_text import read_yaml
from .reply import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path as FilePath

    from ...schema.values.document import Document
    from ...schema.values.problems import Path, Problem
    from .script import Replies

__all__ = ["load_script"]


def load_script(path: str | FilePath) -> Replies:
    """Load a script for `ScriptedModel`.

    The file is a text, a list of replies, or a mapping from phrases to either; a phrase between
    slashes is a regular expression. A reply is a text or a mapping with one of `text`, `json`,
    `code`, `bash`, `tool`, `error` and `fault`, and any of `latency`, `interval`, `usage`,
    `finish_reason` and `headers`.

    Raises:
        InputError: There is no such file, or it cannot be read.
        ConfigError: The file is no script; the exception has every problem with its place.
    """
    document, problems = read_yaml(read_file(path), str(path))
    if problems:
        raise ConfigError(problems)
    reading = _Reading(document=document)
    replies = reading.script()
    if reading.problems:
        raise ConfigError(sorted(reading.problems))
    return replies


_KINDS: Mapping[str, Any] = {
    "text": str,
    "an integer": int,
    "a number": (int, float),
    "a mapping": dict,
    "a number or text": (int, float, str),
    "text or a mapping": (str, dict),
    "any value": object,
}
_CHANGES: Mapping[str, str] = {
    "finish_reason": "text",
    "headers": "a mapping",
    "interval": "a number",
    "latency": "a number",
    "usage": "text or a mapping",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """One way to say what a reply answers. The first of its parts is required."""

    kind: str
    make: Callable[[Any], Reply]
    parts: Mapping[str, str] = field(default_factory=dict[str, str])


_FORMS: Mapping[str, _Form] = {
    "text": _Form(kind="text", make=lambda text: Reply(text=text)),
    "json": _Form(kind="any value", make=Reply.json),
    "code": _Form(kind="text", make=Reply.code),
    "bash": _Form(kind="text", make=Reply.bash),
    "tool": _Form(
        kind="a mapping",
        make=lambda tool: Reply.tool(tool["name"], **tool.get("arguments", {})),
        parts={"name": "text", "arguments": "a mapping"},
    ),
    "error": _Form(
        kind="a mapping",
        make=lambda error: Reply.error(**error),
        parts={
            "status": "an integer",
            "message": "text",
            "code": "text",
            "retry_after": "a number or text",
        },
    ),
    "fault": _Form(kind="text", make=Reply.fault),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """Turns a document into replies; where it cannot, it notes a problem and goes on."""

    document: Document
    problems: list[Problem] = field(default_factory=list["Problem"])

    def script(self) -> Replies:
        value = self.document.value
        if isinstance(value, dict):
            choices = cast("dict[str, Any]", value).items()
            return {self._key(key): self._replies((key,), item) for key, item in choices}
        return self._replies((), value)

    def _key(self, key: str) -> str | re.Pattern[str]:
        if len(key) < len("/./") or not (key.startswith("/") and key.endswith("/")):
            return key
        try:
            return re.compile(key[1:-1])
        except re.error as error:
            self._report((key,), f"not a regular expression: {error}.")
            return key

    def _replies(self, path: Path, value: Any) -> Reply | list[Reply]:
        if isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            return [self._reply((*path, index), item) for index, item in items]
        return self._reply(path, value)

    def _reply(self, path: Path, value: Any) -> Reply:
        if isinstance(value, str):
            return Reply(text=value)
        if not isinstance(value, dict):
            self._report(path, f"{quoted(value)} is no reply. Write a text, in quotes.")
            return Reply()
        fields = cast("dict[str, Any]", value)
        forms = [key for key in fields if key in _FORMS]
        if len(forms) != 1:
            self._report(path, f"a reply has one of {', '.join(_FORMS)}; here are {len(forms)}.")
            return Reply()
        changes = {key: item for key, item in fields.items() if key not in _FORMS}
        reply = self._formed((*path, forms[0]), _FORMS[forms[0]], fields[forms[0]])
        return reply.replace(**changes) if self._fits(path, changes, _CHANGES) else reply

    def _formed(self, path: Path, form: _Form, value: Any) -> Reply:
        if not self._is_kind(path, value, form.kind):
            return Reply()
        if form.parts:
            required = next(iter(form.parts))
            if required not in value:
                self._report(path, f"{required} is missing.")
                return Reply()
            if not self._fits(path, value, form.parts):
                return Reply()
        try:
            return form.make(value)
        except ValueError as error:
            self._report(path, f"{error}.")
            return Reply()

    def _fits(self, path: Path, fields: Mapping[str, Any], kinds: Mapping[str, str]) -> bool:
        """Check that all fields are known and of their kind."""
        before = len(self.problems)
        for key, item in fields.items():
            if key in kinds:
                self._is_kind((*path, key), item, kinds[key])
            else:
                message = f"unknown field. Fields here: {', '.join(kinds)}."
                self.problems.append(self.document.problem((*path, key), message, at_key=True))
        return len(self.problems) == before

    def _is_kind(self, path: Path, value: Any, kind: str) -> bool:
        fits = isinstance(value, _KINDS[kind])
        if not fits:
            self._report(path, f"{quoted(value)} is not {kind}.")
        return fits

    def _report(self, path: Path, message: str) -> None:
        self.problems.append(self.document.problem(path, message))
