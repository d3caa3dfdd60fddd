"""Maintenance of a pool's folder: finds damage, and repairs what is left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from ...schema import dump
from ...schema.host.catalogue import Catalogue
from ...schema.loading.loading import load_team
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError, StorageError
from ...schema.values.files import locked, sync, write_atomically
from ...schema.values.problems import quoted
from ..folder.agent_folders import AgentFolders
from ..folder.own_files import ledger_in
from ..ledger.changes import Retired
from ..ledger.ledger import Ledger, LedgerEntry, entry_of, line_of
from ..ledger.members import Member
from ..ledger.scaffold import Scaffold
from ..ledger.shape import misshapen
from ..ledger.state import State, first_line, in_order
from ..teams.pool import Pool
from ..values.layout import LEDGER, PENDING, TEAMS, file_of
from .reverts import put_back, reverts


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """The result of verifying a pool.

    Attributes:
        lines: The number of whole ledger lines.
        teams: The number of all teams.
        members: The number of teams that are not retired.
        agents: The number of all agents.
        faults: Problems that make the pool, or a member, unusable.
        notes: Harmless findings: leftovers of a crash, files of retired teams.
    """

    lines: int
    teams: int
    members: int
    agents: int
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def verify(folder: Path, catalogue: Catalogue | None = None) -> Findings:
    """Check a pool, from the first line of its ledger to the last of its files.

    Every line must be whole and match `ledger.schema.json`. Every parent must be born before its
    child, so lineage has no cycle. Every team's file must load, and hold the team that was born,
    with its lineage. Every agent's files must match the ledger.

    Args:
        catalogue: The names that teams may use. Default: installed ones.

    Raises:
        InputError: There is no pool.
    """
    ledger = Ledger(ledger_in(folder))
    state, faults, notes, read = State(folder), list[str](), list[str](), list[LedgerEntry]()
    lines = 0
    try:
        read.extend(ledger.read())
    except StorageError as error:
        faults.append(str(error))
    entries = in_order(read, folder)
    for entry in entries:
        where = f"{ledger.path}: line {entry.end.line}"
        faults += (f"{where}: {name}" for name in misshapen(entry.value))
        try:
            state.take(entry)
        except ValueError as error:
            faults.append(f"{where}: {error}.")
            break
        lines += 1
    if entries is not read:
        notes.append(
            f"{ledger.path}: some lines are out of order, as after a merge. The next process to"
            " open the pool sorts them."
        )
    if not faults:
        notes += _left_behind(ledger.path, state, read[-1].end.offset if read else 0)
    own_catalogue = catalogue or Catalogue.of_host()
    for member in state.teams.values():
        (faults if member.retired is None else notes).extend(_faults_of(member, own_catalogue))
    for agent in state.agents.values():
        behind, wrong = AgentFolders(folder).differences(agent, state.learnt)
        notes += (f"{name} The next process to open the pool updates it." for name in behind)
        (faults if agent.retired is None else notes).extend(wrong)
    notes += _of_scaffold(folder, state)
    removals, paths = reverts(folder), {file_of(name) for name in state.teams}
    # Half a revert, even of a retired team: its line is still there, but its file is not.
    is_broken = bool(faults) or any(paths & revert.files.keys() for revert in removals)
    (faults if is_broken else notes).extend(
        f"{revert}. git revert cannot undo changes of a pool; mas-pool undo can."
        + (" First restore it with: mas-pool verify --repair." if is_broken else "")
        for revert in removals
    )
    return Findings(
        lines=lines,
        teams=len(state.teams),
        members=len(state.teams.live),
        agents=len(state.agents),
        faults=tuple(faults),
        notes=tuple(notes),
    )


def repair(folder: Path, catalogue: Catalogue | None = None) -> list[str]:
    """Repair a damaged pool as far as possible, so that it opens again; describe each repair.

    Content that `git revert` removed is restored. Damaged ledger lines, and lines that refer to
    lost ones, are left out; a copy of the damaged ledger stays beside the new one. Members whose
    files are lost or hold another team are retired. Files of agents are rewritten from the ledger.
    Nothing else is removed: see `Pool.remove_orphans`.

    Args:
        folder: The pool. No other process should be using it.
        catalogue: The names that teams may use. Default: installed ones.

    Raises:
        InputError: There is no pool.
        StorageError: The pool cannot be written, or another version of coterie wrote it.
    """
    ledger_in(folder)
    result = reverts(folder)
    repairs = [*put_back(folder, result)] if result and verify(folder, catalogue).faults else []
    repairs += _salvage(folder / LEDGER)
    pool = Pool(folder, catalogue=catalogue, report=repairs.append)
    pool.remove_orphans(dry_run=True)  # reads the whole ledger, and repairs its end
    for member in tuple(pool.members.values()):
        if not member.is_readable:
            reason = "its file is lost, or holds another team"
            pool.commit(Retired(member=member.name, reason=reason), op=f"repair/{member.name}")
            repairs.append(f"{member.name} was retired: {reason}.")
        elif _tells_otherwise(member.team, member):
            team = replace(member.team, name=member.name, lineage=member.lineage)
            write_atomically(member.path, dump(team))
            repairs.append(f"{member.path}: name and lineage were restored from the ledger.")
    folders = AgentFolders(folder)
    for agent in pool.all_agents.values():
        for path in folders.write(agent, pool.learnt):
            repairs.append(f"{path}: was restored from the ledger.")
    return repairs


def _of_scaffold(folder: Path, state: State) -> Iterator[str]:
    """Yield harmless differences between the head's folder and the ledger."""
    scaffold = Scaffold(pool=folder, tell=lambda _message: None)
    try:
        look = scaffold.difference(state.heads)
    except StorageError:
        return  # the head's own file is damaged, which is reported elsewhere
    for name in look.behind:
        yield (
            f"{scaffold.folder / name}: outdated after a crash. The next process to open the pool"
            " updates it."
        )
    for name in look.edited:
        yield (
            f"{scaffold.folder / name}: edited. mas-pool adopt adopts it; otherwise, it is copied"
            " aside when the head changes."
        )
    for name in look.strange:
        yield f"{scaffold.folder / name}: not part of the team; left unchanged."


def _left_behind(path: Path, state: State, end: int) -> Iterator[str]:
    """Yield leftovers of operations that did not reach their line."""
    if (size := path.stat().st_size) > end:
        yield (
            f"{path}: the last line is incomplete, because a process or the machine stopped: its"
            f" {size - end} bytes are ignored. The next update removes them."
        )
    if (pending := path.parent / PENDING).exists():
        yield (
            f"{pending}: some of the pool's first teams may be missing. Repeat the command that"
            " created the pool to add them."
        )
    owned = {member.path for member in state.teams.values()}
    for file in sorted((path.parent / TEAMS).glob("*")):
        if file.is_file() and file not in owned:
            yield f"{file}: belongs to no team. mas-pool verify --delete removes it."
    for name in AgentFolders(path.parent).orphans(state.agents.values()):
        yield f"{path.parent / name}: belongs to no agent. mas-pool verify --delete removes it."


def _faults_of(member: Member, catalogue: Catalogue) -> Iterator[str]:
    try:
        team = member.expected(load_team(member.path, catalogue))
    except ConfigError as error:
        yield from map(str, error.problems)
    except (InputError, StorageError) as error:
        yield str(error)
    else:
        if _tells_otherwise(team, member):
            yield f"{member.path}: its name or its lineage differs from the ledger."


def _tells_otherwise(team: Team, member: Member) -> bool:
    return (team.name, team.lineage) != (member.name, member.lineage)


def _salvage(path: Path) -> list[str]:
    with locked(Ledger(path).lock):
        usable, lost = _sorted_out(path)
        if not lost:
            return []
        copy = next(
            copy
            for number in count(1)
            if not (copy := path.with_name(f"{path.name}.damaged-{number}")).exists()
        )
        shutil.copyfile(path, copy)
        sync(copy)
        write_atomically(path, usable.decode())
    return [*lost, f"{path}: rewritten without them; the original is {copy}."]


def _sorted_out(path: Path) -> tuple[bytes, list[str]]:
    """Separate usable lines from unusable ones, which are described one by one."""
    first = _first(path)
    state, ops, usable, lost = State(path.parent), set[str](), [first], list[str]()
    _why_not(first, state, set())
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        if why := _why_not(line + b"\n", state, ops):
            lost.append(f"{path}: line {number} was removed: {why}.")
        elif line + b"\n" != first:
            usable.append(line + b"\n")
    return b"".join(usable), lost


def _first(path: Path) -> bytes:
    """Return the first line of a pool's ledger, or a new one if it is unreadable."""
    with path.open("rb") as lines:
        first = lines.readline()
    with suppress(ValueError):
        entry = entry_of(first)
        if entry and entry.value in (first_line(), first_line(shared=True)):
            return first
    return line_of(first_line(), "pool", clock=1)


def _why_not(line: bytes, state: State, ops: set[str]) -> str:
    """Return why a line is unusable; if it is usable, apply it to the state."""
    try:
        entry = entry_of(line)
    except ValueError as error:
        return f"it {error}"
    if entry is None:
        return "it does not match its checksum"
    if entry.op in ops:
        return f"it repeats the operation {quoted(entry.op)}"
    try:
        state.take(entry)
    except ValueError as error:
        if entry.value.get("kind") == "pool" and isinstance(entry.value.get("v"), int):
            raise StorageError(f"{error}. Nothing was changed.") from None
        return str(error)
    ops.add(entry.op)
    return ""
