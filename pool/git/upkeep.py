"""Looking after a pool's folder: finding what is wrong with it, and going on with what is left."""

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
    """What looking through a pool found.

    Attributes:
        lines: Whole lines of the ledger.
        teams: Teams that were ever born.
        members: Those that were not retired.
        agents: Agents that were ever born.
        faults: What keeps the pool, or a member, from being used.
        notes: What is to be known and harms nothing: what a crash left, files of retired teams.
    """

    lines: int
    teams: int
    members: int
    agents: int
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def verify(folder: Path, catalogue: Catalogue | None = None) -> Findings:
    """Look through a pool, from the first line of its ledger to the last of its files.

    Every line is whole, and as `ledger.schema.json` has it. Every parent was born before its child,
    so lineage has no cycle. Every team's file loads, is the team that was born, and has its
    lineage. Every agent's files are as the ledger has the agent, and what it has learnt.

    Args:
        catalogue: What names teams may use. By default, what is installed.

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
            f"{ledger.path}: lines stand ahead of what they come after, as a merge may leave them."
            " The next to open the pool puts them in order."
        )
    if not faults:
        notes += _left_behind(ledger.path, state, read[-1].end.offset if read else 0)
    own_catalogue = catalogue or Catalogue.of_host()
    for member in state.teams.values():
        (faults if member.retired is None else notes).extend(_faults_of(member, own_catalogue))
    for agent in state.agents.values():
        behind, wrong = AgentFolders(folder).differences(agent, state.learnt)
        notes += (f"{name} It is brought up by the next to open." for name in behind)
        (faults if agent.retired is None else notes).extend(wrong)
    notes += _of_scaffold(folder, state)
    removals, paths = reverts(folder), {file_of(name) for name in state.teams}
    # Half a revert, even of a retired team: its line is still there, but its file is not.
    is_broken = bool(faults) or any(paths & revert.files.keys() for revert in removals)
    (faults if is_broken else notes).extend(
        f"{revert}. git revert does not undo what happened to a pool; mas-pool undo does."
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
    """Make a damaged pool one that opens again, with what is left; say what was done.

    What `git revert` took out is put back. Lines of the ledger that are damaged, or that refer to
    what is lost with them, are left out; the damaged ledger is kept beside the new one. Members
    whose files are lost or hold another team are retired. Files of agents are written anew from the
    ledger. Nothing else is removed: see `Pool.remove_orphans`.

    Args:
        folder: The pool. Nobody else should be at work on it.
        catalogue: What names teams may use. By default, what is installed.

    Raises:
        InputError: There is no pool.
        StorageError: The pool cannot be written, or another version of coterie made it.
    """
    ledger_in(folder)
    result = reverts(folder)
    repairs = [*put_back(folder, result)] if result and verify(folder, catalogue).faults else []
    repairs += _salvage(folder / LEDGER)
    pool = Pool(folder, catalogue=catalogue, report=repairs.append)
    pool.remove_orphans(dry_run=True)  # takes in the ledger to its end, and mends that
    for member in tuple(pool.members.values()):
        if not member.is_readable:
            reason = "its file is lost, or holds another team"
            pool.commit(Retired(member=member.name, reason=reason), op=f"repair/{member.name}")
            repairs.append(f"{member.name} was retired: {reason}.")
        elif _tells_otherwise(member.team, member):
            team = replace(member.team, name=member.name, lineage=member.lineage)
            write_atomically(member.path, dump(team))
            repairs.append(f"{member.path}: name and lineage were written anew from the ledger.")
    folders = AgentFolders(folder)
    for agent in pool.all_agents.values():
        for path in folders.write(agent, pool.learnt):
            repairs.append(f"{path}: was written anew from the ledger.")
    return repairs


def _of_scaffold(folder: Path, state: State) -> Iterator[str]:
    """Yield what of the head's folder is not as the ledger has it. That harms nothing."""
    scaffold = Scaffold(pool=folder, tell=lambda _message: None)
    try:
        look = scaffold.difference(state.heads)
    except StorageError:
        return  # the head's own file is at fault, and that is told
    for name in look.behind:
        yield f"{scaffold.folder / name}: a crash left it behind. The next to open brings it up."
    for name in look.edited:
        yield (
            f"{scaffold.folder / name}: edited. mas-pool adopt takes it in; else it is copied aside"
            " when the head changes."
        )
    for name in look.strange:
        yield f"{scaffold.folder / name}: no part of the team. It stays."


def _left_behind(path: Path, state: State, end: int) -> Iterator[str]:
    """Name what operations left that did not get to their line."""
    if (size := path.stat().st_size) > end:
        yield (
            f"{path}: the last line was left unfinished when a process or the machine stopped: its"
            f" {size - end} bytes are ignored. The next update removes them."
        )
    if (pending := path.parent / PENDING).exists():
        yield (
            f"{pending}: teams that the pool was to begin with may be missing. The command that"
            " began it, given again, adds them."
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
            yield f"{member.path}: its name or its lineage is not as the ledger has it."


def _tells_otherwise(team: Team, member: Member) -> bool:
    return (team.name, team.lineage) != (member.name, member.lineage)


def _salvage(path: Path) -> list[str]:
    """Write a damaged ledger anew without the lines that cannot be used."""
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
    return [*lost, f"{path}: was written anew without them; {copy} is what it was."]


def _sorted_out(path: Path) -> tuple[bytes, list[str]]:
    """Tell the lines that can be used from those that cannot, which are told one by one."""
    first = _first(path)
    state, ops, usable, lost = State(path.parent), set[str](), [first], list[str]()
    _why_not(first, state, set())
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        if why := _why_not(line + b"\n", state, ops):
            lost.append(f"{path}: line {number} was left out: {why}.")
        elif line + b"\n" != first:
            usable.append(line + b"\n")
    return b"".join(usable), lost


def _first(path: Path) -> bytes:
    """Return the line that a pool begins with, as far as it can still be read."""
    with path.open("rb") as lines:
        first = lines.readline()
    with suppress(ValueError):
        entry = entry_of(first)
        if entry and entry.value in (first_line(), first_line(shared=True)):
            return first
    return line_of(first_line(), "pool", clock=1)


def _why_not(line: bytes, state: State, ops: set[str]) -> str:
    """Return why a line cannot be used; take it in if it can."""
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
