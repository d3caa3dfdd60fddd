"""`mas-view --text`: a run as text, whatever became of it."""

import fcntl
import os
import re
import shlex
from pathlib import Path
from shutil import copytree

import pytest

from coterie.runtime.command.view import main
from coterie.runtime.doubles import Reply

from ...support.commands import CommandResult, invoked
from ..view.test_run_page import run_of

TEAM = """\
name: pair
agents:
  worker: {role: worker, prompt: "You are [worker]. Solve it.", max_tokens: 50}
  judge: {role: judge, prompt: "You are [judge]. Decide it."}
topology:
  reports_to: {worker: [judge]}
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("run"), {"": "7"}, TEAM)


def shown(run: Path, *words: str) -> CommandResult:
    return invoked(main, ["--text", str(run), *words], "mas-view")


def test_a_run_is_told_with_its_graph_timeline_and_conversations(tmp_path: Path) -> None:
    text = shown(run_of(tmp_path, {"[judge]": "7 it is", "": "maybe 7"}, TEAM)).out
    assert "status   done\nscore    1 (right)\ncost     2 calls, " in text
    assert "answer\n  | 7 it is\n" in text
    assert "judge          done" in text
    assert "★ the answer   done" in text
    assert "judge: starts, reads worker" in text
    _, conversation = text.split("CONVERSATION of judge\n")
    assert "  | You are [judge]. Decide it.\n" in conversation
    assert "  | maybe 7\n" in conversation
    assert conversation.endswith("->\n  | 7 it is\n")


def test_one_agent_is_shown_alone_and_an_unknown_one_is_told(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"[judge]": "7 it is", "": "maybe 7"}, TEAM)
    alone = shown(run, "--agent", "worker").out
    assert "CONVERSATION of worker" in alone
    assert "judge" not in alone
    wrong = shown(run, "--agent", "jugde")
    assert (wrong.code, wrong.err) == (
        2,
        f"error: no agent 'jugde' in {run}. Did you mean 'judge'?\n",
    )


def test_long_texts_are_folded_with_their_size_unless_all_is_asked_for(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"[judge]": "7", "": "so " * 5_000 + "7"}, TEAM)
    assert "characters left out …] " in shown(run).out
    full = shown(run, "--full").out
    assert "left out" not in full
    assert "so " * 5_000 + "7" in full


def test_json_has_every_call_and_nothing_of_it_is_shortened(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"[judge]": "7", "": "so " * 5_000 + "7"}, TEAM)
    value = shown(run, "--json").json
    assert (value["status"], value["result"]["answer"]) == ("done", "7")
    (call,) = value["agents"]["worker"]["calls"]
    assert (call["text"], len(call["messages"])) == ("so " * 5_000 + "7", 2)
    assert value["agents"]["worker"]["reports_to"] == ["judge"]


def test_an_answer_that_was_cut_off_is_marked(tmp_path: Path) -> None:
    cut = Reply(text="maybe it is", finish_reason="length")
    text = shown(run_of(tmp_path, {"[judge]": "7", "": cut}, TEAM)).out
    assert "cut off  1 answer, of worker" in text
    assert "worker: its answer was cut off at max_tokens" in text
    assert " -> (CUT OFF)\n  | maybe it is\n" in text


def test_nothing_that_a_model_wrote_commands_the_terminal_or_poses_as_ours(tmp_path: Path) -> None:
    evil = "\x1b[2J7\nstatus   failed\r\u202eanswer"
    text = shown(run_of(tmp_path, {"[judge]": evil, "": "7"}, TEAM)).out
    assert not {"\x1b", "\r", "\u202e"} & {*text}
    assert [line for line in text.splitlines() if line.startswith("status")] == ["status   done"]


def test_a_run_that_was_killed_says_so_and_how_it_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    run = run_of(folder, {"": "7"}, TEAM)
    (run / "result.json").unlink()
    events = run / "events.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    events.write_text("".join(lines[:3]) + lines[3][:40])  # killed in the middle of a line
    text = shown(run).out
    assert "status   killed\n" in text
    assert "cut short" in text
    assert f"next     mas-run --resume {shlex.quote(str(run))}\n" in text


def test_a_run_under_way_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path, {"": "7"}, TEAM)
    (run / "result.json").unlink()
    handle = os.open(run, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        text = shown(run).out
    finally:
        os.close(handle)
    assert "status   under way\n" in text
    assert "next " not in text


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.json", "{}", "not the manifest of a run"),
        ("run.json", None, "there is no such file|cannot show this folder"),
        ("team.yaml", "agents: [", "team.yaml"),
        ("team.yaml", "name: x\n", "team.yaml"),
        ("task.json", "[]", "task.json"),
        ("result.json", '{"status": "done", "score": {"worth": 1}}', "result.json"),
        ("result.json", '{"v": 9}', "result.json"),
        ("result.json", "{", "result.json"),
        ("events.jsonl", '{"v": 2, "n": 1, "t": 0, "type": "run_started"}\n', "version 2"),
    ],
)
def test_a_damaged_folder_is_one_clear_error_and_no_page(
    sound: Path, tmp_path: Path, file: str, content: str | None, message: str
) -> None:
    run, page = Path(copytree(sound, tmp_path / "run")), tmp_path / "report.html"
    (run / file).unlink()
    if content is not None:
        (run / file).write_text(content)
    for done in (shown(run), invoked(main, [str(run), "-o", str(page)], "mas-view")):
        assert (done.code, done.out) == (2, "")
        assert str(run) in done.err
        assert re.search(message, done.err)
        assert len(done.err.splitlines()) == 1
    assert not page.exists()


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    done = shown(tmp_path).ended(2)
    assert "there is no such file. Is" in done.err
