"""Calls as text: parsed and done, without ever running them as code.

The original has Python evaluate the text of a call. Here it is parsed, and only this is supported:
calls of the 27 tools, as `calendar.delete_event.func(event_id="00000042")`, with arguments that are
literals, lists, tuples, mappings, sums of texts, `and`, `or`, `not`, `*[...]`, `**{...}`, f-strings
without values, `str(...)`, items of results (`[0]["email"]`), and nested calls of tools. Everything
else fails like any failing call: the next call is done nevertheless.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Any

from .domains import DOMAINS, OPERATIONS
from .operation import CallFailed, Operation, Workplace

LONGEST_CALL = 100_000
"""Maximum characters. A longer call fails."""

_BROKEN = (SyntaxError, ValueError, MemoryError, RecursionError)


def do_calls(workplace: Workplace, calls: Sequence[str]) -> None:
    """Do calls in order for their changes; a failing call affects no other."""
    for call in calls:
        try:
            _Doing(workplace, only_changes=True).value(parse_call(call))
        except (CallFailed, RecursionError):
            continue


def do_call(workplace: Workplace, call: str) -> Any:
    """Do one call and return its result; see `Operation.call`.

    Raises:
        CallFailed: The text is no such call, or the call fails.
    """
    try:
        return _Doing(workplace).value(parse_call(call))
    except RecursionError:
        raise CallFailed("the call is nested too deeply.") from None


def parse_call(call: str) -> ast.expr:
    r"""Parse the text of a call. Line breaks count as `\n` in its texts."""
    return parse_expression(call.replace("\n", "\\n"))


def parse_expression(text: str) -> ast.expr:
    """Parse a Python expression without running it.

    Raises:
        CallFailed: It is none, or is too long.
    """
    if len(text) > LONGEST_CALL:
        raise CallFailed(f"a call of {len(text)} characters; {LONGEST_CALL} are allowed.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd syntax
            return ast.parse(text.strip(" \t"), mode="eval").body
    except _BROKEN as error:
        raise CallFailed(f"{text[:80]!r} is not a call: {error}.") from None


class _Doing:
    """Evaluates an expression.

    Args:
        only_changes: Skip lookups by the outermost call, because no verdict depends on them.
    """

    def __init__(self, workplace: Workplace, *, only_changes: bool = False) -> None:
        self._workplace = workplace
        self._only_changes = only_changes

    def value(self, node: ast.expr) -> Any:
        """Return its value."""
        outermost, self._only_changes = self._only_changes, False
        match node:
            case ast.Constant():
                return node.value
            case ast.Call():
                return self._called(node, outermost=outermost)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._collection(node)
            case ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
                return self._operated(node)
            case ast.JoinedStr():
                return "".join(str(self.value(part)) for part in node.values)
            case ast.Subscript():
                return self._item(node)
            case _:
                raise CallFailed(f"{type(node).__name__} is not done in calls.")

    def _called(self, node: ast.Call, *, outermost: bool) -> Any:
        result = _named(node.func)
        positional = self._items(node.args)
        named = self._pairs([(keyword.arg, keyword.value) for keyword in node.keywords])
        if result == "str":
            return self._as_text(positional, named)
        operation, with_suffix = result
        if not with_suffix:
            positional, named = _one_argument(operation, positional, named)
        if outermost and not operation.changes:
            return None
        if not all(isinstance(name, str) for name in named):
            raise CallFailed(f"{operation.name}: names of arguments are text.")
        return operation.call(self._workplace, *positional, **named)

    @staticmethod
    def _as_text(positional: list[Any], named: dict[Any, Any]) -> str:
        if len(positional) != 1 or named:
            raise CallFailed("str(...) takes one value here.")
        return str(positional[0])

    def _collection(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Any:
        if isinstance(node, ast.Dict):
            keys = [None if key is None else self.value(key) for key in node.keys]
            spread = [key is None for key in node.keys]
            return self._mapping(list(zip(spread, keys, node.values, strict=True)))
        items = self._items(node.elts)
        if isinstance(node, ast.Set):
            return _hashed(items)
        return tuple(items) if isinstance(node, ast.Tuple) else items

    def _items(self, nodes: Sequence[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                more = self.value(node.value)
                if not isinstance(more, list | tuple | str | dict):
                    raise CallFailed(f"*{more!r}: not a list.")
                items.extend(more)
            else:
                items.append(self.value(node))
        return items

    def _pairs(self, pairs: Sequence[tuple[str | None, ast.expr]]) -> dict[Any, Any]:
        named: dict[Any, Any] = {}
        for name, node in pairs:
            value = self.value(node)
            more = value if name is None else {name: value}
            if not isinstance(more, dict) or named.keys() & more.keys():
                raise CallFailed(f"{name or '**'}: not a mapping, or an argument is given twice.")
            named |= more
        return named

    def _mapping(self, entries: Sequence[tuple[bool, Any, ast.expr]]) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for is_spread, key, node in entries:
            value = self.value(node)
            if is_spread and not isinstance(value, dict):
                raise CallFailed(f"**{value!r}: not a mapping.")
            if not is_spread:
                _hashed([key])
            mapping |= value if is_spread else {key: value}
        return mapping

    def _operated(self, node: ast.BoolOp | ast.UnaryOp | ast.BinOp) -> Any:
        match node:
            case ast.BoolOp():
                return self._decided(node)
            case ast.UnaryOp(op=ast.Not()):
                return not self.value(node.operand)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                number = self.value(node.operand)
                if isinstance(number, int | float | complex):
                    return -number if isinstance(node.op, ast.USub) else +number
            case ast.BinOp(op=ast.Add()):
                left, right = self.value(node.left), self.value(node.right)
                if type(left) is type(right) and isinstance(left, str | list | tuple | int | float):
                    return left + right
            case _:
                pass
        raise CallFailed(f"{ast.unparse(node)[:80]!r} is not worked out in calls.")

    def _decided(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for part in node.values:
            value = self.value(part)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _item(self, node: ast.Subscript) -> Any:
        whole, key = self.value(node.value), self.value(node.slice)
        try:
            return whole[key]
        except (LookupError, TypeError) as error:
            raise CallFailed(f"[{key!r}]: there is no such item: {error}") from None


def _hashed(items: list[Any]) -> set[Any]:
    try:
        return set(items)
    except TypeError as error:
        raise CallFailed(str(error)) from None


def _named(node: ast.expr) -> Any:
    """Return the called object: a tool, with or without the suffix `.func`, or `str`."""
    name = ast.unparse(node)
    if name == "str":
        return name
    tool = name.removesuffix(".func")
    if tool not in OPERATIONS:
        raise CallFailed(f"{name[:80]!r} is not a tool of {', '.join(DOMAINS)}.")
    return OPERATIONS[tool], tool != name


def _one_argument(
    operation: Operation, positional: list[Any], named: dict[Any, Any]
) -> tuple[list[Any], dict[Any, Any]]:
    """Return the argument of a call without `.func`: a text or a mapping of named ones."""
    arguments = [*positional, *([named["tool_input"]] if set(named) == {"tool_input"} else [])]
    if len(arguments) == 1 and (not named or not positional):
        if isinstance(arguments[0], str):
            return arguments, {}
        if isinstance(arguments[0], dict):
            parameters = operation.parameters
            return [], {name: value for name, value in arguments[0].items() if name in parameters}
    raise CallFailed(f"{operation.name} is called without .func: only one argument is possible.")
