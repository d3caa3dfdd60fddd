"""L3: the team changes its rules, its organisation, and its roster (Meta-Team §3.2).

Its lead decides, in the next turn of its own conversation. It reads each agent's short summary, the
questions and answers, the reports within pairs, and the discussion, but never the others' work
itself. The result may change rules of the constitution, add or remove an agent, change edges among
those who stay, and ask to retry the task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....runtime.agents.outcomes import Run
from ....schema.edits import AddEdge, Edit, RemoveEdge, is_tied
from ....schema.edits.offer.strict import ANY_LIST, ANY_TEXT, among, array, closed
from ....schema.team.team import Team
from ....schema.values.terminal import on_one_line
from ....schema.values.values import is_mapping
from ...core.account import RoundAccount
from ...core.answers import reason_schema, structured
from ...core.material import clip, fenced, material
from ...core.meta import OperatorModel, Question, prompt
from ...core.proposal import RejectedProposal
from .discussion import Discussion, lead_of
from .evidence.conversation import conversation, speakers
from .evidence.evidence import EvidenceExchange
from .evidence.ground import Ground
from .gate import Refused, gate, require_all
from .limits import Meter
from .notes import shown_name
from .retrospect import Reflected
from .room import NoteLimits
from .roster import RosterOffer
from .rules import Rules
from .settle import Settlement

FIELDS = ("change", "sender", "receiver")
FEWEST = 3
"""The fewest agents for which edges can change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeOffer:
    """The edges that an answer may add or remove; the gate checks those that it chooses.

    Nothing is offered for an open roster, in which every agent may write to every other, or for
    arranged rounds, which determine who hears whom.

    Attributes:
        most: The most edges to change at once.
    """

    team: Team
    most: int = 2

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the answer's list of edges."""
        team = self.team
        is_free = team.execution.roster is None and is_tied(team)
        if not self.most or not is_free or len(team.agents) < FEWEST:
            return {}
        agent, change = among(team.agents), among(["add", "remove"])
        item = closed(change=change, sender=agent, receiver=agent)
        return {"edges": array(item, self.most)}

    def read(self, answer: Mapping[str, Any]) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
        """Parse the answer's list of edges."""
        edits: dict[Edit, None] = {}
        refused: list[Refused] = []
        for number, item in enumerate(answer.get("edges", ())):
            if number >= self.most:
                refused.append(_refused(item, f"at most {self.most} edges may change at once."))
            elif (edit := self._edit_of(item)) is None:
                names = ", ".join(self.team.agents)
                why = f"an edge has change (add or remove), sender and receiver, two of {names}."
                refused.append(_refused(item, why))
            else:
                edits[edit] = None
        return tuple(edits), tuple(refused)

    def _edit_of(self, item: Any) -> AddEdge | RemoveEdge | None:
        if not is_mapping(item) or item.keys() != {*FIELDS}:
            return None
        change, sender, receiver = (item[name] for name in FIELDS)
        texts = all(isinstance(part, str) for part in (change, sender, receiver))
        if not texts or not {sender, receiver} <= self.team.agents.keys():
            return None
        kinds = {"add": AddEdge, "remove": RemoveEdge}
        return kinds[change](sender=sender, receiver=receiver) if change in kinds else None


def _refused(item: Any, why: str) -> Refused:
    return Refused(what=f"edge {shown_name(item)}", reasons=(why,))


OPERATOR = "reorganise"
LONGEST_EVIDENCE = 300
"""The most characters of each question, answer and report."""
NO_DISCUSSION = Discussion()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reorganised:
    """The decision of a team at its level.

    Attributes:
        edits: Changes of its rules, its roster and its edges.
        refused: Changes that cannot be kept, also after one repair.
    """

    edits: tuple[Edit, ...] = ()
    reason: str = ""
    retry: bool = False
    refused: tuple[Refused, ...] = ()


async def reorganise(
    model: OperatorModel,
    path: str,
    ground: Ground,
    reflected: Sequence[Reflected],
    settled: Sequence[Settlement] = (),
    *,
    discussion: Discussion = NO_DISCUSSION,
    edges: int = 2,
    meter: Meter | None = None,
) -> Reorganised | RejectedProposal:
    """Ask a team's lead to decide on its rules, its roster and its edges.

    Args:
        ground: The team, with its feedback and the notes that agents and pairs have made since the
            run. Of the run, only the lead's own conversation is read.
        reflected: The agents' reflections; their summaries and questions are read.
        settled: The pairs' settlements; their reports to each other are read.
        edges: The most edges among remaining agents that may change.
        meter: Counts the usage. None: a new meter.
    """
    lead, team = lead_of(ground.team, ground.run), ground.team
    voice = model if lead is None else ground.voice(model, lead)
    bounds = voice.limits
    room = ground.room.within(bounds)
    part = TeamAnswer(model=voice, team=team, room=room, most_edges=edges)
    has_statements = bool(discussion.statements)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR, **part.request_fields, lead=lead or "", has_statements=has_statements
        ),
        material=material(
            ground.feedback.text(bounds),
            known_text(voice, ground, reflected, settled),
            part.offer.text,
            discussion.text,
        ),
        schema=closed(reason=reason_schema(bounds), **part.schema),
        read=lambda text: require_all(_read(part, text)),
        parents=(team.name,),
        team=team,
        conversation=() if lead is None else conversation(team, ground.run.agents[lead]),
        salvage=lambda text: _read(part, text),
        inputs={
            "ground": ground,
            "reflected": reflected,
            "settled": settled,
            "discussion": discussion,
        },
    )
    return await (meter or ground.meter()).ask(voice, path, question)


def known_text(
    model: OperatorModel,
    ground: Ground,
    reflected: Sequence[Reflected],
    settled: Sequence[Settlement],
) -> str:
    """Return the text for everyone who discusses the team: its members, rules and findings."""
    bounds, team = model.limits, ground.team
    return material(
        RoundAccount(team=team, run=ground.run).outline(bounds),
        took_part_text(team, ground.run),
        Rules(team=team, room=ground.room).text,
        summaries_text(team, reflected),
        *evidence_texts(reflected, settled, bounds.team_characters),
    )


def took_part_text(team: Team, run: Run) -> str:
    """Return which agents of an open roster worked; "" for other teams, where all have a part."""
    if team.execution.roster is None:
        return ""
    worked = speakers(team, run)
    idle = [agent for agent in team.agents if agent not in worked]
    return fenced("worked", f"worked: {', '.join(worked)}\nnot called: {', '.join(idle) or '-'}")


def summaries_text(team: Team, reflected: Sequence[Reflected]) -> str:
    """Return each agent's summary for its team."""
    order = [*team.agents]
    reflecteds = sorted(reflected, key=lambda item: order.index(item.agent))
    return fenced(
        "found",
        "\n".join(
            f"{reflection.agent}: {reflection.summary}"
            for reflection in reflecteds
            if reflection.summary
        ),
    )


def evidence_texts(
    reflected: Sequence[Reflected], settled: Sequence[Settlement], most: int
) -> tuple[str, ...]:
    """Return questions with answers, and reports within pairs, as far as there is room."""
    exchanges: list[EvidenceExchange] = [
        exchange for of in reflected for exchange in of.evidence if exchange.answer
    ]
    texts = [exchange.text(LONGEST_EVIDENCE) for exchange in exchanges]
    for settlement in settled:
        for agent, account in settlement.accounts.items():
            peer = next(iter({*settlement.pair} - {agent}))
            line = clip(on_one_line(account), LONGEST_EVIDENCE)
            texts.append(fenced("evidence", f"{agent} told {peer}: {line}"))
    shown: list[str] = []
    for text in texts:
        if sum(map(len, shown)) + len(text) > most:
            break
        shown.append(text)
    return tuple(shown)


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamAnswer:
    """The part of an answer about the team: rules, roster, edges, and a retry.

    Attributes:
        newcomers: The most agents to add, and the most to remove.
        most_edges: The most edges among remaining agents that may change.
    """

    model: OperatorModel
    team: Team
    room: NoteLimits
    most_edges: int
    newcomers: int = 1

    @property
    def rules(self) -> Rules:
        """The rules that may change."""
        return Rules(team=self.team, room=self.room)

    @property
    def offer(self) -> RosterOffer:
        """The agents that may be added or removed."""
        ceiling = self.model.ceiling
        return RosterOffer(team=self.team, ceiling=ceiling, room=self.room, most=self.newcomers)

    @property
    def edges(self) -> EdgeOffer:
        """The edges that may change."""
        return EdgeOffer(team=self.team, most=self.most_edges)

    @property
    def schema(self) -> Mapping[str, Any]:
        """Its fields, without the reason."""
        retry = {"type": "boolean"}
        return {**self.rules.schema, **self.offer.schema, **self.edges.schema, "retry": retry}

    @property
    def any_schema(self) -> Mapping[str, Any]:
        """The same fields with lists of any items, which are parsed one by one."""
        return {name: item if name == "retry" else ANY_LIST for name, item in self.schema.items()}

    @property
    def request_fields(self) -> Mapping[str, Any]:
        """The values for the prompt that asks for it."""
        rules, offer = self.rules, self.offer
        return {
            "note": self.room.note,
            "rules": rules.most,
            "has_rules": bool(rules.lines),
            "comes": "come" in offer.schema,
            "goes": "go" in offer.schema,
            "is_open": offer.is_open,
            "newcomers": self.newcomers,
            "edges": self.most_edges if self.edges.schema else 0,
        }

    def read(self, answer: Mapping[str, Any]) -> Reorganised:
        """Parse it into edits to keep and refusals.

        Args:
            answer: The answer, by `any_schema`.
        """
        ruled, no_rules = self.rules.read(answer)
        moved, no_moves = self.offer.read(answer)
        rewired, no_edges = self.edges.read(answer)
        passed = gate(
            self.team,
            (*ruled, *moved, *rewired),
            catalogue=self.model.catalogue,
            ceiling=self.model.ceiling,
            room=self.room,
        )
        return Reorganised(
            edits=passed.edits,
            reason=answer["reason"],
            retry=answer["retry"],
            refused=(*no_rules, *no_moves, *no_edges, *passed.refused),
        )


def _read(part: TeamAnswer, text: str) -> Reorganised:
    shape = closed(reason=ANY_TEXT, **part.any_schema)
    return part.read(structured(text, shape, part.model.limits))
