"""One stored form for each value: its dataclass declares how it is written and read.

A field is written under its name, in the order of declaration, and its type decides the form.
Exceptions are declared too: `stored` for the class, `Form` for a field.

    @stored(omit=True)
    class Trial:
        task: str
        score: Annotated[float | None, Form(omit=False)] = None

Values are plain: the result of `json.loads`. Reading checks every type and names the first wrong
field. Unknown fields are ignored, unless the class is `closed`.
"""

from __future__ import annotations

import copy
import functools
import itertools
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from .problems import dotted, quoted
from .values import is_same, nothing, unlike_default

T = TypeVar("T")
Convert = Callable[[Any], Any]
SETTINGS = "__stored__"
FILL = "__fill__"
NO_KINDS: frozenset[type[Any]] = frozenset()
MOST_SHAPES = 256
"""The maximum number of cached key and type combinations of a class; only hostile files have
more."""
_Shape = tuple[tuple[str, ...], Sequence[tuple[str, str, Convert]], Sequence[tuple[str, Convert]]]
"""The keys to ignore; the key, field name and reader of each value that needs conversion; and the
key and check of each."""


class Misfit(ValueError):
    """A value does not have the declared form."""

    def __init__(self, problem: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(f"{dotted(path)}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def below(self, key: str | int) -> Misfit:
        """Return the same problem with a key put before its path."""
        return Misfit(self.problem, (key, *self.path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """The stored form of a field, as far as its type does not decide it. It is used in `Annotated`.

    Attributes:
        key: The key in the stored value. Default: the field's name.
        omit: Whether to omit the field at its default. Default: as for the class.
        skip: Whether not to store the field at all. Then it needs a default.
        flat: Whether to store this dataclass's fields among those of its owner. An optional one is
            None if its first field is.
        write: Converts the field to a plain value. Default: by its type.
        read: Converts the plain value back. Default: by its type.
    """

    key: str = ""
    omit: bool | None = None
    skip: bool = False
    flat: bool = False
    write: Convert | None = None
    read: Convert | None = None


OMITTED = Form(omit=True)
"""The form of a field that is omitted at its default."""
SKIPPED = Form(skip=True)
"""The form of a field that is not stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settings:
    """The arguments of `stored` for a class."""

    omit: bool = False
    closed: bool = False
    tag: tuple[str, str] | None = None


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def stored(
    *, omit: bool = False, closed: bool = False, tag: tuple[str, str] | None = None
) -> Callable[[type[T]], type[T]]:
    """Make a class a frozen dataclass with a stored form.

    Args:
        omit: Whether to omit fields at their default.
        closed: Whether an unknown field is a problem.
        tag: A field and its value that are written first and identify the class.
    """
    settings = _Settings(omit=omit, closed=closed, tag=tag)

    def make(cls: type[T]) -> type[T]:
        cls = dataclass(frozen=True, init=False)(cls)
        setattr(cls, SETTINGS, settings)
        for item in fields(cast("Any", cls)):
            if item.default_factory is nothing:  # which nobody can change: one is enough for all
                setattr(cls, item.name, nothing())
        setattr(cls, FILL, _fill_of(cls))
        cls.__init__ = _init_of(cls)
        return cls

    return make


def _fill_of(cls: Any) -> Callable[[Any, dict[str, Any]], None]:
    """Return what gives a new value all its fields at once: `__setattr__` of each takes longer.

    A field at its default is not set on the instance: the class has it.
    """
    unshared = (item for item in fields(cls) if not hasattr(cls, item.name))
    factories: dict[str, Any] = {
        item.name: item.default_factory for item in unshared if item.default_factory is not MISSING
    }
    check: Callable[[Any], None] | None = getattr(cls, "__post_init__", None)

    def fill(item: Any, given: dict[str, Any]) -> None:
        for name, make in factories.items():
            if name not in given:
                given[name] = make()
        object.__setattr__(item, "__dict__", given)
        if check is not None:
            check(item)

    return fill


def _init_of(cls: Any) -> Callable[..., None]:
    """Return an `__init__` that sets all fields at once, which is faster than a frozen dataclass's.

    A field at its default is not set on the instance: the class has it.
    """
    names = frozenset(item.name for item in fields(cls))
    required = frozenset(item.name for item in fields(cls) if _default(item) is MISSING)
    fill: Callable[[Any, dict[str, Any]], None] = getattr(cls, FILL)

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807 - it is the class's own
        if not required <= given.keys() <= names:
            needs = f"of which {sorted(required)} are required"
            raise TypeError(f"{cls.__name__} has {sorted(names)}, {needs}: {sorted(given)}")
        fill(self, given)

    return __init__


def to_value(item: Any) -> dict[str, Any]:
    """Return a dataclass as a plain value."""
    return _codec(type(item)).write(item)


@overload
def from_value(form: type[T], value: Any) -> T: ...
@overload
def from_value(form: Any, value: Any) -> Any: ...
def from_value(form: Any, value: Any) -> Any:
    """Build a value of a type from its plain value.

    Args:
        form: A dataclass, or any other type of a field, such as a union of tagged classes.
    """
    return _reader(form)(value)


def check_of(cls: type[Any]) -> Callable[[Any], None]:
    """Return a check that plain values have the form of a class: much faster than `from_value`.

    It builds nothing, so it does not check what the class itself refuses. It raises `Misfit` with
    the same problem as `from_value`.
    """
    return _codec(cls).check


def misfit(cls: type[Any], value: Any) -> str:
    """Return why a plain value does not have the form of a class; empty if it does."""
    try:
        from_value(cls, value)
    except Misfit as error:
        return str(error)
    return ""


class _Slot:
    """A field of a class with its stored form."""

    __slots__ = ("flat", "is_required", "key", "name", "omit", "read", "usual", "write")

    def __init__(self, declared: Field[Any], hint: Any, settings: _Settings) -> None:
        hint, form = _parted(hint)
        self.name, self.key = declared.name, form.key or declared.name
        usual = _default(declared)
        self.is_required = usual is MISSING
        self.omit = not self.is_required and (settings.omit if form.omit is None else form.omit)
        self.flat = _Flat(hint) if form.flat else None
        write, reader = (None, _as_is) if form.write and form.read else _converters(hint)
        self.write, self.read = form.write or write, form.read or reader
        self.usual = usual if self.is_required or self.write is None else self.write(usual)

    @property
    def writer(self) -> tuple[str, str | None, Convert | None, bool, Any]:
        """The settings for writing the field; a flat field has no key."""
        if self.flat is not None:
            return self.name, None, self.flat.write, False, None
        return self.name, self.key, self.write, self.omit, self.usual


class _Codec:
    """Writes and reads the values of a class."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.settings: _Settings = getattr(cls, SETTINGS, _Settings())
        self.is_closed = self.settings.closed
        self.fill: Callable[[Any, dict[str, Any]], None] | None = vars(cls).get(FILL)
        hints = get_type_hints(cls, include_extras=True)
        declared = [field for field in fields(cls) if not _parted(hints[field.name])[1].skip]
        self.slots = [_Slot(field, hints[field.name], self.settings) for field in declared]
        tag = self.settings.tag
        self.start = {} if tag is None else {tag[0]: tag[1]}
        plain = [slot for slot in self.slots if slot.flat is None]
        self.writers = tuple(slot.writer for slot in self.slots)
        self.is_simple = len(self.slots) > 1 and len(plain) == len(self.slots)
        if self.is_simple:  # most values: their fields are taken at once, and few are converted
            self.all_of = attrgetter(*(slot.name for slot in self.slots))
            self.plain_keys = tuple(slot.key for slot in self.slots)
            self.converted = tuple(
                (slot.key, slot.write, slot.omit, slot.usual)
                for slot in self.slots
                if slot.omit or slot.write is not None
            )
        self.readers = {
            item.key: (item.name, getattr(item.read, "kinds", NO_KINDS), item.read)
            for item in plain
        }
        self.shapes: dict[tuple[Any, ...], _Shape] = {}
        self.required = dict.fromkeys(item.key for item in plain if item.is_required)
        self.flats = tuple((slot.name, slot.flat) for slot in self.slots if slot.flat is not None)
        inner = (key for _, flat in self.flats for key in flat.codec.keys)
        self.keys = {*self.start, *(item.key for item in plain), *inner}

    def write(self, item: Any) -> dict[str, Any]:
        value: dict[str, Any] = {**self.start}
        if self.is_simple:
            value.update(zip(self.plain_keys, self.all_of(item), strict=True))
            for key, write, omit, usual in self.converted:
                if write is not None:
                    value[key] = write(value[key])
                if omit and (value[key] is usual or is_same(value[key], usual)):
                    del value[key]
            return value
        for name, key, write, omit, usual in self.writers:
            part = getattr(item, name)
            plain = part if write is None else write(part)
            if key is None:  # a flat one
                value.update(plain)
            elif not omit or not is_same(plain, usual):
                value[key] = plain
        return value

    def read(self, value: Any) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise _wrong_type(value, "object")
        # A pool has many lines, of few shapes: what is checked by keys and types is checked once.
        shape = (*value, *map(type, value.values()))
        ignored, readers, _ = self.shapes.get(shape) or self._shape(shape, value)
        fields, key = {**value}, ""
        for key in ignored:
            del fields[key]
        try:
            for key, name, reader in readers:
                fields[name] = reader(fields.pop(key))
        except Misfit as error:
            raise error.below(key) from None
        for name, flat in self.flats:
            fields[name] = flat.read(value)
        if self.fill is None:
            return self.cls(**fields)
        item = object.__new__(self.cls)
        self.fill(item, fields)
        return item

    def check(self, value: Any) -> None:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise _wrong_type(value, "object")
        shape, key = (*value, *map(type, value.values())), ""
        try:
            for key, fits in (self.shapes.get(shape) or self._shape(shape, value))[2]:
                fits(value[key])
        except Misfit as error:
            raise error.below(key) from None
        for _, flat in self.flats:
            flat.read(value)

    def _shape(self, shape: tuple[Any, ...], value: Mapping[str, Any]) -> _Shape:
        """Check the keys of a value, and return how to read values of this shape."""
        if self.is_closed and not value.keys() <= self.keys:
            raise Misfit(_unexpected(key for key in value if key not in self.keys))
        if not value.keys() >= self.required.keys():
            missing = next(key for key in self.required if key not in value)
            raise Misfit(f"{quoted(missing)} is a required property")
        ignored = tuple(key for key in value if key not in self.readers)
        readers = tuple(
            (key, name, _at_once(reader))
            for key, (name, kinds, reader) in self.readers.items()
            if key in value and (key != name or type(value[key]) not in kinds)
        )
        checks = tuple((key, _check_of(reader)) for key, _, reader in readers)
        if len(self.shapes) < MOST_SHAPES:
            self.shapes[shape] = ignored, readers, checks
        return ignored, readers, checks


class _Flat:
    """Writes and reads a dataclass whose fields are stored among those of another."""

    def __init__(self, hint: Any) -> None:
        options = get_args(hint) or (hint,)
        cls = next(option for option in options if is_dataclass(option))
        self.codec = _codec(cast("type[Any]", cls))
        self.may_be_none = len(options) > 1
        first, *rest = self.codec.slots
        self.first = first.key
        self.nothing = {first.key: None, **{slot.key: slot.usual for slot in rest}}

    def write(self, item: Any) -> dict[str, Any]:
        return self.codec.write(item) if item is not None else copy.deepcopy(self.nothing)

    def read(self, value: Mapping[str, Any]) -> Any:
        is_none = self.may_be_none and value.get(self.first) is None
        return None if is_none else self.codec.read(value)


@functools.cache
def _codec(cls: type[Any]) -> _Codec:
    return _Codec(cls)


def _parted(hint: Any) -> tuple[Any, Form]:
    """Split an annotated type into the type and its merged forms, where later forms win."""
    if get_origin(hint) is not Annotated:
        return hint, Form()
    plain, *others = get_args(hint)
    records = [unlike_default(item) for item in others if isinstance(item, Form)]
    return plain, Form(**{name: item for record in records for name, item in record.items()})


def _default(declared: Field[Any]) -> Any:
    if declared.default_factory is MISSING:
        return declared.default
    return declared.default_factory()


@functools.cache
def _converters(hint: Any) -> tuple[Convert | None, Convert]:
    """Return the writer of a type, None if its values are plain, and its reader."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        form = _parted(hint)[1]
        write, reader = _converters(args[0])
        return form.write or write, form.read or reader
    if origin is Literal:
        return None, functools.partial(_one_of, args)
    if origin in {Union, types.UnionType}:
        return _union(args)
    if hint in _SCALARS:
        return None, _OfTypes([hint])
    if is_dataclass(hint):
        return to_value, functools.partial(_read, cast("type[Any]", hint))
    return _container(origin or hint, args)


def _read(cls: type[Any], value: Any) -> Any:
    """Read a dataclass. Its codec is built on first use, because a class may contain itself."""
    return _codec(cls).read(value)


@functools.cache
def _reader(hint: Any) -> Convert:
    return _at_once(_converters(hint)[1])


def _at_once(reader: Convert) -> Convert:
    """Return a reader that need not look for its class's fields, where there is a value to read."""
    if isinstance(reader, functools.partial) and reader.func is _read:
        return _codec(*reader.args).read
    return reader


def _check_of(reader: Convert) -> Convert:
    """Return the check of what a reader reads; the reader itself if that is no dataclass."""
    codec = getattr(reader, "__self__", None)
    return codec.check if isinstance(codec, _Codec) else reader


def _container(kind: Any, args: tuple[Any, ...]) -> tuple[Convert | None, Convert]:
    if kind in _MAPPINGS:
        return _mapping(*(args or (str, Any)))
    if kind is tuple and args and args[-1] is not Ellipsis:
        return _of_length(args)
    if kind in _SEQUENCES:
        return _sequence(_SEQUENCES[kind], args)
    return None, _as_is  # anything that JSON has


def _mapping(keys: Any, hint: Any) -> tuple[Convert, Convert]:
    write, reader = _converters(hint)
    has_numbers = keys is int

    def written(item: Mapping[Any, Any]) -> dict[str, Any]:
        if has_numbers:
            item = {str(key): entry for key, entry in item.items()}
        return dict(item) if write is None else {key: write(entry) for key, entry in item.items()}

    def back(value: Any) -> Mapping[Any, Any]:
        if not isinstance(value, Mapping):
            raise _wrong_type(value, "object")
        items = cast("Mapping[str, Any]", value)
        if reader is not _as_is:
            items = {key: _at(key, reader, item) for key, item in items.items()}
        return (
            {_at(key, _number, key): item for key, item in items.items()} if has_numbers else items
        )

    return written, back


def _number(key: str) -> int:
    if not key.isdecimal():
        raise Misfit(f"{quoted(key)} is not a number")
    return int(key)


def _sequence(make: Convert, args: tuple[Any, ...]) -> tuple[Convert, Convert]:
    write, reader = _converters(args[0] if args else Any)

    def written(items: Iterable[Any]) -> list[Any]:
        return list(items) if write is None else [write(item) for item in items]

    def back(value: Any) -> Any:
        items = _listed(value)
        if reader is not _as_is:
            items = [_at(place, reader, item) for place, item in enumerate(items)]
        return make(items)

    return written, back


def _of_length(hints: tuple[Any, ...]) -> tuple[Convert, Convert]:
    """Return the writer and the reader of a tuple with one type per item."""
    converters = [_converters(hint) for hint in hints]

    def written(items: Iterable[Any]) -> list[Any]:
        pairs = zip(converters, items, strict=True)
        return [item if write is None else write(item) for (write, _), item in pairs]

    def back(value: Any) -> tuple[Any, ...]:
        items = _listed(value)
        if len(items) != len(converters):
            raise Misfit(f"{quoted(value)} does not have {len(converters)} items")
        readers = (reader for _, reader in converters)
        triples = zip(itertools.count(), readers, items, strict=False)
        return tuple(_at(place, reader, item) for place, reader, item in triples)

    return written, back


def _listed(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise _wrong_type(value, "array")
    return cast("Sequence[Any]", value)


def _at(key: str | int, reader: Convert, value: Any) -> Any:
    try:
        return reader(value)
    except Misfit as error:
        raise error.below(key) from None


def _union(options: tuple[Any, ...]) -> tuple[Convert | None, Convert]:
    plain = [option for option in options if option in _SCALARS]
    others = [option for option in options if option not in _SCALARS]
    if not others:
        return None, _OfTypes(plain)
    write, reader = _converters(others[0]) if len(others) == 1 else (to_value, _by_tag(others))
    scalars = frozenset(kind for item in plain for kind in _SCALARS[item][0])

    def written(item: Any) -> Any:
        return item if type(item) in scalars or write is None else write(item)

    def back(value: Any) -> Any:
        return value if type(value) in scalars else reader(value)

    return written, back


def _by_tag(classes: Sequence[type[Any]]) -> Convert:
    """Return the reader of one of several classes, chosen by its tag."""
    tagged = {tag: codec for codec in map(_codec, classes) if (tag := codec.settings.tag)}
    names = [kind for _, kind in tagged]
    ((name, _), *_) = tagged

    def back(value: Any) -> Any:
        kind = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
        if kind not in names:
            raise Misfit(f"{quoted(kind)} is not one of {names}", (name,))
        return tagged[name, str(kind)].read(value)

    return back


def _as_is(value: Any) -> Any:
    return value


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise Misfit(f"{quoted(value)} is not one of {[*choices]}")
    return value


class _OfTypes:
    """Reads scalars of some types; `kinds` are the Python types that stay unchanged."""

    def __init__(self, hints: Sequence[Any]) -> None:
        self.kinds = frozenset(kind for hint in hints for kind in _SCALARS[hint][0])
        self._names = ", ".join(repr(_SCALARS[hint][1]) for hint in hints)

    def __call__(self, value: Any) -> Any:
        if type(value) not in self.kinds:
            raise Misfit(f"{quoted(value)} is not of type {self._names}")
        return value


def _wrong_type(value: Any, kind: str) -> Misfit:
    return Misfit(f"{quoted(value)} is not of type {kind!r}")


def _unexpected(keys: Iterable[str]) -> str:
    names = [*map(quoted, keys)]
    return f"{', '.join(names)} {'was' if len(names) == 1 else 'were'} unexpected"


_SCALARS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "boolean"),
    float: ((int, float), "number"),
    int: ((int,), "integer"),
    str: ((str,), "string"),
    None: ((type(None),), "null"),
    type(None): ((type(None),), "null"),
}
_MAPPINGS = frozenset({dict, Mapping})
_SEQUENCES: Mapping[Any, Convert] = {
    frozenset: frozenset,
    list: list,
    Sequence: tuple,
    AbstractSet: frozenset,
    tuple: tuple,
}
