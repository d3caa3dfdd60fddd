"""What others wrote commands no terminal, deceives no reader, and is no markup."""

import json
import re
from pathlib import Path
from typing import NoReturn

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.command import doctor
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.command import Command
from coterie.schema.values.terminal import counted, on_one_line, speakable, speakable_json, visible

from ...support.commands import mas, run_on_terminal

COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
HOSTILE = (
    "\x1b]52;c;aGk=\x07\x1b[2J\r\x9b31m\u202eevil\u2066\u200b\x1b]0;title\x1b\\\x1bc[/bold][red]x"
)
KEY = "sk-proj-4bC8dE2fG6hJ0kL3mN7p"


def test_a_file_name_is_no_further_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a  b\x1b[2J\u202e\nerror: forged.yaml").write_text("name: x\nagents: 7\n")
    done = mas("validate", ".")
    assert done.exit_code == 2
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["a  b error"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nhere", "plain\ttext\nhere"),
        ("über 🔑 ﷺ 中文 é", "über 🔑 ﷺ 中文 é"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mred", "red"),
        ("\x1b]52;c;aGk=\x07clip", "clip"),
        ("\x1b]52;c;aGk=\x1b\\clip", "clip"),
        ("\x9d52;c;aGk=\x9cclip", "clip"),
        ("\x1bPq#0;2;0\x1b\\picture", "picture"),
        ("\x1b_command\x1b\\seen", "seen"),
        ("\x1b]0;never ends, and hides the rest", "0;never ends, and hides the rest"),
        ("\x1b\x1b[31m]52", "]52"),
        ("over\rwritten", "overwritten"),
        ("lines\r\nof Windows\r\n", "lines\nof Windows\n"),
        ("a\x00b\x9b31mc", "abc"),
        ("abc\u202edef\u2069", "abcdef"),
        ("ad\u200bmin\ufeff\u00ad", "admin"),
        ("ad\u200dmin", "admin"),
        (
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627",
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627",
        ),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("hid\U000e0041\U000e0042den", "hidden"),
        ("one\u2028two", "onetwo"),
        ("half \ud83d of it", "half \ufffd of it"),
        ("unfinished \x1b", "unfinished "),
    ],
)
def test_text_for_terminals_commands_nothing(text: str, shown: str) -> None:
    assert speakable(text) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[]\\;m\x07\x9b\x9d\x9c\u202e")))
def test_nothing_that_commands_is_left_and_nothing_new_arises(text: str) -> None:
    shown = speakable(text)
    assert not COMMANDS.search(shown)
    assert speakable(shown) == shown
    shown.encode()


@given(st.none() | st.text() | st.lists(st.text()))
def test_json_is_shown_without_commands_and_says_the_same(value: object) -> None:
    text = json.dumps({"a": value}, ensure_ascii=False, indent=2)
    shown = speakable_json(text)
    assert json.loads(shown) == {"a": value}
    assert not COMMANDS.search(shown)


def test_one_line_cannot_pose_as_two() -> None:
    assert on_one_line("no\n\n  worker: done\x1b[2K\u2028") == "no worker: done"


def test_counts_are_written_as_people_do() -> None:
    assert [counted(n, "call") for n in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]


TEAM = """\
name: pair
description: "Shown in brackets: [/bold] [red]x[/red]"
agents:
  worker: {role: "the [/bold] worker", prompt: Work on it.}
  judge: {role: "the [red]judge", prompt: Judge it.}
topology:
  reports_to: {worker: [judge]}
"""


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "team.yaml").write_text(TEAM)
    return here


NAME = "\x1b]0;x\x07\u202e.yaml"


@pytest.mark.parametrize(
    "words",
    [
        ("validate", NAME),
        ("validate", "--format", "github", NAME),
        ("validate", "missing" + NAME),
        ("dev", "fmt", "good" + NAME),
        ("dev", "fmt", NAME),
        ("dev", "graph", NAME),
        ("dev", "graph", "missing" + NAME),
        ("dev", "explain", f"agents.{HOSTILE}"),
        ("run", "missing" + NAME, "-q", "x"),
        ("run", "team.yaml", NAME),
        ("run", "team.yaml", "-q", "x", "--dry-run", "--model", f"a/{HOSTILE}"),
        ("run", "team.yaml", "-q", "x", "--model", HOSTILE.replace("/", "")),
        ("doctor", "--no-probes", "--model", f"a/{HOSTILE}"),
    ],
    ids=lambda words: " ".join(words[:3]).split("\x1b")[0],
)
def test_names_of_files_and_models_command_nothing(folder: Path, words: tuple[str, ...]) -> None:
    (folder / NAME).write_text("agents: [oops\n")
    (folder / ("good" + NAME)).write_text(TEAM)
    done = mas(*words)
    assert done.output.strip()
    assert not COMMANDS.search(done.output)


def test_what_a_team_file_says_is_no_markup(folder: Path) -> None:
    shown = mas("dev", "graph", folder / "team.yaml").output
    assert "[/bold] [red]x[/red]" in shown
    assert "the [red]judge" in shown


def test_a_traceback_shows_no_key_and_commands_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command(cls=Command)
    def broken() -> NoReturn:
        raise ZeroDivisionError(f"{HOSTILE} {KEY} and hunter-2-hunter")

    monkeypatch.setenv("MY_PASSWORD", "hunter-2-hunter")
    done = CliRunner().invoke(broken)
    assert done.exit_code == 70
    assert "ZeroDivisionError" in done.stderr
    assert not COMMANDS.search(done.stderr)
    assert "[secret] and [secret]" in done.stderr.splitlines()[-2]


def on_a_terminal(folder: Path, model: ScriptedModel, *options: str) -> tuple[int, bytes]:
    """Run a team with a terminal for all that it prints; give the exit code and what that shows."""
    words = ("team.yaml", "-q", "Well?", "--model", f"scripted@{model.api_base}", *options)
    code, _, shown = run_on_terminal(folder, *words)
    return code, shown


def test_a_hostile_answer_on_a_terminal(folder: Path) -> None:
    with ScriptedModel(f"7 {HOSTILE} \ud83d") as model:
        code, shown = on_a_terminal(folder, model)
    text = shown.decode()
    assert code == 0, text
    assert "the [/bold] worker" in text
    assert not re.search("\x1b\\]|\x1bc|\x9b|[\u202e\u2066\u200b]", text)
    assert "7 evilc[/bold][red]x \ufffd\r\n" in text


def test_json_of_a_hostile_answer_on_a_terminal(folder: Path) -> None:
    with ScriptedModel(f"7 {HOSTILE}") as model:
        code, shown = on_a_terminal(folder, model, "--json", "--quiet")
    assert code == 0
    assert not COMMANDS.search(shown.decode().replace("\r\n", "\n"))
    assert json.loads(shown)["answer"] == f"7 {HOSTILE}"


def test_a_hostile_answer_of_a_run_and_when_it_is_resumed(folder: Path) -> None:
    with ScriptedModel(f"7 {HOSTILE}") as model:
        first = mas("run", "team.yaml", "-q", "Well?", "--model", f"m@{model.api_base}")
    (run,) = (folder / "runs").iterdir()
    done = mas("run", "--resume", run)
    assert done.exit_code == 0
    assert first.stdout == done.stdout == "7 evilc[/bold][red]x\n"


def test_a_hostile_error_on_a_terminal(folder: Path) -> None:
    with ScriptedModel(Reply.error(400, message=f"no {HOSTILE}")) as model:
        code, shown = on_a_terminal(folder, model)
    text = shown.decode()
    assert code == 1, text
    assert "[/bold][red]x" in text
    assert not re.search("\x1b\\]|\x1bc|\x9b|[\u202e\u2066\u200b]", text)


def test_doctor_describes_models_in_one_way(folder: Path) -> None:
    done = CliRunner().invoke(doctor.main, ["--no-probes", "--model", f"big=a/{HOSTILE}"])
    assert "[/bold][red]x" in done.output
    assert not COMMANDS.search(done.output)


def test_a_page_shows_by_its_number_what_nobody_would_see() -> None:
    text = "\x1b[31mred\u202e \ud800 a\r\nb\tc \u00e9\U0001f469\u200d\U0001f469"
    seen = "[U+001B][31mred[U+202E] [U+D800] a\nb\tc \u00e9\U0001f469\u200d\U0001f469"
    assert visible(text) == seen
