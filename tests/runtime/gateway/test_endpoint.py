"""From an alias to an address and a key."""

import pytest

from coterie.runtime.gateway import Endpoint, endpoint_of
from coterie.schema import InputError, Model

KEYS = {"OPENAI_API_KEY": "sk-openai", "MY_KEY": "sk-mine"}


def model(name: str, **fields: object) -> Model:
    return Model(alias="default", model=name, **fields)  # pyright: ignore[reportArgumentType]


def at(api_base: str, name: str, **fields: str) -> Endpoint:
    """Return an endpoint that the gateway speaks to itself."""
    return Endpoint(kind="openai", model=name, api_base=api_base, **fields)  # pyright: ignore[reportArgumentType]


CLAUDE = {"wire": "anthropic", "key_header": "x-api-key"}
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"


@pytest.mark.parametrize(
    ("spec", "environment", "expected"),
    [
        (model("openai/m"), KEYS, at("https://api.openai.com/v1", "m", key="sk-openai")),
        (
            model("openai/m"),
            {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/"},
            at("http://127.0.0.1:8000/v1", "m"),
        ),
        (model("ollama/llama3"), KEYS, at("http://127.0.0.1:11434/v1", "llama3")),
        (
            model("org/m", api_base="http://host:1/v1/chat/completions"),
            KEYS,
            at("http://host:1/v1", "org/m"),
        ),
        (model("m", api_base="http://host:11434/"), KEYS, at("http://host:11434/v1", "m")),
        (
            model("m", api_base="http://host:1/v1", key_env="MY_KEY"),
            KEYS,
            at("http://host:1/v1", "m", key="sk-mine"),
        ),
        (
            model("replicate/m", key_env="MY_KEY"),
            KEYS,
            Endpoint(kind="litellm", model="replicate/m", key="sk-mine"),
        ),
        (
            model("replicate/m"),
            {"REPLICATE_API_KEY": "r8"},
            Endpoint(kind="litellm", model="replicate/m"),
        ),
        # litellm knows more providers than our table, and what they need.
        (model("watsonx/m"), {}, Endpoint(kind="litellm", model="watsonx/m")),
        (
            model("anthropic/claude", key_env="MY_KEY"),
            KEYS,
            at("https://api.anthropic.com/v1", "claude", key="sk-mine", **CLAUDE),
        ),
        (
            model("anthropic/claude"),
            {"ANTHROPIC_API_BASE": "http://127.0.0.1:4000/"},
            at("http://127.0.0.1:4000/v1", "claude", **CLAUDE),
        ),
        (
            model("gemini/gemini-3-pro"),
            {"GEMINI_API_KEY": "g-1234"},
            at(GEMINI, "gemini-3-pro", key="g-1234"),
        ),
        (model("local"), {}, Endpoint(kind="local", model="local")),
    ],
)
def test_where_a_model_is_reached(spec: Model, environment: dict, expected: Endpoint) -> None:
    assert endpoint_of(spec, environment) == expected


def test_a_file_of_weights_keeps_its_path() -> None:
    endpoint = endpoint_of(model("local:/models/tiny.gguf"), {})
    assert (endpoint.kind, endpoint.model) == ("local", "tiny")
    assert str(endpoint.weights) == "/models/tiny.gguf"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (model("openai/gpt-4o-mini"), "OPENAI_API_KEY is not set.*default=local needs no key"),
        (model("gpt-4o-mini"), "names no provider. Write PROVIDER/gpt-4o-mini"),
        (model("m", api_base="http://h/v1", key_env="NOPE"), "NOPE is not set"),
        (model("anthropic/claude", key_env="NOPE"), "NOPE is not set"),
        (model("foo/bar"), "no provider 'foo'. Write PROVIDER/NAME.*foo/bar@http://HOST:PORT/v1"),
        (model("antropic/claude"), "no provider 'antropic'. Did you mean 'anthropic'"),
        (model("x@ftp://127.0.0.1:8801/v1"), "Did you mean.*default=x@http://127.0.0.1:8801/v1"),
        (model("http://127.0.0.1:8801/v1"), "Did you mean.*default=NAME@http://127.0.0.1:8801/v1"),
        (model("127.0.0.1:8801/v1"), "Did you mean.*default=NAME@http://127.0.0.1:8801/v1"),
        (model("m@127.0.0.1:8801/v1"), "Did you mean.*default=m@http://127.0.0.1:8801/v1"),
        (model("org/m@localhost:1"), "Did you mean.*default=org/m@http://localhost:1,"),
        (model("[::1]:8801/v1"), r"Did you mean.*default=NAME@http://\[::1\]:8801/v1"),
        (model("azure/gpt"), "AZURE_OPENAI_API_KEY, AZURE_API_KEY, AZURE_AD_TOKEN, AZURE_TENANT"),
    ],
)
def test_what_is_missing_is_said_before_a_call(spec: Model, message: str) -> None:
    with pytest.raises(InputError, match=message):
        endpoint_of(spec, {})


@pytest.mark.parametrize("address", ["http://h:1", "http://h:1/v1", "http://h:1/v1/"])
@pytest.mark.parametrize("provider", ["ollama", "ollama_chat"])
def test_ollama_is_found_with_and_without_the_version(provider: str, address: str) -> None:
    endpoint = endpoint_of(model(f"{provider}/m"), {"OLLAMA_API_BASE": address})
    assert (endpoint.kind, endpoint.shown) == ("openai", "http://h:1/v1/chat/completions")


@pytest.mark.parametrize(
    ("name", "environment", "url"),
    [
        ("openai/m", {"OPENAI_API_BASE": "http://h/v1"}, "http://h/v1/chat/completions"),
        ("openai/m", {"OPENAI_BASE_URL": "http://h:1/"}, "http://h:1/v1/chat/completions"),
        ("xai/m", {"XAI_API_BASE": "http://h"}, "http://h/v1/chat/completions"),
        ("mistral/m", {"MISTRAL_API_BASE": "http://h/"}, "http://h/v1/chat/completions"),
        (
            "gemini/m",
            {"GEMINI_API_BASE": "https://h/v1beta"},
            "https://h/v1beta/openai/chat/completions",
        ),
        (
            "cohere/m",  # litellm's form of it
            {"COHERE_API_BASE": "https://h/v2/chat"},
            "https://h/compatibility/v1/chat/completions",
        ),
        (
            "azure/mine",
            {"AZURE_API_BASE": "https://h/", "AZURE_API_KEY": "k"},
            "https://h/openai/v1/chat/completions",
        ),
        (
            "azure/mine",
            {"AZURE_API_BASE": "https://h", "AZURE_API_KEY": "k", "AZURE_API_VERSION": "latest"},
            "https://h/openai/v1/chat/completions",
        ),
        (
            "azure/mine",
            {
                "AZURE_API_BASE": "https://h",
                "AZURE_API_KEY": "k",
                "AZURE_API_VERSION": "2024-10-21",
            },
            "https://h/openai/deployments/mine/chat/completions?api-version=2024-10-21",
        ),
        (
            "hosted_vllm/m",
            {"HOSTED_VLLM_API_BASE": "http://[::1]:8000/v1/chat/completions"},
            "http://[::1]:8000/v1/chat/completions",
        ),
    ],
)
def test_variables_of_litellm_say_where_it_is(name: str, environment: dict, url: str) -> None:
    assert endpoint_of(model(name), environment).shown == url


def test_a_key_goes_out_in_the_header_of_its_provider() -> None:
    azure = {"AZURE_API_BASE": "https://h", "AZURE_API_KEY": "k"}
    assert endpoint_of(model("azure/m"), azure).credentials == {"api-key": "k"}
    groq = endpoint_of(model("groq/m"), {"GROQ_API_KEY": "k"})
    assert groq.credentials == {"Authorization": "Bearer k"}
    assert not endpoint_of(model("ollama/m"), {}).credentials
    assert "'k'" not in repr(groq)
