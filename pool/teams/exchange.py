"""Imports teams from another pool, with their lineage and their scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from ...schema.values.codec import from_value
from ..ledger.changes import Evaluated, Restored, Retired
from ..ledger.ledger import IMPORTED, LedgerEntry
from ..ledger.members import Member
from ..ledger.state import Admission
from ..values.statistics import Trial
from .lineage import ancestors
from .pool import Pool


def import_teams(
    pool: Pool, source: Pool, names: Sequence[str], *, op: str | None = None
) -> tuple[Admission, ...]:
    """Import teams of another pool, with all their ancestors.

    Ancestors are added as retired teams, so that lineage is complete. An equal team of the pool
    replaces an imported one. Taken names are changed. Evaluations are imported too: each once,
    however often and by whatever route it is imported.

    Args:
        op: The import's name, so that it counts once. None: retired teams are restored each time.

    Returns:
        An admission for each team.

    Raises:
        InputError: The source has no such team.
        ConfigError: A team does not load here, or is above the pool's ceiling.
        StorageError: A pool cannot be read or written.
    """
    for name in names:
        source.member(name)
    family = {ancestor for name in names for ancestor in ancestors(source.teams, name)}
    entries = (entry for entry in source.entries() if _is(entry, "born"))
    births = {entry.value["team"]: entry for entry in entries if "team" in entry.value}
    ops = {entry.op for entry in pool.entries()}
    here = dict[str, Admission]()
    for name in (team for team in source.teams if team in family):
        birth = _operation(births[name])
        if birth not in ops and (duplicate := pool.duplicate_of(source.member(name).team)):
            here[name] = Admission(name=duplicate, is_new=False)
            continue
        added = _added(pool, source.member(name), here, op=birth)
        here[name] = replace(added, is_new=birth not in ops)
        if name not in names:
            reason = f"came along as an ancestor of {', '.join(names)}"
            pool.commit(Retired(member=added.name, reason=reason), op=f"{birth}/retired")
    for name in names:
        restored = f"restore/{uuid4().hex}" if op is None else f"{op}/{name}"
        pool.commit(Restored(member=here[name].name), op=restored)
    _copy_trials(pool, source, {word: admission.name for word, admission in here.items()})
    return tuple(here[name] for name in names)


def _added(pool: Pool, member: Member, here: Mapping[str, Admission], *, op: str) -> Admission:
    parents = tuple(here[parent].name for parent in member.lineage.parents)
    lineage = replace(member.lineage, parents=parents)
    return pool.add(member.team, lineage, op=op, name=member.name)


def _copy_trials(pool: Pool, source: Pool, names: Mapping[str, str]) -> None:
    ops = {_operation(entry) for entry in pool.entries()}
    for entry in source.entries():
        op = _operation(entry)
        if _is(entry, "evaluated", "failed") and entry.value["team"] in names and op not in ops:
            trial = from_value(Trial, entry.value)
            # Agents are not imported, and the other pool's may have the same names.
            pool.commit(
                Evaluated(member=names[entry.value["team"]], trial=replace(trial, agents={})), op=op
            )


def _is(entry: LedgerEntry, *kinds: str) -> bool:
    return entry.value["kind"] in kinds


def _operation(entry: LedgerEntry) -> str:
    """Return an operation's name that is the same in every pool that imports it."""
    if entry.op.startswith(IMPORTED):
        return entry.op
    text = json.dumps([entry.op, entry.value], sort_keys=True)
    return f"{IMPORTED}{hashlib.sha256(text.encode()).hexdigest()}"
