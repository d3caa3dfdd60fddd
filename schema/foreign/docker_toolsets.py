"""Converts the toolsets of a docker-agent file: file tools, a shell, and servers for tools.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..values.problems import Path, quoted
from .docker_names import FILE_TOOLS
from .source import ForeignFile, ids_of

MOST_TOOLS = 64
ORIGINAL = "{ORIGINAL_INSTRUCTIONS}"
"""The placeholder for the instructions that come with a toolset."""
SHELL_ALONE = (
    "an agent has tools or a shell, not both, and a shell writes no output_schema. Give the shell"
    " to an agent of its own: agent_type: DefaultAgent."
)
NOTHING_WRITTEN = "here, an agent without a shell can read files, but not write them."
UNLISTED = (
    "the file does not list the tools of {name}, and no server is started to ask. See below how to"
    " grant them."
)
_VARIABLE = re.compile(r"(Bearer )?\$\{?(?:env\.)?([A-Za-z_][A-Za-z0-9_]*)\}?")
_URL = re.compile(r"https?://[^\s@]+")
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(kw_only=True, slots=True)
class Granted:
    """The combined toolsets of an agent.

    Attributes:
        tools: The names of servers' tools.
        files: The paths of toolsets of file tools.
        shells: The paths of shell toolsets.
    """

    tools: list[str] = field(default_factory=list[str])
    files: list[Path] = field(default_factory=list["Path"])
    shells: list[Path] = field(default_factory=list["Path"])
    instructions: list[str] = field(default_factory=list[str])


@dataclass(kw_only=True, slots=True)
class Toolsets:
    """The toolsets of a file, and the servers that they need.

    Attributes:
        listed: The tools of the servers in the user's tools.yaml, by server name; None if there is
            no such file yet.
        clients: All servers in the form of `mcpServers`.
        unlisted: The names of servers whose tools the file does not list.
    """

    source: ForeignFile
    listed: Mapping[str, Sequence[str]] | None
    servers: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    clients: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    unlisted: set[str] = field(default_factory=set[str])
    _names: dict[str, str] = field(default_factory=dict[str, str])

    def of_agent(self, agent: Path, *, has_schema: bool) -> tuple[dict[str, Any], list[str]]:
        """Return an agent's fields for its toolsets, and the toolsets' instructions."""
        granted = Granted()
        for path in self.source.items((*agent, "toolsets")):
            self._read(path, granted)
        if granted.shells and not granted.tools and not has_schema:
            for path in granted.files:
                self.source.take((*path, "tools"))  # a shell can do the same
            return {"agent_type": "DefaultAgent"}, granted.instructions
        for path in granted.shells:
            self.source.lose(path, f"the toolset 'shell': {SHELL_ALONE}")
        files = [tool for path in granted.files for tool in self._file_tools(path)]
        tools = tuple(dict.fromkeys((*files, *granted.tools)))
        if len(tools) > MOST_TOOLS:
            message = f"an agent has {MOST_TOOLS} tools at most. Grant it those that it needs."
            self.source.warn((*agent, "toolsets"), message)
        kind = {"agent_type": "ToolCallingAgent", "tools": tools[:MOST_TOOLS]}
        return (kind if tools else {"agent_type": "LLM"}), granted.instructions

    def _read(self, path: Path, granted: Granted) -> None:
        match kind := self.source.text((*path, "type")):
            case "filesystem":
                granted.files.append(path)
            case "shell":
                granted.shells.append(path)
            case "mcp":
                granted.tools += self._of_server(path)
            case _:
                self.source.lose(path, f"the toolset {quoted(kind)} has no counterpart.")
                return
        instruction = self.source.whole_text((*path, "instruction"))
        if text := instruction.replace(ORIGINAL, "").strip():
            granted.instructions.append(text)

    def _file_tools(self, path: Path) -> Iterator[str]:
        names = self.source.texts((*path, "tools"))
        for place, name in names:
            if name in FILE_TOOLS:
                yield FILE_TOOLS[name]
            else:
                self.source.lose(place, f"{quoted(name)} has no counterpart: {NOTHING_WRITTEN}")
        if not names:
            self.source.warn(path, f"the toolset 'filesystem': {NOTHING_WRITTEN}")
            yield from FILE_TOOLS.values()

    def _of_server(self, path: Path) -> Iterator[str]:
        """Yield the names of a server's tools, and record the server."""
        server = _Server(source=self.source, places=self._places(path))
        fields = server.fields()
        if not fields:
            self.source.lose(path, f"the toolset 'mcp': {server.trouble}")
            return
        name = self._name(server.name, fields)
        names = server.tools()
        self.clients[name] = server.of_client(fields)
        if self.listed is not None:
            tools = [tool for tool in self.listed.get(name, ()) if not names or tool in names]
            yield from (f"{name}.{tool}" for tool in tools)
            if not tools:
                message = f"the given tools.yaml has none of its tools, such as {name}."
                self.source.lose(path, f"the toolset 'mcp': {message}")
        elif names:
            listed = self.servers.setdefault(name, {**fields, "tools": []})["tools"]
            listed += [tool for tool in names if tool not in listed]
            yield from (f"{name}.{tool}" for tool in names)
        else:
            self.unlisted.add(name)
            self.source.warn(path, UNLISTED.format(name=name))

    def _places(self, path: Path) -> list[Path]:
        """Return the paths of a server's fields: the toolset, and the definition it refers to."""
        definition = ("mcps", self.source.text((*path, "ref")))
        return [path, definition] if self.source.has(definition) else [path]

    def _name(self, name: str, fields: Mapping[str, Any]) -> str:
        """Return a server's name: the name of an equal earlier server, or a free one."""
        key = repr(fields)
        if key not in self._names:
            names = self._names.values()
            numbered = (f"{name}_{number}" for number in range(2, len(names) + 3))
            self._names[key] = next(free for free in (name, *numbered) if free not in names)
        return self._names[key]


@dataclass(kw_only=True, slots=True)
class _Server:
    """An MCP server: a toolset that overrides a definition under mcps.

    Attributes:
        places: The paths of its fields, the strongest first.
        trouble: Why it cannot be declared here.
    """

    source: ForeignFile
    places: list[Path]
    trouble: str = ""

    @property
    def name(self) -> str:
        """An id for the server, from its own name or its command."""
        reference = self._reference.removeprefix("docker:")
        defined = self.places[1][-1] if len(self.places) > 1 else ""
        words = [*self._args(), self._text("command")]
        plain = next((word for word in reversed(words[:-1]) if word[:1] not in {"-", "."}), "")
        host = self._text("remote", "url").partition("://")[2].partition("/")[0]
        name = str(defined) or self._text("name") or reference or host or plain or words[-1]
        return ids_of([name.rpartition("/")[2]])[name.rpartition("/")[2]]

    @property
    def _reference(self) -> str:
        """The server's name in Docker's catalogue, from the toolset or its definition."""
        return self.source.text((*self.places[-1], "ref"))

    def fields(self) -> dict[str, Any]:
        """Return the server as in tools.yaml, without its tools; empty if that is impossible."""
        reference = self._reference
        if self._text("remote", "url"):
            return self._address()
        if command := self._text("command"):
            return self._with_env({"command": [command, *self._args()]})
        if reference.startswith("docker:"):
            words = ["docker", "mcp", "gateway", "run", "--servers", reference[len("docker:") :]]
            return self._with_env({"command": words})
        self.trouble = "it has no command, no remote, and no ref to a server of Docker's catalogue."
        return {}

    def tools(self) -> list[str]:
        """Return the requested tools; empty for all of them."""
        names: list[str] = []
        for path, name in self.source.texts(self._place("tools")):
            if _TOOL.fullmatch(name):
                names.append(name)
            else:
                self.source.lose(path, f"{quoted(name)} is not the name of a tool.")
        return list(dict.fromkeys(names))

    def of_client(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the server in the form of `mcpServers`, for `mas dev tools import`."""
        if "url" in fields:
            bearer = (
                {"Authorization": f"Bearer ${{{fields['key_env']}}}"} if "key_env" in fields else {}
            )
            others = {
                name: f"${{{value}}}" for name, value in fields.get("headers_env", {}).items()
            }
            headers = {**bearer, **others}
            return {
                "type": "http",
                "url": fields["url"],
                **({"headers": headers} if headers else {}),
            }
        command, *words = fields["command"]
        env = {name: f"${{{name}}}" for name in fields.get("env", ())}
        return {"command": command, "args": words, **({"env": env} if env else {})}

    def _address(self) -> dict[str, Any]:
        kind = self._text("remote", "transport_type")
        url = self._text("remote", "url")
        if kind not in {"", "streamable", "streamable-http", "http"} or not _URL.fullmatch(url):
            self.trouble = f"{quoted(kind or url)}: only streamable HTTP is supported."
            return {}
        fields: dict[str, Any] = {"url": url}
        headers = self._place("remote", "headers")
        for name in self.source.keys(headers):
            match = _VARIABLE.fullmatch(self.source.text((*headers, name)))
            if match and match[1] and name.casefold() == "authorization":
                fields["key_env"] = match[2]
            elif match and not match[1]:
                fields.setdefault("headers_env", {})[name] = match[2]
            else:
                message = "tools.yaml holds no values. Name a variable: headers_env."
                self.source.lose((*headers, name), message)
        return fields

    def _with_env(self, fields: dict[str, Any]) -> dict[str, Any]:
        env = self._place("env")
        names: list[str] = []
        for name in self.source.keys(env):
            match = _VARIABLE.fullmatch(self.source.text((*env, name)))
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                names.append(name)
            if name not in names or not match or match[2] != name:
                message = "values are not copied. Set the variable in your environment."
                self.source.lose((*env, name), message)
        return {**fields, **({"env": names} if names else {})}

    def _args(self) -> list[str]:
        return [text for _, text in self.source.texts(self._place("args"))]

    def _text(self, *name: str) -> str:
        return self.source.text(self._place(*name))

    def _place(self, *name: str) -> Path:
        """Return the path of a field: in the toolset, or else in its definition."""
        places = ((*place, *name) for place in self.places)
        return next((place for place in places if self.source.has(place)), (*self.places[0], *name))
