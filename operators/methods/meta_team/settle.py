"""L2: two agents that worked together note what they learnt about each other (Meta-Team §3.2).

Each reports to the other on their work together, from its own conversation. Then each reads the
other's report and writes notes on the other. An agent can only write its own notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....runtime.values.together import together
from ....schema.edits import Edit, Note, SetNote
from ....schema.edits.offer.strict import ANY_TEXT, closed
from ...core.answers import reason_schema, structured
from ...core.material import fenced, material
from ...core.meta import OperatorModel, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.printed import Noted
from ...core.proposal import RejectedProposal
from .discussion import say
from .evidence.ground import Ground
from .gate import Passed, Refused, require_all
from .limits import Meter
from .noted import noted, notes_of
from .notes import text_of
from .room import NoteLimits

OPERATOR = "settle"
LONGEST_ACCOUNT = 800


@dataclass(frozen=True, kw_only=True, slots=True)
class Settlement:
    """The notes of two agents on each other.

    Attributes:
        accounts: Each agent's report to the other, if valid.
        edits: Each agent's notes on the other, among its own notes.
        refused: Notes that cannot be kept, also after one repair.
    """

    pair: tuple[str, str]
    accounts: Mapping[str, str]
    edits: tuple[Edit, ...] = ()
    refused: tuple[Refused, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()


async def settle(
    model: OperatorModel,
    path: str,
    ground: Ground,
    pair: tuple[str, str],
    *,
    exchange: bool = True,
) -> Settlement:
    """Ask two agents that worked together for notes on each other.

    Args:
        ground: The team, its run and its feedback. Its limits hold for each of the two.
        pair: The two agents; each must have a conversation.
        exchange: Whether each first reports to the other on their work together.
    """
    sides = [
        _Settling(
            model=model, path=path, agent=name, peer=peer, ground=ground, meter=ground.meter()
        )
        for name, peer in (pair, pair[::-1])
    ]
    texts = await together(*(side.account() for side in sides)) if exchange else ()
    accounts = {
        side.agent: text
        for side, text in zip(sides, texts, strict=bool(texts))
        if isinstance(text, str)
    }
    result = await together(*(side.noted(accounts) for side in sides))
    sided = [item for item in result if isinstance(item, Passed)]
    return Settlement(
        pair=pair,
        accounts=accounts,
        edits=tuple(edit for item in sided for edit in item.edits),
        refused=tuple(lost for item in sided for lost in item.refused),
        rejected=tuple(item for item in (*texts, *result) if isinstance(item, RejectedProposal)),
    )


@dataclass(kw_only=True, eq=False)
class _Settling:
    model: OperatorModel
    path: str
    agent: str
    peer: str
    ground: Ground
    meter: Meter

    async def account(self) -> str | RejectedProposal:
        """Ask for its report to the other agent."""
        written = self.ground.voice(self.model, self.agent).limits.characters
        longest = min(LONGEST_ACCOUNT, written)
        return await say(
            self.model,
            f"{self.path}/account of {self.agent}",
            self.ground,
            self.agent,
            operator=OPERATOR,
            field="account",
            instructions=prompt(
                "settle_account", agent=self.agent, other=self.peer, longest=longest
            ),
            longest=longest,
            meter=self.meter,
            inputs={"other": self.peer},
        )

    async def noted(self, accounts: Mapping[str, str]) -> Passed | RejectedProposal:
        """Ask for its notes on the other agent."""
        ground, limits = self.ground, self.ground.voice(self.model, self.agent).limits
        room = ground.room.within(limits)
        account = accounts.get(self.peer, "")
        text = {"type": "string", "maxLength": room.note}
        return await ground.ask(
            self.model,
            f"{self.path}/notes of {self.agent}",
            self.agent,
            operator=OPERATOR,
            meter=self.meter,
            instructions=prompt(
                OPERATOR,
                agent=self.agent,
                other=self.peer,
                longest=room.note,
                has_account=bool(account),
            ),
            schema=closed(reason=reason_schema(limits), profile=text, together=text),
            read=lambda text: require_all(self._read(text, room)),
            salvage=lambda text: self._read(text, room),
            inputs={"other": self.peer, "accounts": accounts},
            also=material(
                fenced("account", accounts.get(self.agent, ""), self.agent),
                fenced("account", account, self.peer),
                self._notes(),
            ),
        )

    def _notes(self) -> str:
        notes = self.ground.team.agents[self.agent].notes
        profile, together = notes.teammates.get(self.peer, ""), notes.pairs.get(self.peer, "")
        return material(
            fenced("profile", profile, self.peer), fenced("together", together, self.peer)
        )

    def _read(self, text: str, room: NoteLimits) -> Passed:
        shape = closed(reason=ANY_TEXT, profile=ANY_TEXT, together=ANY_TEXT)
        fields = structured(text, shape, self.model.limits)
        edits = pair_edits(self.agent, self.peer, fields["profile"], fields["together"])
        return self.ground.gate(self.model, edits, room)


def pair_edits(agent: str, peer: str, profile: str, together: str) -> tuple[Edit, ...]:
    """Return the edits of an agent's notes on another; an empty text changes nothing."""
    notes: tuple[tuple[Note, str], ...] = (
        ("teammate", text_of(profile)),
        ("pair", text_of(together)),
    )
    return tuple(
        SetNote(agent=agent, note=note, name=peer, text=text) for note, text in notes if text
    )


async def settle_alone(
    model: OperatorModel, path: str, ground: Ground, pair: tuple[str, str], *, alone: bool = False
) -> Noted:
    """Return the team with the new notes of two agents; see `settle`."""
    settled = await settle(model, path, ground, pair, exchange=not alone)
    accounts = [f"{agent} told: {text}" for agent, text in settled.accounts.items()]
    notes = notes_of(accounts, settled.refused, settled.rejected)
    if settled.rejected and not settled.edits:
        return Noted(proposal=settled.rejected[-1], notes=notes)
    passed = ground.gate(model, settled.edits)
    reason = f"{pair[0]} and {pair[1]} worked together."
    return noted(OPERATOR, ground.team, passed.child, settled.edits, reason=reason, notes=notes)


SETTLE = Operator(
    name=OPERATOR,
    scale="pair",
    act=settle,
    about="Let two agents that worked together in a run note what they learnt about each other."
    " First, each reports to the other how their work went.",
    alone=settle_alone,
    inputs={"alone": OperatorSetting(about="Skip the reports to each other.")},
)
