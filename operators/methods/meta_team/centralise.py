"""One analyser reads the whole trace and proposes every change (Meta-Team §4.3, Table 2).

It is the baseline for Meta-Team: the same levels, notes and gate, but one call instead of all
conversations. No agent is asked for evidence or continues its own conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....runtime.agents.outcomes import Run
from ....schema.edits import Edit
from ....schema.edits.offer.strict import ANY_LIST, ANY_TEXT, among, array, closed
from ....schema.team.team import Team
from ....schema.values.json_text import dumps
from ....schema.values.problems import quoted
from ....schema.values.terminal import on_one_line
from ....schema.values.values import is_list, is_mapping
from ...core.account import RoundAccount
from ...core.answers import InvalidAnswer, reason_schema, structured
from ...core.material import CHARACTERS_PER_TOKEN, clip, fenced, material
from ...core.meta import OperatorModel, Question, prompt
from ...core.proposal import RejectedProposal
from .evidence.conversation import interactions, speakers
from .evidence.ground import Ground
from .gate import Refused
from .notes import notes_text, own_schema, shown_name
from .reorganise import Reorganised, TeamAnswer, took_part_text
from .retrospect import NOTES, notes_in
from .room import NoteLimits
from .settings import RetrospectiveSettings
from .settle import pair_edits

OPERATOR = "centralise"
PAIR = ("of", "about", "profile", "together")


@dataclass(frozen=True, kw_only=True, slots=True)
class Centralised:
    """The proposals of one analyser.

    Attributes:
        team: The changes of the team as a whole; None if they were not asked for.
        refused: Notes that cannot be kept, also after one repair.
    """

    edits: tuple[Edit, ...] = ()
    team: Reorganised | None = None
    refused: tuple[Refused, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons of all refusals."""
        refused = (*self.refused, *(self.team.refused if self.team else ()))
        return tuple(reason for refusal in refused for reason in refusal.reasons)


async def centralise(
    model: OperatorModel, path: str, ground: Ground, levels: RetrospectiveSettings
) -> Centralised | RejectedProposal:
    """Ask one analyser to read the whole trace and to propose every change."""
    return await ground.meter().ask(model, path, _question(model, ground, levels))


def tokens_of_one_analyser(
    model: OperatorModel, ground: Ground, levels: RetrospectiveSettings
) -> int:
    """Return an estimate of the tokens that one analyser would read, without calling a model."""
    question = _question(model, ground, levels)
    schema = dumps(question.schema, ensure_ascii=False)
    read = len(question.instructions) + len(question.material) + len(schema)
    return read // CHARACTERS_PER_TOKEN


def _question(
    model: OperatorModel, ground: Ground, levels: RetrospectiveSettings
) -> Question[Centralised]:
    team, run = ground.team, ground.run
    item = _AnswerReader(
        model=model,
        ground=ground,
        agents=speakers(team, run) if levels.agent_level else (),
        pairs=tuple(_both_ways(interactions(team, run))) if levels.pair_level else (),
        levels=levels,
    )
    bounds, part = model.limits, item.part
    return Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR,
            **part.request_fields,
            most=item.most,
            body=item.room.body,
            patches=item.room.patches,
            skills=item.room.skills,
            agent_level=bool(item.agents),
            pair_level=bool(item.pairs),
            team_level=levels.team_level,
        ),
        material=material(
            ground.feedback.text(bounds),
            RoundAccount(team=team, run=run).outline(bounds),
            took_part_text(team, run),
            part.rules.text,
            part.offer.text if levels.team_level else "",
            *(notes_text(team.agents[agent]) for agent in item.agents),
            *flat_trace(team, run, bounds.trace_characters),
        ),
        schema=closed(reason=reason_schema(bounds), **item.schema),
        read=item.strictly,
        parents=(team.name,),
        team=team,
        salvage=item.read,
        inputs={"ground": ground, "agents": item.agents, "pairs": item.pairs},
    )


def flat_trace(team: Team, run: Run, most: int) -> Iterator[str]:
    """Yield the conversations of all agents, one after the other.

    Args:
        most: The most characters of all conversations together.
    """
    of = [name for name in run.agents if name in speakers(team, run)]
    for agent in of:
        messages = run.agents[agent].dialogue
        lines = (
            f"[{message['role']}] {on_one_line(str(message['content']))}" for message in messages
        )
        yield fenced("conversation", clip("\n".join(lines), most // len(of)), agent)


def _both_ways(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for first, second in pairs:
        yield first, second
        yield second, first


@dataclass(frozen=True, kw_only=True, slots=True)
class _AnswerReader:
    """The parser of an analyser's answer.

    Attributes:
        agents: The agents that may get notes on themselves.
        pairs: The pairs of which the first may note something on the second.
    """

    model: OperatorModel
    ground: Ground
    agents: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    levels: RetrospectiveSettings

    @property
    def room(self) -> NoteLimits:
        return self.ground.room.within(self.model.limits)

    @property
    def most(self) -> int:
        return min(NOTES, self.model.limits.edits)

    @property
    def part(self) -> TeamAnswer:
        """The part of the question that is about the team."""
        return self._part_of(self.ground.team)

    def _part_of(self, team: Team) -> TeamAnswer:
        return TeamAnswer(
            model=self.model,
            team=team,
            room=self.room,
            most_edges=self.levels.edges,
        )

    @property
    def schema(self) -> Mapping[str, Any]:
        """The fields of an answer, without the reason."""
        agents, room = self.ground.team.agents, self.room
        own = {agent: own_schema(agents[agent], room, self.most) for agent in self.agents}
        names = sorted({name for pair in self.pairs for name in pair})
        one_of = among(names)
        text = {"type": "string", "maxLength": room.note}
        pair = closed(of=one_of, about=one_of, profile=text, together=text)
        return {
            **({"agents": closed(**own)} if own else {}),
            **({"pairs": array(pair, len(self.pairs))} if self.pairs else {}),
            **(self.part.schema if self.levels.team_level else {}),
        }

    def strictly(self, text: str) -> Centralised:
        """Parse an answer, and raise `InvalidAnswer` if any of it cannot be kept."""
        centralised = self.read(text)
        if centralised.problems:
            raise InvalidAnswer(*centralised.problems)
        return centralised

    def read(self, text: str) -> Centralised:
        """Parse an answer into edits to keep and refusals."""
        shape = {
            **({"agents": {"type": "object"}} if self.agents else {}),
            **({"pairs": ANY_LIST} if self.pairs else {}),
            **(self.part.any_schema if self.levels.team_level else {}),
        }
        fields = structured(text, closed(reason=ANY_TEXT, **shape), self.model.limits)
        own, no_own = self._own(fields.get("agents", {}))
        noted, no_noted = self._noted(fields.get("pairs", ()))
        passed = self.ground.gate(self.model, (*own, *noted), self.room)
        return Centralised(
            edits=passed.edits,
            team=self._part_of(passed.child).read(fields) if self.levels.team_level else None,
            refused=(*no_own, *no_noted, *passed.refused),
        )

    def _own(self, answer: Mapping[str, Any]) -> tuple[list[Edit], list[Refused]]:
        edits: list[Edit] = []
        refused: list[Refused] = []
        for agent, items in answer.items():
            if agent not in self.agents or not is_list(items):
                why = f"there are lists of notes of {', '.join(self.agents)}."
                refused.append(Refused(what=shown_name(agent), reasons=(why,)))
                continue
            passed, lost = notes_in(
                items, self.model, self.ground, agent, room=self.room, most=self.most
            )
            edits += passed
            refused += lost
        return edits, refused

    def _noted(self, items: Sequence[Any]) -> tuple[list[Edit], list[Refused]]:
        edits: dict[tuple[str, str], tuple[Edit, ...]] = {}
        refused: list[Refused] = []
        for item in items:
            if why := self._objection(item):
                refused.append(Refused(what=shown_name(item), reasons=(why,)))
            elif (pair := (item["of"], item["about"])) in edits:
                why = f"what {pair[0]} notes of {pair[1]} is written twice."
                refused.append(Refused(what=shown_name(item), reasons=(why,)))
            else:
                edits[pair] = pair_edits(*pair, item["profile"], item["together"])
        return [edit for of in edits.values() for edit in of], refused

    def _objection(self, item: Any) -> str:
        if not is_mapping(item) or item.keys() != {*PAIR}:
            return f"what an agent notes of another has exactly {', '.join(PAIR)}."
        if not all(isinstance(entry, str) for entry in item.values()):
            return "what an agent notes of another is written in texts."
        if (item["of"], item["about"]) not in self.pairs:
            return f"{quoted(item['of'])} and {quoted(item['about'])} did not work together."
        return ""
