"""What plug-ins hand over: any part of it that is of another type is named, and never our bug."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal, Protocol

import pytest

from coterie.runtime.doubles import ScriptedModel
from coterie.schema import InputError
from coterie.schema.host import catalogue
from coterie.schema.host.conforming import expected, guarded
from coterie.schema.values.values import Json

from ...support.commands import mas
from ...support.odd_values import ASKING, COMMANDS, GROUPS, cases, install


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    catalogue.installed.cache_clear()
    yield __import__("odd_values")
    sys.modules.pop("odd_values", None)
    catalogue.installed.cache_clear()


@pytest.mark.parametrize("point", GROUPS)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_no_part_of_a_plugin_is_our_bug(plugin: Any, point: str, nightly: bool) -> None:
    with ScriptedModel({"": "7"}) as model:
        for at, (name, of, made) in enumerate(cases(plugin)):
            for odd in plugin.ODD if nightly else [plugin.ODD[at % len(plugin.ODD)]]:
                if of != point:
                    continue
                plugin.POINT, plugin.GIVEN = point, lambda odd=odd, made=made: made(odd)
                rmtree("pool", ignore_errors=True)
                for command in COMMANDS[point]:
                    asks = command[0] in ASKING and "--help" not in command
                    model_of = ["--model", f"m@{model.api_base}"] if asks else []
                    done = mas(*command, *model_of)
                    assert done.exit_code in {0, 1, 2, 3}, (name, type(odd), done.stderr)
                    assert "Traceback" not in done.stderr, (name, type(odd))


@pytest.mark.parametrize(
    ("part", "odd", "code"),
    [("scorer score.value", True, 0), ("page contents", {}, 2), ("function", None, 2)],
)
def test_a_nearly_right_part_is_taken_or_named(plugin: Any, part: str, odd: Any, code: int) -> None:
    [(of, made)] = [(of, made) for name, of, made in cases(plugin) if name == part]
    plugin.POINT, plugin.GIVEN = of, lambda: made(odd)
    with ScriptedModel({"": "7"}) as model:
        asks = COMMANDS[of][-1][0] in ASKING
        done = mas(*COMMANDS[of][-1], *(["--model", f"m@{model.api_base}"] if asks else []))
    assert done.exit_code == code, done.stderr
    assert "Traceback" not in done.stderr


FIELDS = (
    ("strategy", "episode", None, "is declared as Callable[[Episode], Awaitable[None]]: null is"),
    ("strategy", "schema", 7, "schema of the Strategy strategy is declared as Mapping[str, Json]"),
    (
        "benchmark",
        "trials",
        "x",
        "trials of the Benchmark benchmark is declared as int: expected int",
    ),
    (
        "benchmark",
        "tools",
        ["x"],
        "tools of the Benchmark benchmark is declared as tuple[str, ...]",
    ),
    (
        "benchmark",
        "about",
        None,
        "about of the Benchmark benchmark is declared as str: expected str",
    ),
    ("operator", "scale", "city", "declared as Scale: expected 'agent' | 'pair' | 'team' | 'r"),
    ("tool", "parameters", {"type": object}, "parameters of the Tool tool is declared as Mapping"),
)


@pytest.mark.parametrize(("point", "field", "odd", "message"), FIELDS)
def test_a_field_of_another_type_is_named_with_the_line_that_made_it(
    plugin: Any, point: str, field: str, odd: Any, message: str
) -> None:
    plugin.POINT = point
    plugin.GIVEN = lambda: plugin.DECLARED[point][0](**{**plugin.RIGHT[point], field: odd})
    with ScriptedModel({"": "7"}) as model:
        done = mas(*COMMANDS[point][-1], "--model", f"m@{model.api_base}")
    assert done.exit_code == 2, done.stderr
    assert message in done.stderr
    assert "odd_values.py:" in done.stderr


class Named(Protocol):
    @property
    def name(self) -> str: ...

    def call(self, who: str) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    name: str
    sizes: Sequence[int] = ()

    def call(self, who: str) -> str:
        return who


ITEM = Item(name="a")
RIGHT = (
    (7, int), (7, float), (True, float), (None, int | None), ("a", Literal["a", "b"]),
    ([1], Sequence[int]), (ITEM, Item), (ITEM, Named), ({"a": ITEM}, Mapping[str, Item]),
    ({"a": [1, None]}, Json),
    ((1, "a"), tuple[int, str]), ((), tuple[str, ...]), ({1}, Sequence[int] | set[int]),
)  # fmt: skip
WRONG = (
    (1, bool, "must return bool, not 1."),
    ("7", float, "must return float, not '7'."),
    ("c", Literal["a", "b"], "must return 'a' | 'b', not 'c'."),
    ("ab", Sequence[str], "must return Sequence, not 'ab'."),
    ([1, "x"], Sequence[int], "must return Sequence: [1]: expected int, got 'x'."),
    ((1, 2, 3), tuple[int, str], "must return tuple, not [1, 2, 3]."),
    ({"a": 7}, Mapping[str, Item], "must return Mapping: a: expected Item, got 7."),
    (Item(name="a", sizes=["x"]), Item, "Item: sizes[0]: expected int, got 'x'."),  # type: ignore[list-item]
    (Item(name=7), Named, "Named: name: expected str, got 7."),  # type: ignore[arg-type]
    (7, Named, "must return Named, not 7."),
    ({"a": {"b": object}}, Mapping[str, Json], "must return Mapping: a: {"),
)


@pytest.mark.parametrize(("value", "kind"), RIGHT)
def test_a_value_of_its_type_passes(value: Any, kind: Any) -> None:
    assert expected(value, kind, "it") == value


@pytest.mark.parametrize(("value", "kind", "message"), WRONG)
def test_a_value_of_another_type_names_its_part(value: Any, kind: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        expected(value, kind, "it")
    assert message in str(refused.value)


def test_a_function_of_others_fails_in_words() -> None:
    with pytest.raises(InputError, match=r"the page failed: TypeError: .*takes 0 positional"):
        guarded(lambda: 7, int, "the page")(1)
    with pytest.raises(InputError, match="the page must return int, not 'x'"):
        guarded(lambda: "x", int, "the page")()
    assert guarded(expected, int, "ours") is expected
