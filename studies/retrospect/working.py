"""What agents do at work: from their instructions and their conversation, and by the rules.

It is said in acts; how they are written is the gateway's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.runtime.agents.acts import Finalize, Send, Start

from .names import LEAD
from .texts import (
    counted_in,
    craft_in,
    handed_in,
    handed_said,
    idle_in,
    letters_in,
    letters_said,
    measure_said,
    measures_in,
    others_counted_in,
    rules_in,
)
from .world import Hands, Measure, measured, strayed, worked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.runtime.agents.acts import Act

    from .landscapes import Landscape
    from .world import Order, Part

__all__ = ["Turn"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What an agent knows as a turn begins.

    Attributes:
        world: Where.
        order: The task.
        instructions: What it reads ahead of everything.
        heard: What it was told, in this turn and before.
        said: What it said before.
        present: The crafts of the candidates, as far as it is told.
        is_open: Whether it can act on its team.
    """

    world: Landscape
    order: Order
    instructions: str
    heard: str
    said: str
    present: Sequence[str] = ()
    is_open: bool = True

    @property
    def craft(self) -> str | None:
        """Its craft; None: it leads."""
        return craft_in(self.instructions)

    def acts(self) -> tuple[Act, ...]:
        """Say what it does in an open roster; nothing, where it waits for others."""
        return tuple(self._leads() if self.craft is None else self._helps())

    def letters(self) -> Mapping[int, str]:
        """Give the letters that it has: of the parts it works on, or, of the lead, of all."""
        if self.craft is not None:
            return {one.number: self._letter(one) for one in self._own if self._is_ready(one)}
        heard, handed = letters_in(self.heard), handed_in(self.said)
        return {
            one.number: heard.get(one.number) or self._by_lead(one, handed)
            for one in self.order.parts
        }

    def _by_lead(self, part: Part, handed: Mapping[int, str]) -> str:
        """Work on a part that nobody was there for; of one that somebody has, nothing is known."""
        return "-" if part.number in handed else self._letter(part)

    def _leads(self) -> Sequence[Act]:
        if not (handed := handed_in(self.said)):
            return self._started()
        if {*handed} <= {*letters_in(self.heard)}:
            return [Finalize(answer=letters_said(self.letters()))]
        return []

    def _started(self) -> Sequence[Act]:
        """Start everybody who is wanted, and say to each which parts are whose."""
        crafts = self.world.crafts
        others = [one for one in self.present if one not in crafts]
        handed: dict[int, str] = {}
        for part in self.order.parts:
            to = strayed(self.world, self.order, part, others)
            if to is None and part.craft in self.present:
                to = part.craft
            if to is not None:
                handed[part.number] = to
        wanted = {*handed.values(), *(one.craft for one in self.order.parts)}
        return [
            Start(agent=one, text=self._brief(one, handed)) for one in self.present if one in wanted
        ]

    def _brief(self, craft: str, handed: Mapping[int, str]) -> str:
        own = (handed_said(number, to) for number, to in handed.items() if to == craft)
        return " ".join(own) or "Measure for your colleagues, please."

    def _helps(self) -> Sequence[Act]:
        """Give the measures that are needed, and tell the lead the letters that one has."""
        done = letters_in(self.said)
        new = {number: one for number, one in self.letters().items() if number not in done}
        told = [Send(to=LEAD, text=letters_said(new))] if new else []
        return [*self._measures(), *told]

    def _measures(self) -> Sequence[Act]:
        given = {one.part for one in measures_in(self.said)}
        details = tuple(rules_in(self.instructions))
        return [
            Send(to=one.craft, text=measure_said(self._measured(one, details)))
            for one in self.order.parts
            if one.source == self.craft and one.number not in given
        ]

    def _measured(self, part: Part, details: tuple[str, ...]) -> Measure:
        return Measure(
            part=part.number,
            source=str(self.craft),
            number=measured(self.world, self.order, part),
            details=details,
        )

    @property
    def _own(self) -> Sequence[Part]:
        """The parts that it works on: those that it was given, or all of its craft."""
        handed = handed_in(self.heard)
        if not self.is_open:
            return [one for one in self.order.parts if one.craft == self.craft]
        return [one for one in self.order.parts if handed.get(one.number) == self.craft]

    def _is_ready(self, part: Part) -> bool:
        """Tell whether it has the measure that the part needs, or will get none."""
        is_stranger = part.craft != self.craft
        return is_stranger or not self.is_open or part.source is None or self._got(part) is not None

    def _got(self, part: Part) -> Measure | None:
        found = (one for one in measures_in(self.heard) if one.part == part.number)
        return next(found, None)

    def _letter(self, part: Part) -> str:
        """Work on a part, with what is at hand."""
        own = counted_in(self.instructions) or ""
        rods = others_counted_in(self.instructions)
        hands = Hands(
            craft=self.craft,
            rod=rods.get(str(part.source), own),
            measure=self._got(part),
            idle=self._idle,
        )
        return worked(self.world, self.order, part, hands)

    @property
    def _idle(self) -> int:
        """How many of the notes that it reads are of no use to anybody."""
        needed = {one.need for one in self.world.members if one.source == self.craft}
        idle = [one for one in rules_in(self.instructions) if one not in needed]
        return len(idle) + len(idle_in(self.instructions))
