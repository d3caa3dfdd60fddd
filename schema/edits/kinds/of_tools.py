"""Edits of what an agent may use."""

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
"""Of an agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfTool(OfAgent):
    """An edit of whether an agent has a tool."""

    component: ClassVar[Component] = "tools"

    tool: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The tool, in the hands of the agent."""
        return (("agents", self.agent, "tools", self.tool),)


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantTool(OfTool):
    """Lets an agent use one more tool. A list of tools in alphabetical order stays in order."""

    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Put the tool where the alphabet has it."""
        tools: list[str] = agent.setdefault("tools", [])
        insert(tools, self.tool, {tool: (tool,) for tool in (*tools, self.tool)})
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer each agent that can use tools those that it does not have."""
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
        """Take the tool out, where it is there."""
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
        """Grant and revoke, where that leads to the very list."""
        match change.path:
            case ("agents", str(agent), "tools"):
                yield from _tool_edits(agent, tuple(change.before), tuple(change.after))
            case _:
                pass


def distinguishable(tools: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Leave out tools that a model could not tell from others."""
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
