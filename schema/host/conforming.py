"""Checks plug-in values and results against our declared types.

Types are read from annotations. A name that a module imports only for type checkers accepts any
value.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import sys
import types
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set, Sized
from dataclasses import Field, fields, is_dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from ..values.codec import Misfit
from ..values.errors import InputError
from ..values.json_text import dumps
from ..values.problems import quoted
from ..values.values import JSON
from .foreign_code import OWN, foreign_code

Kind = TypeVar("Kind")
_PLAIN: frozenset[Any] = frozenset({bool, float, int, str})


class PluginValue:
    """The base of dataclasses that plug-ins instantiate.

    A field of the wrong type raises a `TypeError` on the plug-in's own line. Functions in its
    fields are guarded: an exception or a result of the wrong type becomes an `InputError` that
    names the plug-in.
    """

    __slots__ = ()
    IS_GUARDED = True
    """Whether its functions are guarded. If not, their callers guard them."""

    def __post_init__(self) -> None:
        for field, kind in _declared(type(self)):
            value, noun = getattr(self, field.name), self._noun(field.name)
            try:
                check(value, kind)
            except Misfit as error:
                raise TypeError(f"{noun} is declared as {field.type}: {error}") from None
            if self.IS_GUARDED and callable(value):
                object.__setattr__(self, field.name, guarded(value, _gives(kind), noun))

    def _noun(self, field: str) -> str:
        name = getattr(self, "name", None)
        of = f" {name}" if isinstance(name, str) and field != "name" else ""
        return f"{field} of the {type(self).__name__}{of}"


@overload
def expected(
    value: Any, kind: type[Kind], noun: str, failure: Callable[[str], Exception] = InputError
) -> Kind: ...
@overload
def expected(
    value: Any, kind: Any, noun: str, failure: Callable[[str], Exception] = InputError
) -> Any: ...
def expected(
    value: Any, kind: Any, noun: str, failure: Callable[[str], Exception] = InputError
) -> Any:
    """Return a plug-in's value if it has a type; an iterator is returned as a tuple.

    Args:
        noun: The value's source, for the message.

    Raises:
        CoterieError: It has another type; `failure` creates the error.
    """
    with foreign_code(noun, failure):
        if inspect.iscoroutine(value) and not _may_be_awaited(kind):
            value.close()
        if get_origin(kind) is Iterable and not isinstance(value, Sized):
            value = tuple(value) if isinstance(value, Iterable) else value
        try:
            check(value, kind)
        except Misfit as error:
            how = f": {error}" if error.path else f", not {quoted(value)}"
            raise failure(f"{noun} must return {_written(kind)}{how}. Correct it.") from None
    return value


def check(value: Any, kind: Any) -> None:
    """Check that a value has a type, including all its parts.

    Raises:
        Misfit: It does not.
    """
    if kind in _PLAIN and type(value) is kind:
        return  # as nearly all are
    origin, args = _parted(kind)
    if origin is Annotated:
        check(value, args[0])
        if JSON in args:
            _check_json(value)
    elif origin in {Union, types.UnionType}:
        _check_options(value, kind, args)
    elif (origin or kind) is Callable:
        _check_function(value, *args)
    elif getattr(kind, "_is_protocol", False):
        _check_members(value, kind)
    elif not _is_of(value, origin or kind, args):
        raise Misfit(f"expected {_written(kind)}, got {quoted(value)}")
    elif origin is not Literal:
        _check_parts(value, origin or kind, args)


@functools.cache
def _parted(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the origin and the arguments of a type. Cached, as a result needs a dozen."""
    return get_origin(kind), get_args(kind)


def _check_json(value: Any) -> None:
    try:
        dumps(value, default=_plain)
    except (TypeError, ValueError, RecursionError):
        raise Misfit(f"{quoted(value)} is not a JSON value") from None


def _plain(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return {**cast("Mapping[Any, Any]", value)}
    raise TypeError(f"{type(value).__name__} is none")


def _check_options(value: Any, kind: Any, options: tuple[Any, ...]) -> None:
    """Check that something is of one of several types."""
    if value is None and types.NoneType in options:
        return
    if len(options) == 2 and options[1] is types.NoneType:
        check(value, options[0])  # says more
    elif not any(_fits(value, option) for option in options):
        raise Misfit(f"expected {_written(kind)}, got {quoted(value)}")


def _fits(value: Any, kind: Any) -> bool:
    try:
        check(value, kind)
    except Misfit:
        return False
    return True


def _is_of(value: Any, kind: Any, args: tuple[Any, ...]) -> bool:
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if kind is Literal:
        return any(type(value) is type(arg) and value == arg for arg in args)
    return isinstance(value, int | float if kind is float else kind) and not (
        args and isinstance(value, str | bytes)
    )


def _check_parts(value: Any, kind: Any, args: tuple[Any, ...]) -> None:
    if is_dataclass(kind):
        if not issubclass(cast("type", kind), PluginValue):  # others were checked when created
            for field, declared in _declared(cast("type", kind)):
                _at(field.name, check, getattr(value, field.name), declared)
    elif not args:
        return
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[Any, Any]", value).items():
            check(key, args[0])
            _at(str(key), check, item, args[-1])
    elif kind is tuple and args[-1] is not Ellipsis:
        if len(value) != len(args):
            raise Misfit(f"{quoted(value)} does not have {len(args)} items")
        for place, (item, declared) in enumerate(zip(value, args, strict=True)):
            _at(place, check, item, declared)
    elif isinstance(value, Sequence | Set):
        for place, item in enumerate(cast("Iterable[Any]", value)):
            _at(place, check, item, args[0])


def _at(key: str | int, checks: Callable[..., None], value: Any, *of: Any) -> None:
    try:
        checks(value, *of)
    except Misfit as error:
        raise error.below(key) from None


def _check_function(value: Any, parameters: Any = ..., gives: Any = Any) -> None:
    """Check that a value is callable, with these parameters and this result."""
    if not callable(value):
        raise Misfit(f"{quoted(value)} is not a function")
    if inspect.iscoroutinefunction(value) and not _may_be_awaited(gives):
        raise Misfit(f"{quoted(value)} is async, but it is not awaited")
    if parameters is not ...:
        try:
            inspect.signature(value).bind(*parameters)
        except TypeError as error:
            raise Misfit(f"{quoted(value)} takes other arguments: {error}") from None
        except ValueError:  # A C function may have no signature.
            return


def _check_members(value: Any, kind: Any) -> None:
    """Check that a value has all members of a protocol, with properties of the right types."""
    for base in kind.__mro__:
        for name, member in vars(base).items() if getattr(base, "_is_protocol", False) else ():
            if name.startswith("_"):
                continue
            if not hasattr(value, name):
                raise Misfit(f"{quoted(value)} has no {name}")
            if isinstance(member, property):
                hints = get_type_hints(member.fget, localns=_Names(kind.__module__))
                _at(name, check, getattr(value, name), hints["return"])
            elif callable(member):
                _at(name, _check_function, getattr(value, name), _parameters(member))


def _parameters(member: Callable[..., Any]) -> Any:
    """Return a protocol method's positional parameters; `...` if it has keyword-only ones."""
    _, *parameters = inspect.signature(member).parameters.values()
    by_name = any(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    return ... if by_name else [Any for _ in parameters]


def guarded(function: Callable[..., Any], gives: Any, noun: str) -> Callable[..., Any]:
    """Wrap a plug-in's function so that its errors are explained and its results checked.

    Args:
        gives: The required type of the result; None: any.
        noun: The function's description, for the message.
    """
    if str(getattr(function, "__module__", "")).partition(".")[0] == OWN:
        return function

    @functools.wraps(function)
    def at_once(*arguments: Any, **named: Any) -> Any:
        with foreign_code(noun, InputError):
            result = function(*arguments, **named)
        return result if gives is None else expected(result, gives, noun)

    @functools.wraps(function)
    async def awaited(*arguments: Any, **named: Any) -> Any:
        with foreign_code(noun, InputError):
            return await expected(function(*arguments, **named), Awaitable, noun)

    return awaited if _is_awaited(gives) else at_once


def _gives(kind: Any) -> Any:
    """Return the result type of a function type."""
    kinds = [kind, *get_args(kind)]
    return next((get_args(item)[-1] for item in kinds if get_origin(item) is Callable), Any)


def _is_awaited(kind: Any) -> bool:
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and origin is not Any and issubclass(origin, Awaitable)


def _may_be_awaited(kind: Any) -> bool:
    return kind in {Any, object} or _is_awaited(kind)


@functools.cache
def _declared(cls: type[Any]) -> Sequence[tuple[Field[Any], Any]]:
    """Return the fields of a dataclass, each with its type."""
    hints = get_type_hints(cls, localns=_Names(cls.__module__), include_extras=True)
    return [(field, hints[field.name]) for field in fields(cls)]


class _Names(dict[str, Any]):
    """The names in a module's annotations; an unknown name accepts any value."""

    def __init__(self, module: str) -> None:
        super().__init__({**vars(builtins), **vars(collections.abc), **vars(sys.modules[module])})

    def __missing__(self, name: str) -> Any:
        return Any


def _written(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " | ".join(map(repr, args))
    if origin in {Union, types.UnionType}:
        return " | ".join(map(_written, args))
    return "None" if kind is types.NoneType else getattr(origin or kind, "__name__", str(kind))
