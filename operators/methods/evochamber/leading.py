"""LeadLearn: the leader of a team chooses its structure (EvoChamber §3.4).

The population shares a bank of earlier choices. Each has the niche, the members' competence, the
structure, the reward, and a note on why. The leader sees the choices most similar to its own
situation.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from ....pool.population.population import ANCHOR
from ....schema.edits.offer.strict import among, closed
from ....schema.values.terminal import on_one_line
from ...core.answers import reason_schema, structured
from ...core.material import clip, fenced, material, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator, operator_of
from ...core.printed import Printed
from ...core.proposal import RejectedProposal
from .work import persona_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....pool.population.population import Population
    from ....schema.team.task import Task
    from ....schema.team.team import Agent, Team
    from ...core.bounds import Bounds
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode

OPERATOR = "lead"
SAFE = "voting"
"""The default structure, if nothing is known in favour of another."""
LONGEST_ABOUT = 300
"""The most characters of the description of a structure or an earlier choice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leader:
    """The leader of a team, with its knowledge of the members.

    Attributes:
        able: Each member's competence in the task's niche, in [0, 1], by seat, the anchor first.
        names: The members, by the same seats.
    """

    agent: Agent
    able: Mapping[str, float]
    names: Mapping[str, str]

    @property
    def profile(self) -> tuple[float, ...]:
        """The members' competence, in the order of their seats."""
        return (*self.able.values(),)

    @classmethod
    def of(
        cls,
        population: Population,
        chosen: Mapping[str, str],
        agents: Mapping[str, Agent],
        niche: str,
    ) -> Leader:
        """Return the leader of a team: its anchor.

        Args:
            chosen: The members by their seats, the anchor first.
            niche: The task's niche; "" for a task without one.
        """
        able = {seat: population.agents[name].q(niche) for seat, name in chosen.items()}
        return cls(agent=agents[chosen[ANCHOR]], able=able, names=chosen)


@dataclass(frozen=True, kw_only=True, slots=True)
class StructureChoice:
    """The chosen structure of a team.

    Attributes:
        by: The source of the choice: the leader; the fallback rule, if the leader's answer was
            invalid; or nobody, if there is only one structure.
    """

    leader: Leader
    structure: str
    by: Literal["leader", "fallback", "nobody"]
    reason: str = ""

    def printed(self) -> Printed:
        """Return it in the form that `mas dev op` prints."""
        team = ", ".join(f"{name} ({seat})" for seat, name in self.leader.names.items())
        notes = (f"team: {team}", f"why: {self.reason or 'there is no other'}")
        return Printed(value=self.structure, notes=notes)


def closest(
    rounds: Sequence[Mapping[str, Any]], profile: Sequence[float], niche: str, k: int
) -> list[tuple[Mapping[str, Any], float]]:
    """Return the `k` most similar earlier choices, each with its similarity in [0, 1].

    The similarity is the cosine of two vectors. Each is a one-hot vector of the niche, followed by
    the competence of each seat, with 0 for a missing seat. EvoChamber §3.4 forms the query from
    niche label and competence profile. Among equally similar choices, later ones come first.

    Args:
        profile: The competence of each seat, in [0, 1], the anchor first.
        niche: The niche; "" for a task without one.
    """
    if k < 1:
        return []
    same = [place for place, fields in enumerate(rounds) if fields["niche"] == niche]
    pairs = _most_alike(rounds, same, profile, niche, k)
    # The highest similarity that a choice in another niche can have.
    of_another = math.hypot(*profile) / math.hypot(1.0, *profile)
    if len(pairs) < k or pairs[-1][1] <= of_another:
        pairs = _most_alike(rounds, range(len(rounds)), profile, niche, k)
    return [(rounds[place], min(1.0, similarity)) for place, similarity in pairs]


def _most_alike(
    rounds: Sequence[Mapping[str, Any]],
    places: Sequence[int],
    profile: Sequence[float],
    niche: str,
    k: int,
) -> list[tuple[int, float]]:
    """Return the `k` most similar choices among some places, each with its similarity."""
    import numpy as np

    if not places:
        return []
    profiles = [rounds[place]["profile"] for place in places]
    width = max(len(profile), *map(len, profiles))
    if {*map(len, profiles)} != {width}:
        profiles = [[*item, *[0.0] * (width - len(item))] for item in profiles]
    able = np.fromiter(chain.from_iterable(profiles), dtype=float).reshape(-1, width)
    dot = np.fromiter((rounds[place]["niche"] == niche for place in places), dtype=float)
    squares = np.ones(len(places))
    for column, own in zip(able.T, [*profile, *[0.0] * (width - len(profile))], strict=True):
        dot += column * own
        squares += column * column
    alike = dot / (np.sqrt(squares) * math.hypot(1.0, *profile))
    enough = np.partition(alike, -k)[-k] if k < len(alike) else -1.0
    best = [(float(alike[at]), places[at]) for at in np.flatnonzero(alike >= enough).tolist()]
    return [(place, similarity) for similarity, place in sorted(best, reverse=True)[:k]]


def fallback(rounds: Sequence[Mapping[str, Any]], niche: str, structures: Sequence[str]) -> str:
    """Return the structure with the best mean reward on a niche; voting if none is known.

    The first structure wins a tie. Without a voting structure, the default is the first.

    Args:
        niche: The niche; "" for a task without one.
        structures: The structures to choose from; at least one.
    """
    rewards: dict[str, list[float]] = {structure: [] for structure in structures}
    for fields in rounds:
        if fields["niche"] == niche and fields["structure"] in rewards:
            rewards[fields["structure"]].append(fields["reward"])
    means = {name: math.fsum(of) / len(of) for name, of in rewards.items() if of}
    if means:
        return max(means, key=lambda name: means[name])
    return SAFE if SAFE in rewards else structures[0]


async def lead(
    model: OperatorModel,
    path: str,
    task: Task,
    leader: Leader,
    structures: Mapping[str, Team],
    *,
    rounds: Sequence[tuple[Mapping[str, Any], float]] = (),
) -> StructureChoice | RejectedProposal:
    """Ask the leader of a team to choose its structure (EvoChamber §3.4, LeadLearn).

    Args:
        structures: The structures that fit the team, by name; at least one. A single one is
            returned without a model call.
        rounds: Similar earlier choices with their similarity, the most similar first.
    """
    if len(structures) == 1:
        return StructureChoice(leader=leader, structure=next(iter(structures)), by="nobody")
    limits = model.limits
    schema = closed(reason=reason_schema(limits), structure=among(structures))
    persona = persona_of(leader.agent, model.catalogue)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, has_rounds=bool(rounds)),
        material=material(
            task_text(task, limits),
            fenced("leader", clip(persona, limits.characters), leader.agent.id),
            team_text(leader, task.niche or "", limits),
            fenced("structures", _structure_list(structures, limits)),
            fenced("rounds", _shown(rounds, limits)),
        ),
        schema=schema,
        read=functools.partial(_read, leader, schema, limits),
        parents=(*structures,),
        inputs={"task": task, "leader": leader, "structures": structures, "known": rounds},
    )
    return await model.ask(path, question)


def team_text(leader: Leader, niche: str, bounds: Bounds) -> str:
    """Return the members of a team and their competence, as shown to a model."""
    on = f" on {on_one_line(niche)}" if niche else ""
    lines = [f"{leader.names[seat]} ({seat}): {q:.2f}{on}" for seat, q in leader.able.items()]
    return fenced("team", clip("\n".join(lines), bounds.team_characters))


async def choose_structure(
    episode: Episode,
    population: Population,
    chosen: Mapping[str, str],
    structures: Mapping[str, Team],
) -> StructureChoice:
    """Return the structure that the leader chooses, or the fallback if its answer is invalid.

    A fallback is recorded as a rejection, and the episode continues. The leader also chooses in a
    test.

    Args:
        chosen: The members by their seats, the anchor first.
        structures: The structures that fit the team, by name. For a single one, no model is called.
    """
    task, niche = episode.task, episode.task.niche or ""
    agents = {name: episode.view.agents[name].agent for name in chosen.values()}
    leader = Leader.of(population, chosen, agents, niche)
    rounds = closest(population.rounds, leader.profile, niche, episode.settings.bank)
    answer: StructureChoice | RejectedProposal = await operator_of(OPERATOR).act(
        episode.meta_model, f"{episode.path}lead", task, leader, structures, rounds=rounds
    )
    if (result := episode.usable(answer)) is None:
        best = fallback(population.rounds, niche, [*structures])
        result = StructureChoice(leader=leader, structure=best, by="fallback")
    if result.by != "nobody":
        episode.note("led", agent=leader.agent.id, structure=result.structure, by=result.by)
    return result


def _structure_list(structures: Mapping[str, Team], bounds: Bounds) -> str:
    """Return structures as shown to a model, one line each."""
    room = min(LONGEST_ABOUT, bounds.team_characters // len(structures))
    return "\n".join(
        f"- {name}: {clip(on_one_line(team.description), room) or 'no description'}"
        for name, team in structures.items()
    )


def _shown(rounds: Sequence[tuple[Mapping[str, Any], float]], bounds: Bounds) -> str:
    """Return earlier choices as shown to a model, one line each."""
    room = min(LONGEST_ABOUT, bounds.team_characters // max(1, len(rounds)))
    return "\n".join(_round(fields, similarity, room) for fields, similarity in rounds)


def _round(past_round: Mapping[str, Any], similarity: float, room: int) -> str:
    able = " ".join(f"{q:.2f}" for q in past_round["profile"])
    on = (
        f"on {on_one_line(past_round['niche'])}" if past_round["niche"] else "on a task of no niche"
    )
    why = clip(on_one_line(past_round["reflection"]), room)
    worth = f"worth {past_round['reward']:.3g}{f'. {why}' if why else ''}"
    return f"- {similarity:.2f} alike: {on}, seats {able}: {past_round['structure']}, {worth}"


def _read(leader: Leader, schema: Mapping[str, Any], bounds: Bounds, text: str) -> StructureChoice:
    fields = structured(text, schema, bounds)
    return StructureChoice(
        leader=leader, structure=fields["structure"], by="leader", reason=fields["reason"]
    )


LEAD = Operator(
    name=OPERATOR,
    scale="team",
    act=lead,
    about="Let the leader of a team choose the team's structure for a task. Without AGENTS, the"
    " members are chosen as EvoChamber does.",
    inputs={"rounds": "earlier_rounds"},
    gives="words",
)
