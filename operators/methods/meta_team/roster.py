"""Who may come into a team and who may go, as a team decides when it looks back.

A newcomer is written after one of the team: it has that one's model, backend and limits, so it can
do no more than somebody there. Its instructions and its role are new, its tools are of those that a
person allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....schema.edits import AddAgent, Edit, RemoveAgent, is_tied, spare_agents
from ....schema.edits.offer.strict import among, array, closed, free_text
from ....schema.loading.ceiling import CapabilityPolicy
from ....schema.team.team import Agent, Notes, Team, is_prompt_id
from ....schema.values.problems import quoted
from ....schema.values.terminal import on_one_line, speakable
from ....schema.values.values import is_mapping, is_texts
from ...core.material import fenced
from ...core.roles import free_id
from .gate import Refused
from .notes import NAME, name_of, shown_name, text_of
from .room import NoteLimits

LONGEST_ROLE = 60
TOOLS = 8
NEIGHBOURS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class RosterOffer:
    """Who may come and who may go.

    Where a team's agents wait for each other in a way that others cannot take over, as in rounds
    that somebody opens, its roster stays.

    Attributes:
        most: The most that come, and that go, at once.
    """

    team: Team
    ceiling: CapabilityPolicy
    room: NoteLimits
    most: int = 1

    @property
    def is_open(self) -> bool:
        """Whether the team's members are recruited while it works, so that nobody has a place."""
        return self.team.execution.roster is not None

    @property
    def models(self) -> Sequence[str]:
        """After whom a newcomer may be written: those that ask a model."""
        team = self.team
        return [agent.id for agent in team.agents.values() if team.asks_model(agent)]

    @property
    def spare(self) -> Sequence[str]:
        """Who may go: not who answers for the team, and nobody whom others cannot do without."""
        if self.is_open:
            return [agent for agent in self.team.agents if agent != self.team.output]
        return spare_agents(self.team, together=True)

    @property
    def _is_movable(self) -> bool:
        return self.most > 0 and (self.is_open or is_tied(self.team))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The lists of an answer that are about the roster."""
        lists: dict[str, Any] = {}
        if not self._is_movable:
            return lists
        if self.models and self._free > 0:
            lists["come"] = array(self._newcomer, self._free)
        if self.spare:
            lists["go"] = array(among(self.spare), min(self.most, len(self.spare)))
        return lists

    @property
    def _free(self) -> int:
        most = self.ceiling.agents
        return self.most if most is None else max(0, min(self.most, most - len(self.team.agents)))

    @property
    def _newcomer(self) -> Mapping[str, Any]:
        agents = among(self.team.agents)
        place = {} if self.is_open else {
            "hears": array(agents, NEIGHBOURS),
            "reports_to": array(agents, NEIGHBOURS, least=1),
        }  # fmt: skip
        tools = among(sorted(self.ceiling.tools))
        return closed(
            id=NAME,
            role=free_text(LONGEST_ROLE),
            prompt=free_text(self.room.body),
            like=among(self.models),
            **({"tools": array(tools, TOOLS)} if self.ceiling.tools else {}),
            **place,
        )

    @property
    def text(self) -> str:
        """The tools that a newcomer may have, in a fence."""
        has = self._is_movable and self.ceiling.tools
        return fenced("tools", ", ".join(sorted(self.ceiling.tools))) if has else ""

    def read(self, answer: Mapping[str, Any]) -> tuple[tuple[Edit, ...], tuple[Refused, ...]]:
        """Read what an answer says of the roster."""
        edits: list[Edit] = []
        refused: list[Refused] = []
        for number, item in enumerate(answer.get("go", ())):
            if number >= self.most:
                refused.append(_refused(item, f"at most {self.most} may go at once."))
            elif item not in self.spare:
                refused.append(_refused(item, f"{quoted(item)} cannot be done without."))
            elif RemoveAgent(agent=item) not in edits:
                edits.append(RemoveAgent(agent=item))
        for number, item in enumerate(answer.get("come", ())):
            result = (
                self._newcomer_from(item)
                if number < self._free
                else f"at most {self._free} may come."
            )
            if isinstance(result, str):
                refused.append(_refused(item, result))
            else:
                edits.append(result)
        return tuple(edits), tuple(refused)

    def _newcomer_from(self, item: Any) -> AddAgent | str:
        """Write a newcomer, or say why not."""
        fields = self._newcomer["properties"]
        if not is_mapping(item) or item.keys() != fields.keys():
            return f"who comes has exactly {', '.join(fields)}."
        texts = [item[name] for name in ("id", "role", "prompt", "like")]
        lists = [item.get(name, []) for name in ("tools", "hears", "reports_to")]
        if not all(isinstance(text, str) for text in texts) or not all(map(is_texts, lists)):
            return "who comes is written in texts, and in lists of names."
        return self._written(item)

    def _written(self, item: Mapping[str, Any]) -> AddAgent | str:
        name, role = name_of(item["id"]), text_of(item["role"])[:LONGEST_ROLE]
        prompt = speakable(item["prompt"]).strip()
        if item["like"] not in self.models:
            return f"like: {quoted(item['like'])} is none of {', '.join(self.models)}."
        if not name or not role or is_prompt_id(prompt) or not text_of(prompt):
            return "who comes needs an id, a role, and instructions written out."
        if len(prompt) > self.room.body:
            return f"prompt: {len(prompt)} characters; at most {self.room.body}."
        if foreign := sorted({*item.get("tools", ())} - self.ceiling.tools):
            return f"tools: {quoted(foreign[0])} is not among those that it may have."
        agent = self._after(self.team.agents[item["like"]], free_id(name, self.team.agents))
        result = replace(
            agent, role=role, prompt=prompt, tools=tuple(dict.fromkeys(item.get("tools", ())))
        )
        return AddAgent(
            agent=result,
            reports_to=tuple(dict.fromkeys(item.get("reports_to", ()))),
            receives_from=tuple(dict.fromkeys(item.get("hears", ()))),
        )

    def _after(self, template: Agent, new_id: str) -> Agent:
        """Write an agent after another, with what that may spend and nothing that it has learnt."""
        return replace(
            template, id=new_id, notes=Notes(), recall=None, output_schema=None, member=None
        )


def _refused(item: Any, why: str) -> Refused:
    name = item.get("id") if is_mapping(item) else item
    return Refused(what=f"agent {shown_name(on_one_line(str(name)))}", reasons=(why,))
