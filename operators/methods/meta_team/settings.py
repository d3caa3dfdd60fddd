"""The recipe settings of a team that evolves as a team; numbers are those of Meta-Team, App. F."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ....schema.values.terminal import counted

Scheme = Literal["none", "centralised", "partitioned", "collaborative"]
LEVELS = ("agent_level", "pair_level", "team_level")
TOGETHER = ("evidence", "discussion")
"""Settings of exchanges between agents, which only one scheme has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrospectiveSettings:
    """Settings of a team's retrospectives. `mas dev explain settings` shows the fields."""

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
        """Whether a retrospective can change anything."""
        levels = (self.agent_level, self.pair_level, self.team_level)
        return self.scheme != "none" and any(levels)


def check(settings: RetrospectiveSettings, written: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the fields of a recipe that its other settings leave without effect."""
    here = f"here is scheme: {settings.scheme}. Leave one of them out."
    fields: dict[str, str] = {}
    if settings.scheme == "none":
        unread = (*LEVELS, "retry", "reference", "edges", "looks", *TOGETHER)
        fields |= {word: f"no agent reflects, since {here}" for word in unread if word in written}
    elif not settings.looks_back:
        fields["scheme"] = "nothing would change: no level is left. Write scheme: none for that."
    if settings.scheme in {"centralised", "partitioned"}:
        why = f"agents talk to each other with scheme: collaborative only, and {here}"
        fields |= {name: why for name in TOGETHER if name in written}
    if "looks" in written and (settings.scheme == "centralised" or not settings.agent_level):
        fields["looks"] = f"agents look at files with agent_level only, and {here}"
    if settings.looks_back and not settings.team_level:
        why = "without team_level the team changes nothing. Leave one of them out."
        fields |= {name: why for name in ("discussion", "edges") if name in written}
    if settings.roster == "closed" and "alive" in written:
        fields["alive"] = "all are at work at once with roster: closed. Leave one of them out."
    return fields


def foretells(settings: RetrospectiveSettings) -> str:
    """Return a description of what happens on a task."""
    if not settings.looks_back:
        return "the head works; no agent reflects, and it stays unchanged"
    does = {
        "agent_level": "agents on themselves",
        "pair_level": "pairs that exchanged messages on each other",
        "team_level": "the team on its rules, its roster and its edges",
    }
    levels = [doe for name, doe in does.items() if getattr(settings, name)]
    questions = counted(settings.evidence, "question")
    looks = {
        "centralised": "one analyser looks back for all",
        "partitioned": "each looks back alone",
        "collaborative": f"they look back, with up to {questions} each",
        "none": "",
    }
    once_more = "; once more, if the team asks for it" if settings.retry else ""
    return f"the head works; {looks[settings.scheme]}: {', '.join(levels)}{once_more}"
