"""L1: an agent reviews its own work, and questions its colleagues (Meta-Team §3.2).

It continues its own conversation, so it sees everything it read and said, not a summary. It asks
colleagues for what it cannot know, and each answers from its own conversation. Such an answer is a
branch: only the asker reads it, and no other question or answer depends on it. An agent that worked
on files may look at them again. The result is the agent's notes on itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....runtime.values.together import together
from ....schema.edits import Edit
from ....schema.edits.offer.strict import ANY_LIST, ANY_TEXT, among, array, closed, free_text
from ...core.answers import InvalidAnswer, reason_schema, structured
from ...core.material import fenced, material
from ...core.meta import OperatorModel, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.printed import Noted
from ...core.proposal import RejectedProposal
from .evidence.conversation import colleagues
from .evidence.evidence import (
    LONGEST_EVIDENCE,
    LONGEST_QUESTION,
    EvidenceExchange,
    answer_in,
    questions_in,
)
from .evidence.files import (
    AT_ONCE,
    LONGEST_LOOK,
    FileLook,
    looked_up,
    looks_in,
    looks_schema,
    tools_of,
)
from .evidence.ground import Ground
from .gate import Refused
from .limits import Meter
from .noted import evidence_lines, noted, notes_of
from .notes import OwnNotes, notes_text, own_schema, text_of
from .room import NoteLimits

OPERATOR = "retrospect"
LONGEST_SUMMARY = 400
"""The most characters of an agent's summary for its team."""
NOTES = 4
"""The most notes in one answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflected:
    """An agent's reflection on a finished run.

    Attributes:
        edits: Changes of its own patches and skills, and of nothing else.
        summary: A short summary for its team.
        reason: What led to the outcome, in its view.
        refused: Notes that cannot be kept, also after one repair.
        rejected: Its questions without a valid answer.
    """

    agent: str
    edits: tuple[Edit, ...] = ()
    summary: str = ""
    reason: str = ""
    evidence: tuple[EvidenceExchange, ...] = ()
    looks: tuple[FileLook, ...] = ()
    refused: tuple[Refused, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()


async def retrospect(
    model: OperatorModel,
    path: str,
    ground: Ground,
    agent: str,
    *,
    evidence: int = 2,
    looks: int = 3,
) -> Reflected:
    """Ask an agent to review its own work and to write notes on itself.

    Args:
        ground: The team, its run and its feedback. Its limits hold for this agent, together with
            the answers of its colleagues.
        evidence: The most questions to colleagues. 0: none.
        looks: The most rounds of lookups in the task's files, if it worked on any.

    Returns:
        Its reflection. Without a conversation to continue, or a valid answer, it has no edits and
        no summary, and `rejected` has the reason.
    """
    if not ground.run.agents[agent].dialogue:
        reason = f"{agent} read and said nothing."
        dropped = model.drop(path, OPERATOR, reason, parents=(ground.team.name,))
        return Reflected(agent=agent, rejected=(dropped,))
    meter = ground.meter()
    item = _Looking(model=model, agent=agent, path=path, ground=ground, meter=meter)
    return await item.back(evidence, looks)


@dataclass(kw_only=True, eq=False)
class _Looking:
    model: OperatorModel
    path: str
    agent: str
    ground: Ground
    meter: Meter

    async def back(self, most: int, looks: int) -> Reflected:
        own_looks, lost = await self._looked(looks)
        others = colleagues(self.ground.team, self.ground.run, self.agent) if most else ()
        questions = await self._questions(others, most, own_looks) if others else ()
        evidence: tuple[EvidenceExchange, ...] = ()
        if isinstance(questions, RejectedProposal):
            lost = (*lost, questions)
        else:
            answers = await self._colleague_answers(questions)
            evidence = tuple(self._exchange(*pair) for pair in zip(questions, answers, strict=True))
            lost += tuple(answer for answer in answers if isinstance(answer, RejectedProposal))
        result = await self._noted(evidence, own_looks)
        if isinstance(result, RejectedProposal):
            return Reflected(
                agent=self.agent, evidence=evidence, looks=own_looks, rejected=(*lost, result)
            )
        return replace(result, evidence=evidence, looks=own_looks, rejected=lost)

    async def _looked(self, most: int) -> tuple[tuple[FileLook, ...], tuple[RejectedProposal, ...]]:
        """Let the agent look at the files that it worked on, until it asks for no more."""
        looks: tuple[FileLook, ...] = ()
        tools = tools_of(self.ground, self.agent)
        for number in range(1, (most if tools else 0) + 1):
            wanted = await self._ask(
                self.agent,
                f"looks {number}",
                prompt("retrospect_looks", agent=self.agent, most=AT_ONCE, has_looks=bool(looks)),
                schema=looks_schema(tools),
                read=lambda text: looks_in(text, tools, strict=True),
                salvage=lambda text: looks_in(text, tools, strict=False),
                inputs={"tools": tools, "looks": looks},
                also=self._shown(looks),
            )
            if isinstance(wanted, RejectedProposal):
                return looks, (wanted,)
            if not wanted:
                break
            looks += await looked_up(self.ground, self.agent, wanted)
        return looks, ()

    def _shown(self, looks: Sequence[FileLook]) -> str:
        written = self.ground.voice(self.model, self.agent).limits.characters
        return material(*(look.shown(min(LONGEST_LOOK, written)) for look in looks))

    def _exchange(
        self, addressed: tuple[str, str], reply: str | RejectedProposal
    ) -> EvidenceExchange:
        colleague, question = addressed
        answer = "" if isinstance(reply, RejectedProposal) else reply
        return EvidenceExchange(
            asker=self.agent, colleague=colleague, question=question, answer=answer
        )

    async def _questions(
        self, others: Sequence[str], most: int, looks: Sequence[FileLook]
    ) -> tuple[tuple[str, str], ...] | RejectedProposal:
        items = closed(to=among(others), question=free_text(LONGEST_QUESTION))
        return await self._ask(
            self.agent,
            "questions",
            prompt("retrospect_questions", agent=self.agent, most=most, longest=LONGEST_QUESTION),
            schema=closed(questions=array(items, most)),
            read=lambda text: questions_in(text, others, most, strict=True),
            salvage=lambda text: questions_in(text, others, most, strict=False),
            inputs={"others": others, "most": most},
            also=self._shown(looks),
        )

    async def _colleague_answers(
        self, questions: Sequence[tuple[str, str]]
    ) -> list[str | RejectedProposal]:
        """Ask colleagues concurrently, each in its own conversation."""
        meters = [self.meter.begun() for _ in questions]
        result = await together(
            *(
                self._answer(f"evidence {number}", *pair, meter)
                for number, (pair, meter) in enumerate(zip(questions, meters, strict=True), 1)
            )
        )
        self.meter.took(meters)
        return result

    async def _answer(
        self, label: str, colleague: str, question: str, meter: Meter
    ) -> str | RejectedProposal:
        written = self.ground.voice(self.model, colleague).limits.characters
        longest = min(LONGEST_EVIDENCE, written)
        return await self._ask(
            colleague,
            label,
            prompt(
                "retrospect_evidence",
                agent=colleague,
                asker=self.agent,
                longest=longest,
            ),
            schema=closed(answer=free_text(longest)),
            read=answer_in,
            also=fenced("question", question, self.agent),
            inputs={"question": question, "asker": self.agent},
            meter=meter,
        )

    async def _noted(
        self, evidence: Sequence[EvidenceExchange], looks: Sequence[FileLook]
    ) -> Reflected | RejectedProposal:
        """Ask the agent for its notes and its summary."""
        ground, limits = self.ground, self.ground.voice(self.model, self.agent).limits
        room, most = ground.room.within(limits), min(NOTES, limits.edits)
        owner = ground.team.agents[self.agent]
        longest = min(LONGEST_SUMMARY, limits.characters)
        return await self._ask(
            self.agent,
            "notes",
            prompt(
                OPERATOR,
                agent=self.agent,
                most=most,
                note=room.note,
                body=room.body,
                summary=longest,
                patches=room.patches,
                skills=room.skills,
                has_evidence=bool(evidence),
                has_looks=bool(looks),
            ),
            schema=closed(
                reason=reason_schema(limits),
                notes=own_schema(owner, room, most),
                summary=free_text(longest),
            ),
            read=lambda text: _all_of(self._read(text, room, most)),
            salvage=lambda text: self._read(text, room, most),
            also=material(
                notes_text(owner), self._shown(looks), *(exchange.text() for exchange in evidence)
            ),
            inputs={"evidence": evidence, "looks": looks},
        )

    async def _ask(self, agent: str, label: str, instructions: str, **question: Any) -> Any:
        """Ask the agent, or a colleague, in the next turn of its own conversation."""
        usual: dict[str, Any] = {"operator": OPERATOR, "meter": self.meter, **question}
        path = f"{self.path}/{label}"
        return await self.ground.ask(self.model, path, agent, instructions=instructions, **usual)

    def _read(self, text: str, room: NoteLimits, most: int) -> Reflected:
        shape = closed(reason=ANY_TEXT, notes=ANY_LIST, summary=ANY_TEXT)
        fields = structured(text, shape, self.model.limits)
        edits, refused = notes_in(
            fields["notes"], self.model, self.ground, self.agent, room=room, most=most
        )
        return Reflected(
            agent=self.agent,
            edits=edits,
            summary=text_of(fields["summary"])[:LONGEST_SUMMARY],
            reason=fields["reason"],
            refused=refused,
        )


def notes_in(
    items: Sequence[Any],
    model: OperatorModel,
    ground: Ground,
    agent: str,
    *,
    room: NoteLimits,
    most: int,
) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
    """Parse an agent's notes on itself into edits to keep and refusals."""
    notes = OwnNotes(agent=ground.team.agents[agent], room=room, most=most).read(items)
    passed = ground.gate(model, tuple(notes.edits.values()), room)
    return passed.edits, (*notes.refused, *passed.refused)


def _all_of(reflection: Reflected) -> Reflected:
    """Return a reflection with a summary and without refusals, or raise `InvalidAnswer`."""
    problems = [reason for refusal in reflection.refused for reason in refusal.reasons]
    if not reflection.summary:
        problems.append("summary: nothing is said there. Tell your team what you found.")
    if problems:
        raise InvalidAnswer(*problems)
    return reflection


async def retrospect_alone(
    model: OperatorModel,
    path: str,
    ground: Ground,
    agent: str,
    *,
    evidence: int = 2,
    looks: int = 3,
) -> Noted:
    """Return the team with an agent's new notes; see `retrospect`."""
    reflected = await retrospect(model, path, ground, agent, evidence=evidence, looks=looks)
    events = evidence_lines(reflected.evidence)
    notes = notes_of(events, reflected.refused, reflected.rejected)
    if reflected.rejected and not reflected.summary:
        return Noted(proposal=reflected.rejected[-1], notes=notes)
    passed = ground.gate(model, reflected.edits)
    return noted(
        OPERATOR, ground.team, passed.child, reflected.edits, reason=reflected.summary, notes=notes
    )


QUESTIONS = OperatorSetting(
    about="The most questions that an agent may ask its colleagues.",
    least=0,
    most=20,
    option="--questions",
)
RETROSPECT = Operator(
    name=OPERATOR,
    scale="agent",
    act=retrospect,
    about="Let an agent look back on a run in its own conversation, ask colleagues, and note what"
    " it learnt.",
    alone=retrospect_alone,
    inputs={
        "agent": "speaker",
        "evidence": QUESTIONS,
        "looks": OperatorSetting(
            about="How often the agent may look at the files that it worked on.",
            least=0,
            most=20,
        ),
    },
)
