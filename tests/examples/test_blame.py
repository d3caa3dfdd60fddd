"""What the page on blame shows is what its commands print, with the script beside the example."""

import re
import shlex
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import ScriptedModel, load_script
from coterie.schema.command import main as mas

from ..support.commands import invoked
from ..support.pages import blocks

ROOT = Path(__file__).parents[2]
COMMANDS = {"mas-run": mas_run, "mas": mas}


def test_the_page_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = blocks("runs.md", "console", "## Find out why a run failed")
    more = blocks("research/blame-inside.md", "console", "## Schemes by example")
    shown = "".join([*first, *more])
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    runs = tmp_path / "runs"
    with ScriptedModel(load_script(ROOT / "examples" / "blame" / "replies.yaml")) as model:
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE):
            name, *words = shlex.split(command)
            if name == "mas-run":
                words += ["--runs", str(runs)]
            else:
                words[words.index("runs/*")] = str(*runs.iterdir())
            result = invoked(COMMANDS[name], [*words, "--model", f"m@{model.api_base}"], name)
            assert (result.code, result.out) == (0, expected), result.err
