"""What a recipe says of a team that evolves as a team; numbers are those of Meta-Team, App. F."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ....runtime.values.terminal import counted

Scheme = Literal["none", "centralised", "partitioned", "collaborative"]
LEVELS = ("agent_level", "pair_level", "team_level")
TOGETHER = ("evidence", "discussion")
"""What is between agents, so only one scheme has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrospectiveSettings:
    """How a team works, looks back and changes. `meta_team.schema.json` tells units and bounds.

    Attributes:
        scheme: How what happened is looked at: by nobody; by one analyser that reads all of it; by
            one for each agent, alone; or by the agents, who ask each other (Table 2).
        agent_level: Whether agents change their own notes (L1).
        pair_level: Whether those who worked together change what they know of each other (L2).
        team_level: Whether the team changes its rules, who is in it and who reports to whom (L3).
        retry: Whether a task is done again by the changed team, where the team asks for it.
        evidence: How many questions an agent may ask its colleagues when it looks back.
        looks: How many times an agent may look at the files that it worked on.
        discussion: How many rounds the team talks about itself before its lead decides.
        edges: How many edges among those who stay may change after a task.
        reference: Whether the team is shown the reference answer when the task is over.
        roster: Whether an open roster stays open, or everybody in it works on every task.
        alive: The most agents at work at once, in an open roster; None: as its team file says.
        messages: The most messages of a task, in an open roster; None: as its team file says.
        turns: The most turns of an agent, in an open roster; None: as its team file says.
        seconds: The most seconds of a run; None: as its team file says.
        usd: The most USD of a run; None: as much as the evolution has left.
        phase_steps: The most model calls of one phase of looking back.
        phase_seconds: The most seconds that models may take to answer in one phase.
        phase_usd: The most USD of one phase; None: as much as the evolution has left.
        budget_share: What share of all these an evolution has.
        most_agents: The most agents that the team may grow to.
        patches: The most rules of conduct that an agent may keep.
        skills: The most skills that an agent may keep.
        note: The most characters of a single note.
        constitution: The most characters of the constitution.
        read: The most characters that an agent may have to read ahead of a task.
    """

    scheme: Scheme = "collaborative"
    agent_level: bool = True
    pair_level: bool = True
    team_level: bool = True
    retry: bool = True
    evidence: int = 2
    looks: int = 3
    discussion: int = 2
    edges: int = 2
    reference: bool = False
    roster: Literal["open", "closed"] = "open"
    alive: int | None = None
    messages: int | None = None
    turns: int | None = None
    seconds: float | None = None
    usd: float | None = None
    phase_steps: int = 50
    phase_seconds: float = 900
    phase_usd: float | None = 50
    budget_share: float = 1
    most_agents: int = 8
    patches: int = 12
    skills: int = 6
    note: int = 600
    constitution: int = 4_000
    read: int = 24_000

    @property
    def looks_back(self) -> bool:
        """Whether anything can change."""
        levels = (self.agent_level, self.pair_level, self.team_level)
        return self.scheme != "none" and any(levels)


def check(settings: RetrospectiveSettings, said: Mapping[str, Any]) -> Mapping[str, str]:
    """Find fields that somebody wrote and that nothing would read beside the others."""
    here = f"here is scheme: {settings.scheme}. Leave one of them out."
    found: dict[str, str] = {}
    if settings.scheme == "none":
        unread = (*LEVELS, "retry", "reference", "edges", "looks", *TOGETHER)
        found |= {one: f"nobody looks back, since {here}" for one in unread if one in said}
    elif not settings.looks_back:
        found["scheme"] = "nothing would change: no level is left. Write scheme: none for that."
    if settings.scheme in {"centralised", "partitioned"}:
        why = f"agents talk to each other with scheme: collaborative only, and {here}"
        found |= {name: why for name in TOGETHER if name in said}
    if "looks" in said and (settings.scheme == "centralised" or not settings.agent_level):
        found["looks"] = f"agents look at files with agent_level only, and {here}"
    if settings.looks_back and not settings.team_level:
        why = "without team_level the team changes nothing. Leave one of them out."
        found |= {name: why for name in ("discussion", "edges") if name in said}
    if settings.roster == "closed" and "alive" in said:
        found["alive"] = "all are at work at once with roster: closed. Leave one of them out."
    return found


def foretells(settings: RetrospectiveSettings) -> str:
    """Say what happens on a task."""
    if not settings.looks_back:
        return "the head works; nobody looks back, and it stays as it is"
    does = {
        "agent_level": "agents on themselves",
        "pair_level": "pairs that exchanged messages on each other",
        "team_level": "the team on its rules, its roster and its edges",
    }
    levels = [told for name, told in does.items() if getattr(settings, name)]
    asked = counted(settings.evidence, "question")
    looks = {
        "centralised": "one analyser looks back for all",
        "partitioned": "each looks back alone",
        "collaborative": f"they look back, with up to {asked} each",
        "none": "",
    }
    once_more = "; once more, if the team asks for it" if settings.retry else ""
    return f"the head works; {looks[settings.scheme]}: {', '.join(levels)}{once_more}"
