"""Questions to people in the inbox of a run's folder, and the answers that forms send."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...schema.values import beneath
from ...schema.values.errors import InputError, StorageError
from ...schema.values.problems import reason_of
from ..gateway.inbox_client import FOLDER
from ..gateway.inbox_question import ANSWERS, SHOWN
from ..values.bounds import LARGEST_ANSWER


def open_questions(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each question without an answer.

    Raises:
        InputError: A question cannot be read.
    """
    try:
        files = beneath.names_in(run, FOLDER)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{run / FOLDER}: {reason_of(error)}") from None
    for file in files:
        name = file.removesuffix(f".{SHOWN}")
        if name == file or any(f"{name}.{ending}" in files for ending in ANSWERS):
            continue
        try:
            text = beneath.read(run, f"{FOLDER}/{file}", LARGEST_ANSWER)
        except (OSError, ValueError) as error:
            raise InputError(f"{run / FOLDER / file}: {reason_of(error)}") from None
        yield name, text.decode(errors="replace").strip()


def write_answer(run: Path, question: str, text: str) -> None:
    """Answer a question.

    Raises:
        InputError: The question is not open, or the answer is empty.
        StorageError: The answer cannot be written.
    """
    if question not in dict(open_questions(run)):
        raise InputError("this question is not open any more, or never was. Reload the page.")
    if not text.strip():
        raise InputError("the answer is empty. Go back and write one.")
    file = f"{FOLDER}/{question}.{ANSWERS[1]}"
    try:
        beneath.write(run, file, text.strip().encode(errors="replace"))
    except (OSError, ValueError) as error:
        raise StorageError(f"{run / file}: {reason_of(error)}") from None
