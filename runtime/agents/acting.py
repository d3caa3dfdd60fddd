"""How an agent of an open roster acts on its team: by tools, or by an object without tools.

A tool reports at once what an act will do, and changes nothing. It is journaled like any tool, so a
turn's acts are read from its tool calls. An agent whose backend has no tools answers with an
object, whose acts are executed through the same tools.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...schema.values.problems import quoted
from ..tools import GrantedTool, Tool, ToolError
from ..values.structured import parse_structured
from .acts import act_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.workspace import Workspace
    from .acts import Act
    from .seat import Seat

MOST_IN_OBJECT = 8
"""The most acts of one object."""

TEXT = {"type": "string", "description": "What it reads. It sees nothing else of what you know."}
WHOM: Mapping[str, Mapping[str, Any]] = {
    "start_agent": {
        "agent": {"type": "string", "description": "The id of a candidate who is not active."},
        "text": TEXT,
    },
    "stop_agent": {"agent": {"type": "string", "description": "The id of an active agent."}},
    "send": {
        "to": {"type": "string", "description": "The id of an active colleague."},
        "text": TEXT,
    },
    "finalize": {"answer": {"type": "string", "description": "The whole answer to the task."}},
    "terminate": {"reason": {"type": "string", "description": "Why there can be no answer."}},
    "list_pool": {},
}
"""The arguments of each act."""

WHAT: Mapping[str, str] = {
    "list_pool": "See who is in the team: what they are, what they can use, and who is active.",
    "start_agent": "Have a candidate join the team's work, and tell it what you want of it.",
    "stop_agent": "Have an agent leave the team's work; it ends the turn that it is in.",
    "send": "Write to a colleague who is active.",
    "finalize": "Hand in the team's answer. That ends the work of all.",
    "terminate": "Give up without an answer. That ends the work of all.",
}


@dataclass(kw_only=True, eq=False)
class Acting:
    """The acts available to one agent in one attempt at a turn.

    Attributes:
        tools: The available acts as tools, by name.
    """

    seat: Seat
    tools: Mapping[str, GrantedTool]
    acts: list[Act] = field(default_factory=list["Act"])

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the object by which an agent without tools acts.

        It lists the possible recipients, so that a constrained model cannot name another.
        """
        items = [
            {
                "type": "object",
                "properties": {"act": {"const": name}, **arguments},
                "required": ["act", *arguments],
                "additionalProperties": False,
            }
            for name, arguments in self._choices()
        ]
        return self._form({"items": {"anyOf": items}} if items else {"maxItems": 0})

    def checked(self, text: str) -> tuple[Any, list[str]]:
        """Parse and check the object that an agent answered with, without acting.

        Returns:
            The object, and its problems as sentences that a model can act on. If the object fits
            the schema but some of its acts are impossible, `do` leaves these out.
        """
        value, problems = parse_structured(text, self._form({"items": {"type": "object"}}))
        if problems:
            return None, problems
        return value, [*self._problems(value["acts"])]

    async def do(self, chosen: Sequence[Mapping[str, Any]]) -> None:
        """Execute the acts of an object, in order; impossible ones are reported to the trace."""
        for fields in chosen:
            tool = self.tools.get(str(fields.get("act")))
            try:
                await tool.call(_act_arguments(fields)) if tool else None
            except ToolError:
                continue

    def _form(self, acts: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {
                "acts": {"type": "array", "maxItems": MOST_IN_OBJECT, **acts},
                "report": self.seat.report or {"type": "string"},
            },
            "required": ["acts", "report"],
            "additionalProperties": False,
        }

    def _choices(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each possible act, with its possible recipients."""
        seat = self.seat
        about = {
            "start_agent": ("agent", seat.startable),
            "stop_agent": ("agent", seat.stoppable),
            "send": ("to", seat.colleagues),
        }
        for name in seat.may:
            if name == "list_pool":
                continue
            arguments: dict[str, Any] = {
                key: {what: item for what, item in argument.items() if what != "description"}
                for key, argument in _arguments(seat, name).items()
            }
            key, ids = about.get(name, ("", ()))
            if key:
                arguments[key] = {"type": "string", "enum": [*ids]}
            if ids or not key:
                yield name, arguments

    def _problems(self, chosen: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        acts = [*self.acts]
        for number, fields in enumerate(chosen):
            try:
                act = self._read(str(fields.get("act")), _act_arguments(fields))
                self.seat.reply(acts, act)
            except ToolError as error:
                yield f"acts.{number}: {error}"
            else:
                acts.append(act)

    def _read(self, name: str, arguments: Mapping[str, Any]) -> Act:
        if name not in self.tools or name == "list_pool":  # without tools, the pool is shown
            names = [choice for choice, _ in self._choices()]
            raise ToolError(f"no action {quoted(name[:80])}. Choose one of {', '.join(names)}.")
        if (act := act_of(name, arguments)) is None:
            raise ToolError(f"{name} takes {', '.join(_arguments(self.seat, name)) or 'nothing'}.")
        for key, form in _arguments(self.seat, name).items():
            _, problems = parse_structured(json.dumps(arguments[key]), form)
            if problems:
                raise ToolError(f"{key}: {'; '.join(problems)}")
        return act


def _arguments(seat: Seat, name: str) -> dict[str, Mapping[str, Any]]:
    """Return the arguments of an act; an answer has the lead's output schema."""
    form = seat.form if name == "finalize" else None
    return {**WHOM[name]} if form is None else {"answer": form}


def _act_arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """Extract an act's arguments from an object and ignore its other keys."""
    return {key: call[key] for key in WHOM.get(str(call.get("act")), ()) if key in call}


def acting(seat: Seat, workspace: Workspace, emit: Emit, once: Once) -> Acting:
    """Return the acts available to an agent in one attempt at a turn.

    Args:
        emit: Records an event of the agent.
        once: Records the results of its actions.
    """
    granted: dict[str, GrantedTool] = {}
    state = Acting(seat=seat, tools=granted)
    for name in seat.may:
        granted[name] = GrantedTool(
            tool=_tool(name, state), workspace=workspace, emit=emit, once=once
        )
    return state


def _tool(name: str, acting: Acting) -> Tool:
    async def run(arguments: Mapping[str, Any], workspace: Workspace) -> Any:
        del workspace
        if name == "list_pool":
            return _listed(acting.seat)
        act = act_of(name, arguments)
        if act is None:  # the tool's parameters accept nothing else
            raise ToolError(f"{name} does not take {quoted(json.dumps(arguments)[:80])}.")
        reply = acting.seat.reply(acting.acts, act)
        acting.acts.append(act)
        return reply

    arguments = _arguments(acting.seat, name)
    return Tool(
        name=name,
        description=WHAT[name],
        parameters={
            "type": "object",
            "properties": arguments,
            "required": [*arguments],
            "additionalProperties": False,
        },
        run=run,
        keeps_state=True,
    )


def _listed(seat: Seat) -> Mapping[str, Any]:
    mail = seat.mail
    return {
        "agents": seat.pool(),
        "places_left": mail.places_left,
        "messages_left": mail.messages_left,
        "turns_left": mail.turns_left,
    }
