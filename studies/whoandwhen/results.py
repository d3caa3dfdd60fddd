"""The folder of attributions: what they were made with, and a line for each.

* `manifest.json`: the setting, and what it was made on.
* `journal.log`: every answer that was paid for.
* `attributions.jsonl`: the result of each trace by each method; tables are made of it alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from coterie.benchmarks.evaluation.provenance import endpoint, host, versions
from coterie.runtime.runs.record import MANIFEST, as_json
from coterie.schema.values.errors import InputError
from coterie.schema.values.files import make_folders, write_atomically
from coterie.schema.values.json_text import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from coterie.schema.host.models import Model

    from .attributing import Attributed

ATTRIBUTIONS = "attributions.jsonl"


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """With what attributions are made. In one folder it is the same for all.

    Attributes:
        traces: Which traces: a published revision's name, or a digest.
        model: The model that judges.
        with_answer: Whether it is shown the right answers.
        view: How many characters of a trace's steps one question shows; None: by the model's size.
        seed: Makes sampling repeatable, where the endpoint can repeat it.
    """

    traces: str
    model: str
    with_answer: bool
    view: int | None
    seed: int | None


def begin(folder: Path, setting: Setting, model: Model, command: str) -> None:
    """Make the folder, or make sure that it is of the same setting.

    Raises:
        InputError: It is of another one.
        StorageError: It cannot be made.
    """
    make_folders(folder)
    path = folder / MANIFEST
    if not path.exists():
        fields = {"setting": asdict(setting), "endpoint": endpoint(model), "command": command}
        write_atomically(path, as_json({**fields, "versions": versions(), "host": host()}))
        return
    earlier = _setting_in(path)
    for name, value in asdict(setting).items():
        if earlier.get(name) != value:
            raise InputError(
                f"{folder} was begun with {name} {earlier.get(name)!r}, not {value!r}: figures of"
                " both would be mixed. Name another folder with --out."
            )


def write_lines(folder: Path, attributed: Iterable[Attributed]) -> None:
    """Write what there is.

    Raises:
        StorageError: It cannot be written.
    """
    lines = (dumps(item.line(), ensure_ascii=False) + "\n" for item in attributed)
    write_atomically(folder / ATTRIBUTIONS, lines)


def read_together(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Read what there is in several folders, in which different things were made alike.

    Raises:
        InputError: There is nothing in one, or it was made with another setting or twice.
    """
    first, *others = folders
    lines = read_lines(first)
    setting = _setting_in(first / MANIFEST) if others else {}
    for folder in others:
        for name, value in _setting_in(folder / MANIFEST).items():
            if setting.get(name) != value:
                raise InputError(
                    f"{folder} was made with {name} {value!r}, the first one with"
                    f" {setting.get(name)!r}: they are not of one table."
                )
        lines += read_lines(folder)
    twice = Counter((line["method"], line["trace"]) for line in lines).most_common(1)
    if twice and twice[0][1] > 1:
        raise InputError(f"{' on '.join(twice[0][0])} is in several folders: name one of them.")
    return lines


def read_lines(folder: Path) -> list[dict[str, Any]]:
    """Read what there is.

    Raises:
        InputError: There is nothing, or it is something else.
    """
    path = folder / ATTRIBUTIONS
    try:
        return [loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no {ATTRIBUTIONS}. Make one: python -m studies.whoandwhen run"
            f" --out {folder}"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None


def _setting_in(path: Path) -> dict[str, Any]:
    try:
        return loads(path.read_bytes())["setting"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{path} is of something else than attributions. Name another folder with --out."
        ) from None
