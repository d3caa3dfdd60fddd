"""The entries of a pool's memory, each with its origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...pool.ledger.learnt import Learnt
from ...runtime.view import Links, Page, word
from .choices import filtered
from .pool_source import PoolSource
from .templates import TEMPLATES


def memory_page(source: PoolSource, page: tuple[str, int], links: Links) -> Page:
    """Return a page of memory entries, the newest first.

    Raises:
        NoPage: There is no such filter.
        StorageError: The pool is damaged.
    """
    entries = [*source.pool.learnt.values()][::-1]
    _, part, labels = filtered("memory", entries, _choices(source), page, links)
    teams = {team.content_hash: team.name for team in source.pool.teams.values()}
    return TEMPLATES.page(
        "Memory",
        "memory.html",
        links,
        choices=labels,
        part=part,
        entries=[_entry(item, source, teams, links) for item in part.shown],
    )


def _choices(source: PoolSource) -> Mapping[str, Callable[[Learnt], bool]]:
    learnt = source.pool.learnt
    kinds = sorted({entry.kind for entry in learnt.values()})
    niches = sorted({entry.niche for entry in learnt.values() if entry.niche})
    owners = sorted({owner for entry in learnt.values() for owner in entry.owners})
    return {
        "all": lambda _: True,
        "standing": lambda item: learnt.stands(item.id),
        **{f"kind {word(kind)}": lambda item, kind=kind: item.kind == kind for kind in kinds},
        **{f"on {word(niche)}": lambda item, niche=niche: item.niche == niche for niche in niches},
        **{f"of {word(owner)}": lambda item, owner=owner: owner in item.owners for owner in owners},
    }


def _entry(
    entry: Learnt, source: PoolSource, teams: Mapping[str, str], links: Links
) -> Mapping[str, Any]:
    by = source.pool.learnt.replaced_by(entry.id)
    team = teams.get(entry.team or "", "")
    return {
        "id": entry.id,
        "anchor": links.id(f"entry-{entry.id}"),
        "text": entry.text,
        "task": entry.task,
        "team": team,
        "team_page": links.to("", f"team/{team}") if team else "",
        "replaced_by": "" if by is None else by.id,
        "facts": [
            ("Kind", entry.kind),
            ("Niche", entry.niche),
            ("Whose", ", ".join(entry.owners) or "everybody's"),
            ("Given by", entry.giver),
            ("Reaches", entry.level),
            ("From the task", entry.case),
            ("Round", entry.turn),
            ("Credit", None if entry.credit is None else f"{entry.credit:.3g}"),
            ("Reward", None if entry.reward is None else f"{entry.reward:.3g}"),
            ("Run", entry.run),
            ("Stands for", ", ".join(entry.replaces)),
        ],
        "tried": [
            (
                operator.operator,
                operator.component or "",
                teams.get(operator.team or "", ""),
                "" if operator.reward is None else f"{operator.reward:.3g}",
            )
            for operator in entry.operators
        ],
    }
