"""A program that answers the questions of an inbox, as anybody's may."""

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Question = Mapping[str, Any]


def answer(inbox: Path, reply: Callable[[Question], str]) -> list[str]:
    """Answer what is open, each file renamed into its place; return whose answers were written."""
    names: list[str] = []
    for file in sorted(inbox.glob("*.question.json")):
        name = file.name.partition(".")[0]
        if not (target := inbox / f"{name}.answer.txt").exists():
            part = inbox / f"{name}.part"
            part.write_text(reply(json.loads(file.read_text())))
            part.rename(target)
            names.append(name)
    return names


@contextmanager
def answering(inbox: Path, reply: Callable[[Question], str]) -> Generator[list[str]]:
    """Answer whatever is asked while the block lasts; give whose answers were written."""
    names: list[str] = []
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.01):
            names.extend(answer(inbox, reply))

    thread = threading.Thread(target=work, name="answers an inbox")
    thread.start()
    try:
        yield names
    finally:
        over.set()
        thread.join()
