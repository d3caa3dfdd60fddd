"""What names are known on this host, and what stands behind them."""

from pathlib import Path

import pytest

from coterie.schema import Catalogue, HostTools, InputError, Model, ToolServer
from coterie.schema.host import catalogue as catalogue_module
from coterie.schema.host.catalogue import load_named, tool_identifier
from coterie.schema.values.entries import EntryPoint


def test_this_package_brings_names_of_every_kind() -> None:
    known = Catalogue.of_host()
    assert known.backends >= {"llm", "function", "smolagents", "mini-swe-agent", "swe-agent"}
    assert known.functions >= {"majority", "calculate", "extract_json", "concat"}
    assert known.scorers >= {"exact", "choice", "number", "regex", "contains", "json"}
    assert known.tools >= {"read_file", "list_files", "search_text"}
    assert known.aliases == {"default"}


def test_the_host_adds_models_and_the_tools_of_its_servers() -> None:
    clock = ToolServer(name="clock", command=("clock",), tools=("now", "zone"))
    known = Catalogue.of_host(
        models={"big": Model(alias="big", model="openai/m")},
        host_tools=HostTools(servers={"clock": clock}),
    )
    assert known.aliases == {"default", "big"}
    assert known.tools >= {"clock.now", "clock.zone", "read_file"}


def test_granting_withholds_all_other_tools_and_adds_none() -> None:
    known = Catalogue.of_host().granting(frozenset({"read_file", "rm"}))
    assert known.tools == {"read_file"}
    assert known.withheld_tools >= {"list_files", "search_text"}
    assert known.granting(frozenset()).tools == set()
    assert "read_file" in known.granting(frozenset()).withheld_tools


def test_prompt_files_are_beside_the_team_then_above_then_among_ours(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "greet.md").write_text("From above.")
    (tmp_path / "mine" / "prompts").mkdir(parents=True)
    known = Catalogue.of_host().beside(tmp_path / "mine")
    assert known.prompt("greet") == "From above."
    (tmp_path / "mine" / "prompts" / "greet.md").write_text("From beside.")
    assert known.prompt("greet") == "From beside."
    assert known.prompt("solve_step_by_step") == Catalogue.of_host().prompt("solve_step_by_step")
    assert known.prompt_ids >= {"greet", "solve_step_by_step"}
    assert known.prompt("none") is None


@pytest.mark.parametrize(
    ("content", "prompt"),
    [
        (b"Say hello.\n", "Say hello."),
        (b"---\nversion: 1\n---\nSay hello.\n", "Say hello."),
        (b"---\nversion: 1\n---\n\nA\n---\nB\n", "A\n---\nB"),
        (b"---\n---\nSay hello.\n", "Say hello."),
        (b"---\nversion: 1\n---", ""),
        (b"--- no front matter\n---\nA\n", "--- no front matter\n---\nA"),
        (b"---\nnever closed\n", "---\nnever closed"),
        (b"\xef\xbb\xbf---\r\nversion: 1\r\n---\r\nSay\r\nhello.\r\n", "Say\nhello."),
    ],
)
def test_front_matter_is_no_part_of_a_prompt(content: bytes, prompt: str, tmp_path: Path) -> None:
    (tmp_path / "greet.md").write_bytes(content)
    known = Catalogue(
        backends=frozenset(),
        functions=frozenset(),
        scorers=frozenset(),
        tools=frozenset(),
        prompt_folders=(tmp_path,),
    )
    assert known.prompt("greet") == prompt


def test_a_prompt_file_is_read_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.schema.host.catalogue.LARGEST_PROMPT_FILE", 8)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/greet.md").write_text("Hi, you!")
    known = Catalogue.of_host().beside(tmp_path)
    assert known.prompt("greet") == "Hi, you!"
    (tmp_path / "prompts/greet.md").write_text("Hello, you!")
    with pytest.raises(OSError, match="it is larger than 8 bytes"):
        known.prompt("greet")


def test_a_tool_s_name_becomes_an_identifier() -> None:
    assert tool_identifier("clock.now-utc") == "clock_now_utc"


def test_a_name_stands_for_what_its_package_declares() -> None:
    assert callable(load_named("functions", "majority"))
    with pytest.raises(KeyError):
        load_named("functions", "none")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:x", "No module named 'no_such_module'"),
        ("json:no_such_name", "module 'json' has no attribute 'no_such_name'"),
    ],
)
def test_a_broken_import_is_named(value: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(group="functions", name="vote", value=value)
    monkeypatch.setattr(catalogue_module, "installed", lambda _: {"vote": point})
    with pytest.raises(InputError) as caught:
        load_named("functions", "vote")
    assert str(caught.value) == (
        f"vote ({value}) cannot be imported: {reason}. Install what is missing."
    )


def test_a_broken_plugin_is_named_with_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        value = "some_plugin:vote"
        package = "some-plugin"

        def load(self) -> None:
            raise ImportError("torch is missing")

    monkeypatch.setattr(catalogue_module, "installed", lambda _: {"vote": Point()})
    with pytest.raises(InputError, match=r"vote \(some_plugin:vote of some-plugin\) cannot be"):
        load_named("functions", "vote")
