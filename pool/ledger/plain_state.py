"""Converts the state of a pool to a plain value and back, for snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ...runtime.values.usage import COUNT_NAMES
from ...schema.team.building import agent_of
from ...schema.team.team import Lineage
from ...schema.team.writing import agent_value
from ...schema.values.codec import from_value, to_value
from ...schema.values.values import is_list
from ..values.layout import LEDGER, agent_file_of, file_of
from ..values.places import Places
from ..values.statistics import FIGURES, Past, Sums, TrialTotals
from .agents import PoolAgent, Revision
from .lessons import Lessons
from .members import Member
from .recent import Recent
from .records import TrialRecord
from .shape import has_types
from .state import State, is_name

Totals = TypeVar("Totals", Sums, Past)
MOST = 1e18


def value_of(state: State) -> tuple[dict[str, Any], list[bytes]]:
    """Return a state as a plain value, and its large tables as bytes."""
    value = {
        "teams": [_team(team) for team in state.teams.values()],
        "agents": [_agent(agent) for agent in state.agents.values()],
        "rejected": state.rejected,
        "twins": state.duplicates,
        "heads": [head.name for head in state.heads],
        "shared": state.shared,
        "numbers": state.numbers,
        "recent": [[split, *map(list, recent.tasks)] for split, recent in state.recent.items()],
        "episodes": state.episodes,
        "learnt": state.learnt.value(),
    }
    return value, [state.learnt.offsets, *state.trials.places.packed()]


def state_of(folder: Path, value: Mapping[str, Any], tables: Sequence[bytes]) -> State:
    """Build a state from its value."""
    learnt, *places = tables
    lessons = Lessons.of(folder / LEDGER, value["learnt"], learnt)
    state = State(folder, is_begun=True, learnt=lessons)
    state.trials.places = Places(*places)
    counts = {"rejected": state.rejected, "twins": state.duplicates, "numbers": state.numbers}
    for name, counted in counts.items():
        counted.update({_text(key): _whole(count) for key, count in value[name].items()})
    state.episodes.update({_text(item): _whole(last) for item, last in value["episodes"].items()})
    state.shared = bool(value["shared"])
    for entry in value["teams"]:
        team = _team_of(folder, entry, state)
        _expect(team.lineage.parents, state.teams)
        state.bear(team)
    for entry in value["agents"]:
        agent = _agent_of(folder, entry, state)
        _expect((*agent.lineage.parents, *agent.inherits), state.agents)
        state.agents.bear(agent)
    state.heads = [state.teams[name] for name in value["heads"]]
    for split, *tasks in value["recent"]:
        recent = state.recent[_text(split)] = Recent(split)
        recent.fill(((_text(niche), _text(task)) for niche, task in tasks), state.teams.values())
    return state


def _record(record: TrialRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "born": to_value(record.lineage),
        "stem": record.stem,
        "retired": record.retired,
        "totals": [[*key, *_figures(totals)] for key, totals in record.totals.items()],
    }


def _recorded(value: Mapping[str, Any], state: State) -> dict[str, Any]:
    """Return the common fields of teams and agents."""
    name = _text(value["name"])
    if not is_name(name) or state.find(name):
        raise ValueError(f"{name!r} cannot name a new member")
    if not has_types({"kind": "twin", "team": name, "lineage": value["born"]}):
        raise TypeError(f"{value['born']!r} is not a lineage")
    return {
        "name": name,
        "lineage": from_value(Lineage, value["born"]),
        "stem": _text(value["stem"]),
        "retired": _optional_text(value["retired"]),
        "totals": {
            (_text(split), _optional_text(niche)): _totals(figures)
            for split, niche, *figures in value["totals"]
        },
        "trials": state.trials,
    }


def _team(member: Member) -> dict[str, Any]:
    return {
        **_record(member),
        "identity": member.identity,
        "content_hash": member.content_hash,
        "tasks": [[*apart, *map(_flat, sums.items())] for apart, sums in member.by_task.items()],
        "past": [[*apart, *map(_flat, past.items())] for apart, past in member.by_past.items()],
    }


def _team_of(folder: Path, value: Mapping[str, Any], state: State) -> Member:
    return Member(
        **_recorded(value, state),
        path=folder / file_of(value["name"]),
        identity=_text(value["identity"]),
        content_hash=_text(value["content_hash"]),
        by_task={
            (_text(split), kind): {
                (_text(niche), _text(task)): _checked(Sums(*map(_number, sums)))
                for niche, task, *sums in tasks
            }
            for split, kind, *tasks in value["tasks"]
        },
        by_past={
            (_text(split), kind): {
                _text(niche): _checked(Past(*map(_number, past))) for niche, *past in niches
            }
            for split, kind, *niches in value["past"]
        },
    )


def _flat(item: tuple[Any, Sequence[float]]) -> list[Any]:
    key, numbers = item
    return [*key, *numbers] if isinstance(key, tuple) else [key, *numbers]


def _agent(agent: PoolAgent) -> dict[str, Any]:
    revisions = [
        {
            "agent": agent_value(revision.agent),
            "reason": revision.reason,
            "edits": revision.edits,
            "op": revision.op,
        }
        for revision in agent.revisions
    ]
    return {**_record(agent), "inherits": agent.inherits, "revisions": revisions}


def _agent_of(folder: Path, value: Mapping[str, Any], state: State) -> PoolAgent:
    name = value["name"]
    if not value["revisions"]:
        raise ValueError("an agent has a first revision")
    for revision in value["revisions"]:
        if not has_types({"kind": "revised", "agent": name, "value": revision["agent"]}):
            raise TypeError(f"{revision!r} is not a revision")
    revisions = tuple(
        Revision(
            agent=agent_of(name, item["agent"]),
            reason=_text(item["reason"]),
            edits=_texts(item["edits"]),
            op=_text(item["op"]),
        )
        for item in value["revisions"]
    )
    return PoolAgent(
        **_recorded(value, state),
        path=folder / agent_file_of(name),
        revisions=revisions,
        inherits=_texts(value["inherits"]),
    )


def _figures(totals: TrialTotals) -> list[float]:
    return [*totals.sums.values(), *totals.usage.values()]


def _totals(figures: Sequence[Any]) -> TrialTotals:
    numbers = [_number(figure) for figure in figures]
    own, counts = numbers[: len(FIGURES)], numbers[len(FIGURES) :]
    return TrialTotals(
        sums=dict(zip(FIGURES, own, strict=True)),
        usage=dict(zip(COUNT_NAMES, counts, strict=True)),
    )


def _expect(names: Sequence[str], members: Mapping[str, Any]) -> None:
    for name in names:
        if name not in members:
            raise ValueError(f"{name!r} was not born before")


def _texts(value: Any) -> tuple[str, ...]:
    if not is_list(value):
        raise TypeError(f"{value!r} is not a list")
    return tuple(map(_text, value))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _optional_text(value: Any) -> str | None:
    return None if value is None else _text(value)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not an integer")
    return value


def _number(value: Any) -> Any:
    if type(value) is not int and type(value) is not float:
        raise TypeError(f"{value!r} is not a number")
    if not -MOST < value < MOST:
        raise ValueError(f"{value!r} is out of range")
    return value


def _checked(totals: Totals) -> Totals:
    if totals.n < 1:
        raise ValueError(f"{totals!r} has no trial")
    return totals
