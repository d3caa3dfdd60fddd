"""Someone who does what a page says: writes its files and types its commands."""

import re
import shlex
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from glob import glob
from importlib.metadata import entry_points
from pathlib import Path

from ..support.commands import CommandResult, invoked_in

COMMANDS = {point.name: point for point in entry_points(group="console_scripts")}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"`([\w.]+\.(?:yaml|jsonl|json|csv|py))`")


@dataclass
class Newcomer:
    """Someone who follows a page in a folder.

    Attributes:
        here: What stands in this test for what the page writes, such as an address.
        plays: What stands for a command that no test can run, by its line; returns its output.
    """

    folder: Path
    here: dict[str, str] = field(default_factory=dict[str, str])
    plays: dict[str, Callable[[], str]] = field(default_factory=dict[str, Callable[[], str]])
    code: int = 0
    typed: list[str] = field(default_factory=list[str])

    def follow(self, page: str) -> None:
        """Do what the blocks of a page say, in order.

        A file's name is the last one in backticks before its block.
        """
        for block in BLOCK.finditer(page):
            if block[1] == "console":
                self.type_all(block[2])
            else:
                self.write(NAMED.findall(page, 0, block.start())[-1], block[2])

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(self.as_here(text), encoding="utf-8")

    def as_here(self, text: str) -> str:
        for on_the_page, here in self.here.items():
            text = text.replace(on_the_page, here)
        return text

    def type_all(self, text: str) -> None:
        """Type the commands of a block, and check the output under each, line by line in order.

        Lines that begin with `> ` are typed into the command.
        """
        for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, *below = command.splitlines()
            typed = [words[2:] for words in below if words.startswith("> ")]
            output = self.type(line, "\n".join(typed)).splitlines()
            check_shown([words for words in below if not words.startswith("> ")], output)

    def type(self, line: str, typed: str = "") -> str:
        """Run a command line, and return what the terminal shows."""
        self.typed.append(line)
        if line in self.plays:
            return self.plays[line]()
        if line.startswith("cd "):
            self.folder /= line.removeprefix("cd ")
            return ""
        if line == "echo $?":
            return str(self.code)
        before, _, line = line.rpartition(" | ")
        line, _, file = line.partition(" > ")
        event = self.ran(line, typed=self.printed(before) if before else typed)
        self.code = event.code
        if file:
            self.write(file, event.out)
            return event.err
        return event.shown

    def ran(self, line: str, *, typed: str = "") -> CommandResult:
        """Run one of our commands in this process."""
        split = shlex.split(self.as_here(line))
        name, *words = [word for pattern in split for word in self.expanded(pattern)]
        return invoked_in(self.folder, COMMANDS[name].load(), words, name, typed=typed)

    def printed(self, line: str) -> str:
        """Run a command of the system."""
        return subprocess.check_output(shlex.split(line), cwd=self.folder, text=True)

    def expanded(self, word: str) -> list[str]:
        return glob(word, root_dir=self.folder) if "*" in word else [word]  # noqa: PTH207


def check_shown(expected: Iterable[str], output: list[str]) -> None:
    """Check that lines are in an output, in order; `…` is for anything."""
    for line in expected:
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        places = [place for place, shown in enumerate(output) if pattern.fullmatch(shown)]
        assert places, "\n".join([line, "", *output])
        output = output[places[0] + 1 :]
