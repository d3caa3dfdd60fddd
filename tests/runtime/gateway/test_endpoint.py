"""From an alias to an address and a key."""

from __future__ import annotations

import pytest

from coterie.runtime.gateway import Endpoint, endpoint_of
from coterie.runtime.gateway.prices import Rates, rates_of
from coterie.schema import InputError, Model

KEYS = {"OPENAI_API_KEY": "sk-openai", "MY_KEY": "sk-mine"}


def model(name: str, **fields: object) -> Model:
    return Model(alias="default", model=name, **fields)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("spec", "environment", "expected"),
    [
        (
            model("openai/gpt-4o-mini"),
            KEYS,
            Endpoint(
                kind="openai",
                model="gpt-4o-mini",
                api_base="https://api.openai.com/v1",
                key="sk-openai",
            ),
        ),
        (
            model("openai/m"),
            {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/"},
            Endpoint(kind="openai", model="m", api_base="http://127.0.0.1:8000/v1"),
        ),
        (
            model("ollama/llama3"),
            KEYS,
            Endpoint(kind="openai", model="llama3", api_base="http://127.0.0.1:11434/v1"),
        ),
        (
            model("org/m", api_base="http://host:1/v1/chat/completions"),
            KEYS,
            Endpoint(kind="openai", model="org/m", api_base="http://host:1/v1"),
        ),
        (
            model("m", api_base="http://host:1/v1", key_env="MY_KEY"),
            KEYS,
            Endpoint(kind="openai", model="m", api_base="http://host:1/v1", key="sk-mine"),
        ),
        (
            model("anthropic/claude", key_env="MY_KEY"),
            KEYS,
            Endpoint(kind="litellm", model="anthropic/claude", key="sk-mine"),
        ),
        (model("anthropic/claude"), {}, Endpoint(kind="litellm", model="anthropic/claude")),
        (model("local"), {}, Endpoint(kind="local", model="local")),
    ],
)
def test_where_a_model_is_reached(spec: Model, environment: dict, expected: Endpoint) -> None:
    assert endpoint_of(spec, environment) == expected


def test_a_file_of_weights_keeps_its_path() -> None:
    endpoint = endpoint_of(model("local:/models/tiny.gguf"), {})
    assert (endpoint.kind, endpoint.model, str(endpoint.weights)) == (
        "local",
        "tiny",
        "/models/tiny.gguf",
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (model("openai/gpt-4o-mini"), "OPENAI_API_KEY is not set.*default=local needs no key"),
        (model("gpt-4o-mini"), "names no provider. Write PROVIDER/gpt-4o-mini"),
        (model("m", api_base="http://h/v1", key_env="NOPE"), "NOPE is not set"),
        (model("anthropic/claude", key_env="NOPE"), "NOPE is not set"),
    ],
)
def test_what_is_missing_is_said_before_a_call(spec: Model, message: str) -> None:
    with pytest.raises(InputError, match=message):
        endpoint_of(spec, {})


def test_declared_prices_come_first_and_the_list_second() -> None:
    declared = model("openai/gpt-4o-mini", usd_per_mtok_input=1.0, usd_per_mtok_output=2.0)
    assert rates_of(declared) == Rates(1e-6, 1e-6, 2e-6)
    listed = rates_of(model("openai/gpt-4o-mini"))
    assert listed is not None
    assert listed.read > listed.cached > 0
    assert rates_of(model("gpt-4o-mini", api_base="http://h/v1")) is None
    assert rates_of(model("openai/no-such-model")) is None
    assert rates_of(model("local")) == Rates(0.0, 0.0, 0.0)
