"""Whoever is called: litellm's model strings and variables, known without importing it."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from coterie.runtime.gateway import endpoint_of, providers
from coterie.runtime.gateway.providers import PROVIDERS, is_known
from coterie.schema import InputError, Model

DOCS = Path(__file__).parents[3] / "docs/models.md"

MOST_USED = (
    "openai", "anthropic", "gemini", "azure", "vertex_ai", "bedrock", "mistral", "groq", "deepseek",
    "openrouter", "xai", "cohere", "together_ai",
)  # fmt: skip


def model(name: str) -> Model:
    return Model(alias="default", model=name)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """An environment that lets nobody in."""
    monkeypatch.setattr(providers, "VENDOR_FILE", tmp_path / "none")
    providers._machine_vendor.cache_clear()
    return {"HOME": str(tmp_path)}


@pytest.mark.parametrize("name", MOST_USED)
def test_a_missing_key_is_said_at_once_by_its_variables(name: str, nowhere: dict[str, str]) -> None:
    with pytest.raises(InputError, match="needs a key") as caught:
        endpoint_of(model(f"{name}/m"), nowhere)
    assert all(variables in str(caught.value) for variables in PROVIDERS[name].variables)


@pytest.mark.parametrize(
    "name",
    sorted(name for name, provider in PROVIDERS.items() if provider.key_in and provider.needs_key),
)
def test_each_variable_that_may_hold_a_key_lets_in(name: str, nowhere: dict[str, str]) -> None:
    for variable in PROVIDERS[name].key_in:
        environment = {**nowhere, "AZURE_API_BASE": "https://h", variable: "a-key"}
        endpoint = endpoint_of(model(f"{name}/m"), environment)
        assert endpoint.kind == "litellm" or endpoint.key == "a-key"


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("bedrock/m", {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}),
        ("bedrock/m", {"AWS_PROFILE": "work"}),
        ("azure/m", {"AZURE_AD_TOKEN": "token", "AZURE_API_BASE": "https://h"}),
    ],
)
def test_a_login_that_litellm_knows_goes_through_litellm(
    name: str, environment: dict[str, str], nowhere: dict[str, str]
) -> None:
    assert endpoint_of(model(name), {**nowhere, **environment}).kind == "litellm"


def test_half_a_login_lets_nobody_in(nowhere: dict[str, str]) -> None:
    with pytest.raises(InputError, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        endpoint_of(model("bedrock/m"), {**nowhere, "AWS_ACCESS_KEY_ID": "a"})


def test_a_file_or_a_role_of_the_machine_lets_in(nowhere: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "none").write_text("Amazon EC2\n")
    assert endpoint_of(model("bedrock/m"), nowhere).kind == "litellm"
    (tmp_path / "none").unlink()
    providers._machine_vendor.cache_clear()
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text("")
    assert endpoint_of(model("bedrock/m"), nowhere).kind == "litellm"


def test_a_package_that_litellm_would_miss_is_named(
    nowhere: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coterie.runtime.gateway.endpoint.find_spec", lambda _: None)
    with pytest.raises(InputError, match="needs the package google-auth"):
        endpoint_of(model("vertex_ai/m"), {**nowhere, "VERTEXAI_CREDENTIALS": '{"type": "…"}'})


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("vertex_ai/m", {"GOOGLE_APPLICATION_CREDENTIALS": "gone.json"}),
        ("bedrock/m", {"AWS_WEB_IDENTITY_TOKEN_FILE": "gone.json"}),
    ],
)
def test_a_login_whose_file_is_gone_is_told_before_litellm_is_asked(
    name: str, environment: dict[str, str], nowhere: dict[str, str]
) -> None:
    [variable] = environment
    with pytest.raises(InputError, match=f"{variable} names the file 'gone.json', which does not"):
        endpoint_of(model(name), {**nowhere, **environment})


def test_a_name_that_a_provider_wants_whole_is_made_whole() -> None:
    key = {"FIREWORKS_API_KEY": "k"}
    whole = "accounts/fireworks/models/glm-5"
    assert endpoint_of(model("fireworks_ai/glm-5"), key).model == whole
    assert endpoint_of(model(f"fireworks_ai/{whole}"), key).model == whole
    assert endpoint_of(model("together_ai/zai-org/GLM-5"), {"TOGETHER_API_KEY": "k"}).model == (
        "zai-org/GLM-5"
    )


def test_what_litellm_calls_is_known_by_name() -> None:
    assert is_known("watsonx")
    assert is_known("databricks")
    assert not is_known("foo")


DIFFERENCES = """
import json, os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from coterie.runtime.gateway.providers import PROVIDERS
from litellm import validate_environment
for name in list(os.environ):
    if name.endswith(("_KEY", "_BASE")):
        del os.environ[name]
differences = {}
for name, provider in PROVIDERS.items():
    missing = set(validate_environment(f"{name}/m")["missing_keys"])
    ours = {*provider.key_in, *provider.address_in, provider.version_in}
    ours |= {variable for login in provider.logins for variable in login}
    if missing - ours:
        differences[name] = sorted(missing - ours)
print(json.dumps(differences))
"""


@pytest.mark.nightly
def test_litellm_asks_for_no_other_variables() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIFFERENCES], capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {
        # A login brings its project, and there is a usual place.
        "vertex_ai": ["VERTEXAI_LOCATION", "VERTEXAI_PROJECT"],
    }


def rows() -> str:
    """The providers that are called directly, as the page about them shows them."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for name, provider in PROVIDERS.items():
        if provider.wire:
            cells = (
                _code(provider.key_in),
                _code(provider.address_in),
                provider.address or "yours",
            )
            lines.setdefault(cells, []).append(name)
    return "\n".join(f"| {_code(names)} | {' | '.join(cells)} |" for cells, names in lines.items())


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def test_the_page_has_every_provider_that_is_called_directly() -> None:
    assert rows() in DOCS.read_text(encoding="utf-8")
