"""What two copies of an evolution say of it, as one."""

import json
from typing import Any

import pytest

from coterie.pool.git.manifests import united_manifests
from coterie.pool.git.union import Contradiction

BEGUN: dict[str, Any] = {
    "v": 3,
    "recipe": {"strategy": "evomas"},
    "models": {"m": {"model": "x", "api_base": "http://127.0.0.1:1/v1"}},
    "tasks": {"a": "1"},
    "commands": ["one"],
    "coterie": ["1"],
    "islands": None,
}


def united(**changed: Any) -> dict[str, Any]:
    texts = [
        json.dumps(fields)
        for fields in (BEGUN, {**BEGUN, "tasks": {"a": "1", "b": "2"}, **changed})
    ]
    result = united_manifests("one", texts[0], "other", texts[1])
    assert united_manifests("other", texts[1], "one", texts[0]) == result
    return json.loads(result)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"models": {"m": {"model": "x", "api_base": "http://127.0.0.1:2/v1"}}},
    ],
)
def test_who_went_on_elsewhere_went_on_with_the_same(changed: dict[str, Any]) -> None:
    assert united(**changed, commands=["two"]) == {
        **BEGUN,
        "tasks": {"a": "1", "b": "2"},
        **changed,
        "commands": ["two", "one"],
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"recipe": {"strategy": "fixed"}},
        {"models": {"m": {"model": "y", "api_base": "http://127.0.0.1:1/v1"}}},
        {"models": {"m": "x"}},
        {"models": []},
        {"islands": {"which": 1}},
        {"tasks": {"b": "1", "a": "1"}},
    ],
)
def test_whatever_else_is_another_is_another_evolution(changed: dict[str, Any]) -> None:
    with pytest.raises(Contradiction, match="two evolutions with the same name"):
        united(**changed)
