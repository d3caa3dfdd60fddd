"""tools.yaml: the tools that this host offers in addition to installed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ..host.catalogue import HostTools, ToolServer, installed
from ..host.python_scorer import PythonScorer
from ..host.python_tool import PythonTool
from ..values.document import LIMITS, Document
from ..values.errors import InputError, without_problems
from ..values.hints import did_you_mean
from ..values.problems import Path as FieldPath
from ..values.problems import Problem, quoted
from ..values.values import frozen, is_list
from ..values.yaml_text import read_yaml
from .loading import merged, read_file, shape_only

Named = TypeVar("Named", "PythonTool", "PythonScorer")

OF_COMMANDS = ("env",)
OF_ADDRESSES = ("headers_env", "key_env")
"""The fields that only a server with an address uses."""


def load_tools(path: str | Path) -> HostTools:
    """Load a tools.yaml and import its Python files; a function that cannot be called is a problem.

    Raises:
        InputError: The file does not exist or cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    path = Path(path)
    read = read_yaml(read_file(path, LIMITS), str(path))
    document = without_problems(*shape_only(*read, "tools"))
    # Imported late, because few hosts have functions of their own.
    from ..host.python_scorer import load_python_scorer
    from ..host.python_tool import load_python_tool

    folder = path.parent
    python, unloaded = _loaded(
        document, "python", "tool", lambda named: load_python_tool(named, folder)
    )
    scorers, unscored = _loaded(
        document, "scorers", "scorer", lambda named: load_python_scorer(named, folder)
    )
    servers = {
        name: ToolServer(name=name, **frozen(fields))
        for name, fields in document.value.get("servers", {}).items()
    }
    permissions = document.value.get("permissions", {})
    tools = HostTools(servers=servers, python=python, permissions=permissions, scorers=scorers)
    problems = [
        *unloaded,
        *unscored,
        *_server_problems(document),
        *_permission_problems(document, tools),
    ]
    return without_problems(tools, merged([], problems))


def _loaded(
    document: Document, field: str, kind: str, load: Callable[[str], Named]
) -> tuple[dict[str, Named], list[Problem]]:
    """Load the functions of a field, and return them with the problems of the others.

    Args:
        kind: The kind of function, in a word.
        load: Describes `FILE.py:FUNCTION`.
    """
    fields: dict[str, Named] = {}
    problems: list[Problem] = []
    for place, named in _named(document, field):
        try:
            function = load(named)
        except InputError as error:
            problems.append(document.problem(place, str(error)))
            continue
        if function.name in fields or function.name in installed(f"{kind}s"):
            message = f"a {kind} {quoted(function.name)} already exists. Rename the function."
            problems.append(document.problem(place, message))
        fields[function.name] = function
    return fields, problems


def _named(document: Document, field: str) -> Iterator[tuple[FieldPath, str]]:
    """Yield the functions of a field, one or a list, each with its place."""
    named = document.value.get(field, [])
    if not is_list(named):
        yield (field,), named
        return
    yield from (((field, index), function) for index, function in enumerate(named))


def _server_problems(document: Document) -> Iterator[Problem]:
    """Check that each server is either a command or an address and has only fields for that."""
    for name, fields in document.value.get("servers", {}).items():
        place = ("servers", name)
        if ("command" in fields) == ("url" in fields):
            message = "a server has either a command or a url. Give one of them."
            yield document.problem(place, message, at_key=True)
            continue
        kind, idle = ("url", OF_COMMANDS) if "url" in fields else ("command", OF_ADDRESSES)
        for key in sorted({*idle} & {*fields}):
            yield document.problem((*place, key), f"a server with a {kind} ignores it.")


def _permission_problems(document: Document, tools: HostTools) -> Iterator[Problem]:
    names = tools.names | {*installed("tools")}
    for name in tools.permissions:
        if name not in names:
            hint = did_you_mean(name, names)
            message = f"no tool {quoted(name)}.{hint}"
            yield document.problem(("permissions", name), message, at_key=True)
