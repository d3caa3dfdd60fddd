"""tools.yaml: functions, servers and permissions, and every problem with its place."""

from pathlib import Path

import pytest

from coterie.schema import Catalogue, ConfigError, InputError, load_tools, parse_team
from coterie.schema.command.validate import main as validate

from ...support.commands import invoked_in

TOOLS = '''\
def weekday(day: str) -> str:
    """Tell which weekday a date is."""
    return day
'''
TEAM = """\
name: one
agents:
  asker: {agent_type: ToolCallingAgent, prompt: "Ask the tools.", tools: [TOOL]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def loaded(folder: Path, text: str) -> Catalogue:
    (folder / "tools.yaml").write_text(text)
    return Catalogue.of_host(host_tools=load_tools(folder / "tools.yaml"))


def told(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        loaded(folder, text)
    return [
        f"{problem.place.line}:{problem.place.column}: {problem.message}"
        for problem in refused.value.problems
    ]


def problems(catalogue: Catalogue, tool: str) -> str:
    try:
        parse_team(TEAM.replace("TOOL", tool).encode(), "team.yaml", catalogue)
    except ConfigError as error:
        return error.problems[0].message
    return ""


def test_a_function_in_a_line_is_a_tool(folder: Path) -> None:
    known = loaded(folder, "python: tools.py:weekday\n")
    assert problems(known, "weekday") == ""
    assert known.python_tools["weekday"].description == "Tell which weekday a date is."


def test_who_is_denied_a_tool_does_not_load(folder: Path) -> None:
    known = loaded(folder, "permissions: {read_file: deny, list_files: ask}\n")
    assert "the tool 'read_file' is not granted here." in problems(known, "read_file")
    assert problems(known, "list_files") == ""
    assert known.permissions["list_files"] == "ask"
    assert known.approving(["list_files"]).permissions["list_files"] == "allow"
    with pytest.raises(InputError, match="no tool 'weekdya'"):
        known.approving(["weekdya"])


def test_every_problem_has_its_place(folder: Path) -> None:
    assert told(
        folder,
        """\
python: [tools.py:weekday, tools.py:weekdya, tools.py:weekday2, tools.py]
permissions: {weekdya: ask, weekday: maybe}
""",
    ) == [
        "1:65: 'tools.py' is not FILE.py:FUNCTION, the file's path relative to tools.yaml. Write"
        " for instance tools.py:weekday.",
        "2:38: 'maybe' is not one of allow, ask, deny.",
    ]
    assert told(
        folder,
        """\
python: [tools.py:weekday, ./tools.py:weekday, none.py:weekday]
permissions: {weekdya: ask}
servers:
  both: {command: [serve], url: "https://both.example/mcp", tools: [now]}
  none: {tools: [now]}
  near: {command: [serve], tools: [now], key_env: KEY, headers_env: {X-Tenant: TENANT}}
  far: {url: "https://far.example/mcp", tools: [now], env: [KEY]}
""",
    ) == [
        "1:28: a tool 'weekday' already exists. Rename the function.",
        f"1:48: no file 'none.py' (looked in {folder}).",
        "2:15: no tool 'weekdya'. Did you mean 'weekday'?",
        "4:3: a server has either a command or a url. Give one of them.",
        "5:3: a server has either a command or a url. Give one of them.",
        "6:51: a server with a command ignores it.",
        "6:69: a server with a command ignores it.",
        "7:60: a server with a url ignores it.",
    ]


def test_a_function_does_not_take_an_installed_tools_place(folder: Path) -> None:
    (folder / "tools.py").write_text(TOOLS.replace("weekday(", "read_file("))
    (problem,) = told(folder, "python: tools.py:read_file\n")
    assert "a tool 'read_file' already exists" in problem


def test_a_tool_that_cannot_load_fails_mas_validate(folder: Path) -> None:
    (folder / "tools.yaml").write_text("python: tools.py:weekday\n")
    (folder / "team.yaml").write_text(TEAM.replace("TOOL", "weekday"))
    done = invoked_in(folder, validate, ["team.yaml", "tools.yaml"], "mas-validate")
    assert (done.code, done.out) == (0, "2 files: no problems.\n")
    (folder / "tools.py").write_text("import nowhere_at_all\n")
    done = invoked_in(folder, validate, ["team.yaml"], "mas-validate").ended(2)
    assert "tools.yaml:1:9: error: python: tools.py cannot be imported: ModuleNotFo" in done.err


def test_tools_of_benchmarks_are_proposed_to_nobody_who_does_not_name_them() -> None:
    known = Catalogue.of_host()
    assert problems(known, "workbench_email") == ""
    assert problems(known, "xyz") == "no tool 'xyz'. Known: list_files, read_file, search_text."
