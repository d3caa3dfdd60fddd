"""Edits of an agent's tools."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...host.catalogue import tool_identifier
from ...values.problems import quoted
from ..offer.strict import pairs
from ._edges import insert
from .kind import OfAgent
from .of_agents import OneField

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...values.problems import Path
    from ..changes import FieldChange
    from ..components import Component
    from ..offer._offer import Offer
    from ..offer.strict import Schema
    from .kind import Objection, Value

MOST_TOOLS = 64
"""The maximum number of tools of an agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfTool(OfAgent):
    """An edit that decides whether an agent has a tool."""

    component: ClassVar[Component] = "tools"

    tool: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The tool, as a tool of the agent."""
        return (("agents", self.agent, "tools", self.tool),)


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantTool(OfTool):
    """Grants an agent one more tool. An alphabetical list of tools stays alphabetical."""

    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Insert the tool in alphabetical order."""
        tools: list[str] = agent.setdefault("tools", [])
        insert(tools, self.tool, {tool: (tool,) for tool in (*tools, self.tool)})
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer each agent that can use tools the tools that it lacks."""
        able = [
            agent
            for agent in offer.asking
            if not offer.objects(replace(agent, tools=("some_tool",)))
        ]
        missing = {
            agent.id: distinguishable(offer.tools - {*agent.tools}, agent.tools)[
                : MOST_TOOLS - len(agent.tools)
            ]
            for agent in able
        }
        yield from pairs("grant_tool", "agent", "tool", missing)


@dataclass(frozen=True, kw_only=True, slots=True)
class RevokeTool(OfTool):
    """Takes a tool from an agent."""

    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Remove the tool, or object if the agent does not have it."""
        tools: list[str] = agent.setdefault("tools", [])
        if self.tool in tools:
            tools.remove(self.tool)
        else:
            has = f"It has {', '.join(tools)}." if tools else "It has none."
            yield self, "tool", f"{self.agent} has no tool {quoted(self.tool)}. {has}"

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer each agent's own tools."""
        granted = {agent_id: {*agent.tools} for agent_id, agent in offer.team.agents.items()}
        yield from pairs("revoke_tool", "agent", "tool", granted)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetTools(OneField):
    """Gives an agent exactly these tools, in this order."""

    component: ClassVar[Component] = "tools"
    sets: ClassVar[str] = "tools"

    tools: tuple[str, ...]

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[OfAgent]:
        """Yield grants and revocations if they lead to the same order; else one `SetTools`."""
        match change.path:
            case ("agents", str(agent), "tools"):
                yield from _tool_edits(agent, tuple(change.before), tuple(change.after))
            case _:
                pass


def distinguishable(tools: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the tools, without those that share an identifier with an earlier or another tool."""
    identifiers = {"final_answer", *map(tool_identifier, others)}
    result: list[str] = []
    for tool in sorted(tools):
        if tool_identifier(tool) not in identifiers:
            identifiers.add(tool_identifier(tool))
            result.append(tool)
    return result


def _tool_edits(agent: str, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[OfAgent]:
    rest = [tool for tool in before if tool in after]
    for tool in sorted(set(after) - set(rest)):
        later = (place for place, listed in enumerate(rest) if listed > tool)
        rest.insert(next(later, len(rest)), tool)
    if tuple(rest) != after:
        yield SetTools(agent=agent, tools=after)
        return
    yield from (RevokeTool(agent=agent, tool=tool) for tool in before if tool not in after)
    yield from (GrantTool(agent=agent, tool=tool) for tool in after if tool not in before)
