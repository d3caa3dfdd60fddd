"""Task files and the files of the host; what a team file may hold is shown elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from coterie.schema import (
    InputError,
    Model,
    ScorerChoice,
    Task,
    ToolServer,
    load_models,
    load_task,
    load_team,
    load_tools,
)

from ...support.problems import problems_of

TASK = '{"id": "apples", "query": "How many are left?"'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(fields: str) -> Task:
    """The task with more fields: they begin at 1:49."""
    Path("task.json").write_text(f"{TASK}, {fields}}}")
    return load_task("task.json")


def test_a_task_is_what_its_file_says() -> None:
    task = loaded(
        '"context": "Ann had 12.", "niche": "arithmetic", "answer": 7,'
        ' "scorer": {"name": "number", "tolerance": 0.5}'
    )
    assert task == Task(
        id="apples",
        query="How many are left?",
        context="Ann had 12.",
        niche="arithmetic",
        answer=7,
        scorer=ScorerChoice(name="number", options={"tolerance": 0.5}),
    )


def test_the_text_of_a_task_is_its_query_with_its_context() -> None:
    assert loaded('"context": "Ann had 12."').text == "How many are left?\n\nAnn had 12."
    assert Task(id="t", query="Why?").text == "Why?"


def test_a_task_may_be_yaml() -> None:
    Path("task.yaml").write_text("id: apples\nquery: |\n  How many\n  are left?\nscorer: exact\n")
    assert load_task("task.yaml") == Task(id="apples", query="How many\nare left?\n")


def test_files_may_stand_in_the_task() -> None:
    assert loaded('"files": {"a/b.txt": "text"}').files == {"a/b.txt": "text"}


def test_files_may_stand_beside_the_task_and_are_read_as_they_are() -> None:
    Path("notes").mkdir()
    Path("notes/a.txt").write_bytes("eins\r\nzw\u00f6lf".encode())
    assert loaded('"files": ["notes/a.txt"]').files == {"notes/a.txt": "eins\r\nzw\u00f6lf"}


def test_files_are_sought_beside_the_task(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text("text")
    Path("task.json").write_text(f'{TASK}, "files": ["a.txt"]}}')
    monkeypatch.chdir("/")
    assert load_task(folder / "task.json").files == {"a.txt": "text"}


def test_files_that_cannot_be_given_are_problems() -> None:
    Path("folder").mkdir()
    Path("bytes.bin").write_bytes(b"\xff")
    Path("large.txt").write_bytes(b"x" * 1_000_001)
    os.mkfifo("pipe")
    names = '5, "none.txt", "folder", "bytes.bin", "large.txt", "pipe"'
    assert problems_of(lambda: loaded(f'"files": [{names}]')) == [
        "task.json:1:59: error: files[0]: 5 is not text. Write it in quotes, or text, for instance"
        ' "notes.txt".',
        "task.json:1:62: error: files[1]: 'none.txt' cannot be read: No such file or directory.",
        "task.json:1:74: error: files[2]: 'folder' cannot be read: it is not a file.",
        "task.json:1:84: error: files[3]: 'bytes.bin' cannot be read: it is not UTF-8 text, and"
        " none of PNG, JPEG, GIF, WebP, PDF.",
        "task.json:1:97: error: files[4]: 'large.txt' cannot be read: it is larger than 1000000"
        " bytes.",
        "task.json:1:110: error: files[5]: 'pipe' cannot be read: it is not a file.",
    ]


def test_a_repository_is_found_beside_the_task() -> None:
    Path("project/.git").mkdir(parents=True)
    assert loaded('"repo": "project"').repo == Path("project")


@pytest.mark.parametrize("name", ["none", "x" * 300])
def test_a_repository_that_is_none_is_a_problem(name: str) -> None:
    (line,) = problems_of(lambda: loaded(f'"repo": "{name}"'))
    assert line.endswith(f" is not a git working copy (looked in {name}).")


@pytest.mark.parametrize(
    ("scorer", "line"),
    [
        ('"exat"', "1:59: error: scorer: no scorer 'exat'. Did you mean 'exact'?"),
        (
            '{"name": "votes"}',
            "1:68: error: scorer.name: no scorer 'votes'. Known: choice, contains, exact, json,"
            " number, ranked, regex",
        ),
        ('{"tolerance": 1}', "1:59: error: scorer: name is missing. "),
        ("[]", "1:59: error: scorer: [] is not text or a mapping. Write one of them, for instance"),
    ],
)
def test_a_scorer_must_be_known(scorer: str, line: str) -> None:
    (problem,) = problems_of(lambda: loaded(f'"scorer": {scorer}'))
    assert problem.startswith(f"task.json:{line}")


def test_a_file_that_is_not_there_is_named_with_its_nearest_neighbour() -> None:
    Path("team_3.yaml").touch()
    with pytest.raises(InputError, match=r"^no file 'team3.yaml'. Did you mean 'team_3.yaml'\?$"):
        load_team("team3.yaml")


MODELS = """\
models:
  default:
    model: openai/gpt-4o-mini
    key_env: OPENAI_API_KEY
    usd_per_mtok_input: 0.15
  mine: {model: local:/models/some.gguf}
  near: {model: qwen, api_base: "http://127.0.0.1:8000/v1", concurrency: 4}
"""


def models() -> Mapping[str, Model]:
    return load_models("models.yaml")


def test_models_are_what_their_file_says() -> None:
    Path("models.yaml").write_text(MODELS)
    assert models()["near"] == Model(
        alias="near",
        model="qwen",
        api_base="http://127.0.0.1:8000/v1",
        concurrency=4,
        origin="models.yaml",
    )
    assert [model.alias for model in models().values() if model.is_embedded] == ["mine"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "key_env: OPENAI_API_KEY",
            "api_key: x",
            "4:5: error: models.default.api_key: not a field here. A file never holds a key: write"
            " key_env, the name of the environment variable that holds it.",
        ),
        (
            "key_env: OPENAI_API_KEY",
            "key_env: sk-" + "abcd1234" * 4,
            "4:14: error: models.default.key_env: this looks like a secret key. Keep keys in the"
            " environment: models.yaml names the variable (key_env).",
        ),
        (
            "127.0.0.1:8000",
            "me:password@127.0.0.1",
            "7:33: error: models.near.api_base: 'http://me:password@127.0.0.1/v1' is not an http or"
            " https address without a user name, a password, quotes, ? and #. Write for instance"
            " http://127.0.0.1:8000/v1.",
        ),
        (
            "usd_per_mtok_input: 0.15",
            "usd_per_mtok_input: -1",
            "5:25: error: models.default.usd_per_mtok_input: -1 is out of range (USD per million"
            " tokens, 0 to 100000). Write a number in it, for instance 0.15.",
        ),
        (MODELS, "[", "2:1: error: not YAML: did not find expected node content (while parsing a"),
    ],
)
def test_problems_of_models_have_places(old: str, new: str, line: str) -> None:
    assert old in MODELS
    Path("models.yaml").write_text(MODELS.replace(old, new))
    (problem,) = problems_of(models)
    assert problem.startswith(f"models.yaml:{line}")


def test_tool_servers_are_what_their_file_says() -> None:
    Path("tools.yaml").write_text(
        "servers:\n  clock: {command: [python, clock.py], tools: [now], env: [TZ], timeout: 5}\n"
    )
    assert load_tools("tools.yaml").servers == {
        "clock": ToolServer(
            name="clock", command=("python", "clock.py"), tools=("now",), env=("TZ",), timeout=5
        )
    }


def test_problems_of_tool_servers_have_places() -> None:
    Path("tools.yaml").write_text("servers:\n  clock: {command: python, tools: []}\n")
    assert problems_of(lambda: load_tools("tools.yaml")) == [
        "tools.yaml:2:20: error: servers.clock.command: 'python' is not a list. Write a list:"
        ' ["python"].',
        "tools.yaml:2:35: error: servers.clock.tools: 0 tools are too few: at least 1.",
    ]


def test_a_task_may_tell_one_agent_what_it_tells_no_other() -> None:
    assert loaded('"briefs": {"teacher": "Ben guesses."}').briefs == {"teacher": "Ben guesses."}
    assert not Task(id="t", query="Why?").briefs


def test_a_brief_is_for_an_id_and_says_something() -> None:
    assert problems_of(lambda: loaded('"briefs": {"Teacher": "x", "a": "", "b": 5}')) == [
        "task.json:1:60: error: briefs.Teacher: 'Teacher' is not an id: a lower-case letter, then"
        " lower-case letters, digits or _, at most 64 characters. Write for instance teacher.",
        "task.json:1:81: error: briefs.a: 0 characters are too few: at least 1.",
        "task.json:1:90: error: briefs.b: 5 is not text. Write it in quotes, or text.",
    ]
