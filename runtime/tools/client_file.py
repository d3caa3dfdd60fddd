"""Other programs' configuration of tool servers: a JSON object `mcpServers`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.host.catalogue import ToolServer
from ...schema.loading.loading import read_file
from ...schema.values.document import LIMITS
from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ...schema.values.secrets import looks_secret
from ...schema.values.values import is_list, is_mapping

BEARER = "Bearer "
SLOWEST_START = 120
"""Seconds until a server is ready that npx or uvx must download first."""
# The forms of Cursor and VS Code, and of Claude Code.
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfiguredServer:
    """A server in such a file.

    Attributes:
        server: The server in the form of tools.yaml, without tools, which the file does not name.
        values: Values from the file, by the variables that the server reads them from.
    """

    server: ToolServer
    values: Mapping[str, str]


def servers_in(path: Path) -> tuple[ConfiguredServer, ...]:
    """Read the enabled servers from a file of Claude, Cursor or another client.

    Raises:
        InputError: It cannot be read, or has no usable server.
    """
    try:
        value = loads(read_file(path, LIMITS).decode())
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}.") from None
    servers = value.get("mcpServers") if is_mapping(value) else None
    if not is_mapping(servers) or not servers:
        raise InputError(f"{path}: no mcpServers, under which other programs list tool servers.")
    result = [
        _server_of(name, fields, f"{path}: mcpServers.{name}")
        for name, fields in servers.items()
        if not (is_mapping(fields) and fields.get("disabled"))
    ]
    names = [server.server.name for server in result]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: two servers would be called {quoted(twice[0])}. Rename one.")
    return tuple(result)


def _server_of(name: str, fields: Any, place: str) -> ConfiguredServer:
    if not is_mapping(fields):
        raise InputError(f"{place}: {quoted(fields)} is not a server.")
    our_name = re.sub(r"\W", "_", name.casefold(), flags=re.ASCII).lstrip("_0123456789")[:64]
    if not our_name:
        raise InputError(f"{place}: its name has no letter. Rename it.")
    if "command" in fields:
        return _command(our_name, fields, place)
    if "url" in fields and fields.get("type") != "sse":
        return _address(our_name, fields, place)
    raise InputError(f"{place}: it has neither a command nor a url for HTTP.")


def _command(name: str, fields: Mapping[str, Any], place: str) -> ConfiguredServer:
    words = [fields["command"], *(_list(fields.get("args", []), place))]
    env = _texts(fields.get("env", {}), place)
    values = {key: value for key, value in env.items() if not _VARIABLE.fullmatch(value)}
    command = tuple(_open(_text(word, place), place) for word in words)
    server = ToolServer(
        name=name, tools=(), command=command, env=tuple(env), start_timeout=SLOWEST_START
    )
    return ConfiguredServer(server=server, values=values)


def _address(name: str, fields: Mapping[str, Any], place: str) -> ConfiguredServer:
    key_env, headers_env, values = "", {}, {}
    for header, value in _texts(fields.get("headers", {}), place).items():
        is_key = header.casefold() == "authorization" and value.startswith(BEARER)
        text = value.removeprefix(BEARER) if is_key else value
        variable = re.sub(r"\W", "_", f"{name}_{'key' if is_key else header}").upper()
        if match := _VARIABLE.fullmatch(text):
            variable = match[1]
        else:
            values[variable] = text
        if is_key:
            key_env = variable
        else:
            headers_env[header] = variable
    url = _open(_text(fields["url"], place), place)
    server = ToolServer(name=name, tools=(), url=url, key_env=key_env, headers_env=headers_env)
    return ConfiguredServer(server=server, values=values)


def _open(text: str, place: str) -> str:
    """Refuse a text that may be a secret: tools.yaml holds no keys."""
    if looks_secret(text):
        raise InputError(
            f"{place}: a part of it looks like a key. Let the server read a variable instead."
        )
    return text


def _list(value: Any, place: str) -> list[Any]:
    if not is_list(value):
        raise InputError(f"{place}: {quoted(value)} is not a list.")
    return value


def _texts(value: Any, place: str) -> dict[str, str]:
    if not is_mapping(value):
        raise InputError(f"{place}: {quoted(value)} is not a mapping.")
    return {key: _text(item, place) for key, item in value.items()}


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{place}: {quoted(value)} is not text.")
    return value
