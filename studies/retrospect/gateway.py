"""The world in the place of models: agents at work, and those who look back.

Everything is a function of the questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.usage import Usage

from ..simulated import usage_of
from .acting import Form
from .landscapes import CRAFTS
from .looking import looked_back, operator_of
from .names import catalogue
from .texts import letters_said, title_in
from .working import Turn
from .world import order_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coterie.runtime.gateway import ChatRequest

    from .landscapes import Landscape

__all__ = ["WORK", "Simulated"]

WORK = "work"
"""What is paid for that no operator asked."""


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        world: Where.
    """

    def __init__(self, world: Landscape) -> None:
        super().__init__(catalogue().models, environment={})
        self._world = world
        self.paid: dict[str, Usage] = {}
        """What was asked for, by who asked: an operator, or agents at work."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        operator = operator_of(request.schema)
        text = looked_back(self._world, request) if operator else _worked(self._world, request)
        usage, who = usage_of(request, text), operator or WORK
        self.paid[who] = self.paid.get(who, Usage()) + usage
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


def _worked(world: Landscape, request: ChatRequest) -> str:
    """Have an agent work: act on its team where it can, else say which letters it has."""
    named = title_in("\n".join(str(one["content"]) for one in request.messages))
    if named is None:
        raise ValueError(f"this is no order of the world: {request.messages[-1]!r}")
    instructions, heard, said = (_said(request, who) for who in ("system", "user", "assistant"))
    form = Form.of(request.schema)
    turn = Turn(
        world=world,
        order=order_of(world, named),
        instructions=instructions,
        heard=heard,
        said=said,
        present=[one for one in CRAFTS if form is not None and one in form.candidates],
        is_open=form is not None,
    )
    if form is None or not form.kinds:
        letters = letters_said(turn.letters())
        return letters if form is None else form.written((), letters)
    return form.written(turn.acts(), "")


def _said(request: ChatRequest, who: str) -> str:
    """Give what somebody said in a conversation."""
    return "\n".join(str(one["content"]) for one in request.messages if one["role"] == who)
