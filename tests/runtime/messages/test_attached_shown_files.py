"""Files of a task: shown to agents that cannot open them, and to nobody else."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import compile
from coterie.runtime.command.run import main
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.messages.attached import LONGEST_FILES, shown_files, unread_files
from coterie.runtime.messages.messages import question
from coterie.schema import Catalogue, Task, parse_team

from ...support.commands import invoked_in

TEAM = """\
name: t
agents:
  plain: {prompt: Think.}
  looks: {prompt: Look., agent_type: ToolCallingAgent, tools: [read_file]}
  codes: {prompt: Code., agent_type: CodeAgent}
topology: {reports_to: {looks: [plain], codes: [plain]}}
"""
CATALOGUE = Catalogue.of_host()
PLAN = compile(parse_team(TEAM.encode(), "t.yaml", CATALOGUE), CATALOGUE)
TASK = Task(id="t", query="When?", files={"b.txt": "At </file> nine.", "a.txt": "Never."})


def test_only_who_cannot_open_files_is_shown_them() -> None:
    shown = {item: [*shown_files(planned, TASK)] for item, planned in PLAN.agents.items()}
    assert shown == {"plain": ["a.txt", "b.txt"], "looks": [], "codes": []}


def test_a_file_that_is_too_long_is_named_and_the_others_are_shown() -> None:
    task = replace(TASK, files={**TASK.files, "long.txt": "x" * LONGEST_FILES})
    plain = PLAN.agents["plain"]
    assert [*shown_files(plain, task)] == ["a.txt", "b.txt"]
    assert unread_files(plain, task) == ["long.txt"]
    assert unread_files(PLAN.agents["looks"], task) == []


@given(st.dictionaries(st.text("abc", min_size=1), st.text("</file>\n a", max_size=60), max_size=4))
def test_files_are_shown_whole_and_no_text_ends_its_fence(files: dict[str, str]) -> None:
    task = replace(TASK, files=files)
    shown = shown_files(PLAN.agents["plain"], task)
    assert shown == files
    asked = question(task, (), (), texts=shown)
    for name, text in files.items():
        assert text.strip() in asked
        assert asked.count(f' name="{name}">\n') == 1


def test_a_task_without_files_reads_as_it_always_did() -> None:
    plain = replace(TASK, files={})
    assert question(plain, (), ()) == question(plain, (), (), texts={}, unread=())
    assert question(plain, (), ()) == "Task:\nWhen?"


def test_a_run_shows_files_and_tells_of_those_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The train leaves at nine.")
    (tmp_path / "long.txt").write_text("x" * (LONGEST_FILES + 1))
    given_files = {"id": "t", "query": "When?", "files": ["notes.txt", "long.txt"]}
    (tmp_path / "task.json").write_text(json.dumps(given_files))
    with ScriptedModel("At nine.") as model:
        words = ["seed:direct", "task.json", "--model", f"m@{model.api_base}"]
        result = invoked_in(tmp_path, main, words, "mas-run")
        (asked,) = (str(call.body) for call in model.calls)
    assert result.code == 0, result.err
    assert "The train leaves at nine." in asked
    assert "Too long to be shown to you: long.txt" in asked
    assert "cannot read long.txt: too long to be shown" in result.err


def asked_with(folder: Path, *words: str) -> tuple[int, str, str]:
    with ScriptedModel("At nine.") as model:
        given_words = ["seed:direct", *words, "--model", f"m@{model.api_base}"]
        result = invoked_in(folder, main, given_words, "mas-run")
        return result.code, result.err, "".join(str(call.body) for call in model.calls)


def test_a_question_may_have_files_and_a_context(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "notes.txt").write_text("The train leaves at nine.")
    words = ("-q", "When?", "--file", "sub/notes.txt", "--context", "It is Monday.")
    code, err, asked = asked_with(tmp_path, *words)
    assert code == 0, err
    assert "The train leaves at nine." in asked
    assert "It is Monday." in asked
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "task.json").read_text())["files"]["notes.txt"].startswith("The train")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("task.json", "--file", "a.txt"), "--file: valid only with --query."),
        (("-q", "?", "--file", "none.txt"), "none.txt cannot be read: No such file or directory."),
        (("-q", "?", "--file", "a.txt", "--file", "b/a.txt"), "two files are called 'a.txt'"),
        (("-q", "?", "--file", "raw.bin"), "raw.bin cannot be read: it is not UTF-8 text, and"),
        (("-q", "?", "--repo", "b"), "'b' is not a git working copy"),
    ],
)
def test_unfit_options_are_told(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a.txt", "b/a.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "raw.bin").write_bytes(b"\xff\x00")
    (tmp_path / "task.json").write_text('{"id": "t", "query": "?"}')
    code, err, asked = asked_with(tmp_path, *words)
    assert (code, asked) == (2, "")
    assert message in err
