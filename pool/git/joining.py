"""Merges two copies of a pool that evolved independently.

The ledger is the union of both, and everything else follows: files of teams and evolutions come
from either copy, agents' folders and the scaffold are written from the ledger. Contradictions are
found before any change. The new ledger is written last and atomically: an interrupted merge leaves
files that no line names, and repeating the merge completes it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...schema.loading.loading import read_team
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.files import locked, naming, rename, write_atomically
from ..folder.agent_folders import AgentFolders
from ..folder.own_files import content_of, ledger_in
from ..folder.replacing import copy_folder, put_back, replace_evolution
from ..ledger.ledger import Ledger
from ..ledger.scaffold import Scaffold
from ..ledger.state import State
from ..teams.pool import Pool
from ..values.layout import EVOLUTIONS, LEDGER, LOCK, MANIFEST, TEAMS, TURNS, make_folders
from .manifests import united_manifests
from .union import Contradiction, UnionLine, UnionSide, union_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """The result of merging another copy into a pool.

    Attributes:
        lines: The number of lines in its ledger.
        new: The number of them that are new.
        notes: Notes for the user: members that both sides changed, and which change counts.
    """

    lines: int
    new: int
    notes: tuple[str, ...]


def join(folder: Path, second: Path, *, tell: Callable[[str], None]) -> Joined:
    """Merge another copy of a pool into a pool. The other copy stays unchanged.

    Args:
        folder: The pool. No process should be using it.
        tell: Receives a message about where a person's edits of the scaffold were copied to.
    """
    _expect_two(folder, second)
    return _join(folder, second, folder, tell)


def join_into(target: Path, first: Path, second: Path, *, tell: Callable[[str], None]) -> Joined:
    """Merge two copies of a pool into a new pool. Both stay unchanged.

    Args:
        target: The new pool's folder, which must be missing or empty.
        tell: As in `join`.

    Raises:
        InputError: The folder is not empty, or as in `join`.
        Contradiction: As in `join`; then there is no new pool.
        StorageError: As in `join`.
    """
    _expect_two(first, second)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(
            f"{target} already exists. Name a new folder; to merge {second} into {first} itself,"
            " leave out --into."
        )
    if not target.parent.is_dir():
        raise InputError(f"{target}: no such folder: {target.parent}.")
    with naming(target):
        aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        copy_folder(first, aside)
        joined = _join(aside, second, first, tell)
        with naming(target):
            with suppress(FileNotFoundError):
                target.rmdir()
            aside.chmod(0o755)
            rename(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return joined


def _join(folder: Path, second: Path, called: Path, tell: Callable[[str], None]) -> Joined:
    """Merge another copy into a pool, which messages call `called`."""
    heads = [_checked(path, tell) for path in (folder, second)]
    with locked(folder / LOCK), locked(Ledger(folder / LEDGER).lock):
        put_back(folder)  # leftovers of a killed merge
        before = UnionSide.of(str(called / LEDGER), content_of(folder / LEDGER))
        theirs = UnionSide.of(str(second / LEDGER), content_of(second / LEDGER))
        lines, notes = union_of(before, theirs, folder)
        state = _state(folder, lines)
        evolutions = dict(_evolutions(folder, second, called))
        _take_teams(folder, second, state)
        for name, manifest in evolutions.items():
            _take_evolution(folder, name, second / EVOLUTIONS / name, manifest)
        write_atomically(folder / LEDGER, b"".join(line.text for line in lines))
        for agent in state.agents.values():
            AgentFolders(folder).write(agent, state.learnt)
        Scaffold(pool=folder, tell=tell).follow(state.heads)
    return Joined(
        lines=len(lines),
        new=len(lines) - len(before.lines),
        notes=(*notes, *_of_heads(heads, state)),
    )


def _expect_two(folder: Path, second: Path) -> None:
    for path in (folder, second):
        ledger_in(path, whole=True)
    if folder.samefile(second):
        raise InputError(f"{folder} and {second} are the same folder. Name two copies of a pool.")


def _checked(folder: Path, tell: Callable[[str], None]) -> str:
    """Open a pool, which repairs leftovers of a crash, and return its head's name."""
    head = Pool.open(folder, report=tell).head
    return head.name if head else ""


def _state(folder: Path, lines: Sequence[UnionLine]) -> State:
    state = State(folder)
    for line in lines:
        state.take(line.entry)
    return state


def _of_heads(heads: Sequence[str], state: State) -> Iterator[str]:
    if len({*heads}) > 1 and all(heads):
        head, others = (
            state.heads[-1].name,
            [name for name in heads if name != state.heads[-1].name],
        )
        yield (
            f"both sides have a head: {' and '.join(heads)}. The head is now {head};"
            f" {' and '.join(others)} stays as an ordinary team."
        )


def _take_teams(folder: Path, second: Path, state: State) -> None:
    """Copy the files of teams; of two different files of a team, either copy chooses the same."""
    make_folders(folder)
    for member in state.teams.values():
        theirs = second / TEAMS / member.path.name
        if not theirs.is_file():
            continue
        if not member.path.is_file():
            write_atomically(member.path, content_of(theirs))
        elif content_of(member.path) != content_of(theirs):
            right = [path for path in (member.path, theirs) if _is(path, member.content_hash)]
            _write(member.path, min(map(content_of, right or [member.path])))


def _is(path: Path, content_hash: str) -> bool:
    try:
        return read_team(path).content_hash == content_hash
    except (ConfigError, InputError):
        return False


def _write(path: Path, text: bytes) -> None:
    if not path.is_file() or content_of(path) != text:
        write_atomically(path, text)


def _evolutions(folder: Path, second: Path, called: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the evolutions of another copy, each with its new manifest."""
    for path in _folders_in(second / EVOLUTIONS):
        own, name = folder / EVOLUTIONS / path.name, called / EVOLUTIONS / path.name
        mine, theirs = (_text(file / MANIFEST) for file in (own, path))
        if mine is None or theirs is None:
            yield path.name, theirs
            continue
        turns = sorted((_text(file / TURNS) or "" for file in (own, path)), key=len)
        if not turns[1].startswith(turns[0]):
            raise Contradiction(
                f"{name} and {path} are one evolution that diverged. Nothing was merged. Keep one"
                " of the two, and import the teams of the other one: mas-pool import."
            )
        yield path.name, united_manifests(str(name), mine, str(path), theirs)


def _folders_in(evolutions: Path) -> Sequence[Path]:
    """Return the folders of evolutions, without leftovers of a crash."""
    return sorted(path for path in evolutions.glob("[!.]*") if path.is_dir())


def _text(path: Path) -> str | None:
    return content_of(path).decode("utf-8", "backslashreplace") if path.is_file() else None


def _take_evolution(folder: Path, name: str, theirs: Path, manifest: str | None) -> None:
    """Copy an evolution with its journal, unless the pool's own went further."""
    own = folder / EVOLUTIONS / name
    sizes = [_size(path / TURNS) if path.is_dir() else -1 for path in (own, theirs)]
    if sizes[0] < sizes[1]:
        replace_evolution(folder, name, theirs, manifest)
    elif manifest is not None:
        _write(own / MANIFEST, manifest.encode())


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
