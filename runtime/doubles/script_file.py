"""Reads a script from a YAML file: the same texts, lists and mappings that Python takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from ...schema.loading.loading import read_file, shape_problems
from ...schema.values.document import Document
from ...schema.values.errors import ConfigError
from ...schema.values.problems import Path, Problem
from ...schema.values.values import is_list, is_mapping
from ...schema.values.yaml_text import read_yaml
from .reply import FAULTS, Reply
from .script import Replies

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_MAPPING = {"type": "object"}
_REPLY: Mapping[str, Any] = {
    "type": ["string", "object"],
    "additionalProperties": False,
    "properties": {
        "finish_reason": _TEXT,
        "headers": _MAPPING,
        "interval": _NUMBER,
        "latency": _NUMBER,
        "usage": {"type": ["string", "object"]},
        "text": _TEXT,
        "json": {},
        "code": _TEXT,
        "bash": _TEXT,
        "tool": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {"name": _TEXT, "arguments": _MAPPING},
        },
        "error": {
            "type": "object",
            "required": ["status"],
            "additionalProperties": False,
            "properties": {
                "status": {"type": "integer"},
                "message": _TEXT,
                "code": _TEXT,
                "retry_after": {"type": ["number", "string"]},
            },
        },
        "fault": {"enum": [*FAULTS]},
    },
}
_REPLIES = {**_REPLY, "type": ["string", "object", "array"], "items": _REPLY}
_FORMS: Mapping[str, Callable[[Any], Reply]] = {
    "text": lambda text: Reply(text=text),
    "json": Reply.json,
    "code": Reply.code,
    "bash": Reply.bash,
    "tool": lambda tool: Reply.tool(tool["name"], **tool.get("arguments", {})),
    "error": lambda error: Reply.error(**error),
    "fault": Reply.fault,
}
"""The keys that define the content of a reply."""


def load_script(path: str | FilePath) -> Replies:
    """Load a script for `ScriptedModel`.

    The file is a text, a list of replies, or a mapping from phrases to either; a phrase between
    slashes is a regular expression. A reply is a text or a mapping with one of `text`, `json`,
    `code`, `bash`, `tool`, `error` and `fault`, and any of `latency`, `interval`, `usage`,
    `finish_reason` and `headers`.

    Raises:
        InputError: The file does not exist, or cannot be read.
        ConfigError: The file is no script; the exception has every problem with its place.
    """
    document, problems = read_yaml(read_file(path), str(path))
    if problems := problems or sorted(_problems(document)):
        raise ConfigError(problems)
    value = document.value
    if is_mapping(value):
        return {_key(key): _replies(item) for key, item in value.items()}
    return _replies(value)


def _problems(document: Document) -> Iterator[Problem]:
    value = document.value
    whole = {"additionalProperties": _REPLIES} if is_mapping(value) else _REPLIES
    yield from shape_problems(document, whole)
    for key, item in value.items() if is_mapping(value) else [("", value)]:
        place = (key,) if is_mapping(value) else ()
        try:
            _key(key)
        except re.error as error:
            yield document.problem(place, f"not a regular expression: {error}.")
        for at, reply in enumerate(item) if is_list(item) else [(None, item)]:
            yield from _form_problems(document, place if at is None else (*place, at), reply)


def _form_problems(document: Document, place: Path, reply: Any) -> Iterator[Problem]:
    if is_mapping(reply) and len(forms := reply.keys() & _FORMS) != 1:
        text = f"a reply has one of {', '.join(_FORMS)}; here are {len(forms)}."
        yield document.problem(place, text)


def _key(key: str) -> str | re.Pattern[str]:
    is_pattern = len(key) >= len("/./") and key.startswith("/") and key.endswith("/")
    return re.compile(key[1:-1]) if is_pattern else key


def _replies(value: Any) -> Reply | list[Reply]:
    return [_reply(item) for item in value] if is_list(value) else _reply(value)


def _reply(value: str | Mapping[str, Any]) -> Reply:
    if isinstance(value, str):
        return Reply(text=value)
    (form,) = value.keys() & _FORMS
    changes = {key: item for key, item in value.items() if key != form}
    return _FORMS[form](value[form]).replace(**changes)
