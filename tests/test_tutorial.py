"""The tutorial shows what its commands print, and its files as they are."""

import re
import shlex
from importlib.metadata import entry_points
from pathlib import Path
from shutil import copytree

import pytest

from coterie.runtime.doubles import ScriptedModel, load_script
from coterie.schema.command.graph import main as mas_graph

from .support.commands import CommandResult, invoked_in

ROOT = Path(__file__).parents[1]
FILES = ROOT / "examples" / "tutorial"
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")

SCRIPTS = {script.name: script for script in entry_points(group="console_scripts")}
BLOCK = re.compile(r"^```(sh|text|yaml|json)\n(.*?)^```", re.DOTALL | re.MULTILINE)
VARIES = re.compile(r"\d+\.\d+ s\b|\d:\d\d left|\d{8}T\d{6}Z|report [0-9a-f]{8}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copytree(FILES, tmp_path / "front_desk")


def typed(folder: Path, line: str) -> CommandResult:
    """Run a line of the page in this process, as a shell would."""
    name, *words = shlex.split(line.partition("|| ")[0], comments=True)
    texts = [path.as_posix() for path in folder.glob("runs/*")]
    for number, word in enumerate(words):
        if word == "runs/*":
            words[number : number + 1] = texts
        elif inner := re.fullmatch(r"\$\((.+)\)", word):
            words[number] = typed(folder, inner[1]).out.strip()
    return invoked_in(folder, SCRIPTS[name].load(), words, name)


def steady(text: str) -> list[str]:
    """Lines without what no two runs have in common."""
    return [VARIES.sub("…", line).rstrip() for line in text.splitlines()]


def test_the_tutorial_shows_what_its_commands_print(folder: Path) -> None:
    printed: list[str] = []
    compared = 0
    with ScriptedModel(load_script(folder / "script.yaml")) as model:
        models = (folder / "models.yaml").read_text("utf-8")
        (folder / "models.yaml").write_text(
            models.replace("http://127.0.0.1:8713/v1", model.api_base), encoding="utf-8"
        )
        for language, text in BLOCK.findall(PAGE):
            if language == "sh":
                printed = []
                for line in re.findall(r"^mas[- ].+$", text, re.MULTILINE):
                    result = typed(folder, line)
                    assert result.code == ("mas-diff" in line), (line, result.err)
                    printed += steady((result.out + result.err).replace(f"{folder}/", ""))
            elif language == "text":
                shown = [line for line in steady(text) if line.strip() != "…"]
                assert not [line for line in shown if line not in printed]
                compared += len(shown)
    assert compared > 40


def test_the_tutorial_shows_its_files_as_they_are() -> None:
    files = [path.read_text("utf-8") for path in FILES.iterdir()]
    shown = [text for language, text in BLOCK.findall(PAGE) if language in {"yaml", "json"}]
    assert len(shown) == 4
    for text in shown:
        assert any(text in file for file in files), text


def test_the_picture_in_the_tutorial_is_its_team() -> None:
    words = ["examples/tutorial/team.yaml", "--format", "svg"]
    drawn = invoked_in(ROOT, mas_graph, words, "mas dev graph")
    assert drawn.out == (ROOT / "docs" / "tutorial.svg").read_text(encoding="utf-8")
