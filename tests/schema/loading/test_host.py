"""What this host offers: options before files, files before the environment."""

from pathlib import Path

import pytest

from coterie.schema import HostTools, InputError, Model
from coterie.schema.loading.host import find_host_file, resolve_models, resolve_tools

MODELS = """\
models:
  default: {model: openai/from-file, usd_per_mtok_input: 1, usd_per_mtok_output: 2}
  big: {model: m-big, api_base: http://127.0.0.1:1/v1, concurrency: 4}
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"MAS_HOME": str(tmp_path)}


def test_without_anything_the_default_is_the_embedded_model(home: dict[str, str]) -> None:
    models = resolve_models(environment=home)
    assert {alias: model.model for alias, model in models.items()} == {"default": "local"}
    assert models["default"].origin == "the embedded model"


def test_the_environment_names_the_default(home: dict[str, str]) -> None:
    models = resolve_models(environment={**home, "MAS_MODEL": "openai/m"})
    assert (models["default"].model, models["default"].origin) == ("openai/m", "MAS_MODEL")


def test_models_yaml_comes_before_the_environment(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    models = resolve_models(environment={**home, "MAS_MODEL": "openai/m"})
    assert models["default"].model == "openai/from-file"
    assert models["big"].concurrency == 4


def test_the_option_comes_first(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    models = resolve_models(
        ["big", "judge=ollama/llama3", "far=m@http://10.0.0.1/v1"], environment=home
    )
    assert models["default"].api_base == "http://127.0.0.1:1/v1"
    assert models["judge"] == Model(alias="judge", model="ollama/llama3", origin="--model")
    assert (models["far"].model, models["far"].api_base) == ("m", "http://10.0.0.1/v1")


def test_the_own_key_goes_to_typed_addresses_alone(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(MODELS)
    environment = {**home, "MAS_API_KEY": "k"}
    models = resolve_models(["far=m@http://10.0.0.1/v1", "o=openai/m"], environment=environment)
    assert {alias for alias, model in models.items() if model.key_env == "MAS_API_KEY"} == {"far"}


@pytest.mark.parametrize("choice", ["local", "local:/a/b.gguf", "default=local"])
def test_the_embedded_model_can_be_chosen(choice: str, home: dict[str, str]) -> None:
    assert resolve_models([choice], environment=home)["default"].model == choice.removeprefix(
        "default="
    )


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("gpt-4o", "'gpt-4o' is neither PROVIDER/NAME"),
        ("qwen3@127.0.0.1:11434", "Did you mean 'qwen3@http://127.0.0.1:11434'[?]"),
        ("=x/y", "write ALIAS=PROVIDER/NAME"),
        ("a=", "write ALIAS=PROVIDER/NAME"),
    ],
)
def test_a_choice_that_cannot_be_read(choice: str, message: str, home: dict[str, str]) -> None:
    with pytest.raises(InputError, match=message):
        resolve_models([choice], environment=home)


def test_a_named_file_must_exist(home: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"no file 'nowhere\.yaml'"):
        resolve_models(models_file="nowhere.yaml", environment=home)


def test_tool_servers_come_from_tools_yaml(home: dict[str, str], tmp_path: Path) -> None:
    assert resolve_tools(environment=home) == HostTools()
    (tmp_path / "tools.yaml").write_text(
        "servers:\n  clock: {command: [python, clock.py], tools: [now], timeout: 5}\n"
    )
    clock = resolve_tools(environment=home).servers["clock"]
    assert (clock.command, clock.tools, clock.timeout) == (("python", "clock.py"), ("now",), 5)
    assert find_host_file("tools.yaml", home) == tmp_path / "tools.yaml"
