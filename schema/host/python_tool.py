"""Python functions as tools: their signature and docstring describe them to models."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..values.errors import InputError
from ..values.hints import did_you_mean
from .foreign_code import is_theirs, why

PLAIN: Mapping[Any, Mapping[str, str]] = types.MappingProxyType(
    {
        Any: {},
        str: {"type": "string"},
        int: {"type": "integer"},
        float: {"type": "number"},
        bool: {"type": "boolean"},
        None: {"type": "null"},
        type(None): {"type": "null"},
    }
)
"""The JSON Schemas of types without parts."""

SAID_BY_SCHEMA = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?):\s*$")
_ARGUMENT = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s+(.*)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class PythonTool:
    """A function of the host that agents may call.

    Attributes:
        name: Its name for agents: the function's name.
        description: Its description for models: the docstring up to its first section.
        parameters: JSON Schema of its arguments: an object.
        function: The function, plain or async. It runs with the host's rights.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]


def python_tool(function: Callable[..., Any]) -> PythonTool:
    """Describe a function by its type hints and its docstring in Google style.

    Args:
        function: Its arguments may be str, int, float, bool, None, list, dict, Literal, unions of
            those, or Any; an argument without a hint accepts any value.

    Raises:
        InputError: No model could call it: it has no name of its own, no docstring, or arguments
            that JSON cannot express.
    """
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function) or not _NAME.fullmatch(name):
        raise InputError(
            f"{function!r} cannot be a tool. Use a function defined with def, whose name has"
            " lower-case letters, digits and _ only, and begins with a letter."
        )
    documented = inspect.getdoc(function)
    if not documented:
        raise InputError(
            f"{name}: the function has no docstring. Write one: agents read there what it does."
        )
    described, arguments = _read(documented)
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # noqa: BLE001 - hints are code of others
        raise InputError(f"{name}: its type hints cannot be read: {error}.") from None
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in SAID_BY_SCHEMA:
            raise InputError(
                f"{name}: {parameter} cannot be described to a model. Use named arguments only."
            )
        properties[parameter.name] = _schema(
            hints.get(parameter.name, Any), f"{name}: {parameter.name}"
        )
        if parameter.name in arguments:
            properties[parameter.name]["description"] = arguments[parameter.name]
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    return PythonTool(
        name=name,
        description=described,
        parameters={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
        function=function,
    )


def load_python_tool(named: str, folder: Path) -> PythonTool:
    """Import a Python file of the host, and describe one of its functions as a tool.

    Args:
        named: `FILE.py:FUNCTION`.

    Raises:
        InputError: There is no such file or function, the file cannot be imported, or the function
            cannot be a tool.
    """
    function = load_function(named, folder)
    tool, name = python_tool(function), named.rpartition(":")[2]
    if tool.name != name:
        raise InputError(f"{named}: the function's own name is {tool.name!r}. Use that name.")
    return tool


def load_function(named: str, folder: Path) -> types.FunctionType:
    """Import a Python file of the host, and return one of its functions.

    Args:
        named: `FILE.py:FUNCTION`.

    Raises:
        InputError: There is no such file or function, or the file cannot be imported.
    """
    file, _, name = named.rpartition(":")
    path = folder / Path(file).expanduser()
    if not path.is_file():
        raise InputError(f"no file {file!r} (looked in {folder}).")
    module = _imported(path.resolve())
    function = vars(module).get(name)
    if not inspect.isfunction(function):
        functions = [key for key, var in vars(module).items() if inspect.isfunction(var)]
        raise InputError(f"{file} has no function {name!r}.{did_you_mean(name, functions)}")
    return function


def _imported(path: Path) -> types.ModuleType:
    """Import a file as a module under a name of its own."""
    name = f"coterie_tools_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file. Its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        if not is_theirs(error):
            raise
        raise InputError(f"{path.name} cannot be imported: {why(error)}.") from error
    return module


def _schema(hint: Any, place: str) -> dict[str, Any]:
    if typing.get_origin(hint) is typing.Annotated:
        hint, *metadata = typing.get_args(hint)
        words = [item for item in metadata if isinstance(item, str)]
        return {**_schema(hint, place), **({"description": words[0]} if words else {})}
    parts = typing.get_args(hint)
    match typing.get_origin(hint) or hint:
        case origin if origin is Literal:
            is_text = all(isinstance(part, str) for part in parts)
            return {**({"type": "string"} if is_text else {}), "enum": [*parts]}
        case typing.Union | types.UnionType:
            return _any_of([_schema(part, place) for part in parts])
        case builtin if builtin is list:
            return {"type": "array", **({"items": _schema(parts[0], place)} if parts else {})}
        case builtin if builtin is dict:
            inner = {"additionalProperties": _schema(parts[1], place)} if parts else {}
            return {"type": "object", **inner}
        case plain if plain in PLAIN:
            return dict(PLAIN[plain])
        case _:
            raise InputError(
                f"{place} is {getattr(hint, '__name__', hint)}, which JSON cannot express. Use str,"
                " int, float, bool, list, dict, Literal, or a union of those."
            )


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the union of schemas, in short form if all are plain types."""
    if all(schema.keys() == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _read(documented: str) -> tuple[str, dict[str, str]]:
    """Return a docstring's text before its sections, and the description of each argument."""
    lines = documented.splitlines()
    sections = [number for number, line in enumerate(lines) if _SECTION.match(line)]
    described = "\n".join(lines[: sections[0] if sections else None]).strip()
    arguments: dict[str, str] = {}
    for start in sections:
        if not lines[start].startswith(("Arg", "Parameters")):
            continue
        body = list(_body(lines[start + 1 :]))
        margin = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
        last = ""
        for line in body:
            if result := _ARGUMENT.match(line[margin:]):
                last, arguments[last] = result[1], result[2].strip()
            elif last and line.strip():
                arguments[last] += f" {line.strip()}"
    return described, arguments


def _body(lines: list[str]) -> typing.Iterator[str]:
    """Yield the lines of a section: indented lines, and empty ones between."""
    for line in lines:
        if line.strip() and not line[0].isspace():
            return
        yield line
