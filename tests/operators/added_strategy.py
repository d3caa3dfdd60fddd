"""Mentoring: a strategy in one file. After a task, each agent is advised, and keeps the advice."""

from dataclasses import dataclass

from coterie.operators import child_of, closed, structured
from coterie.operators.core.digest import digest
from coterie.operators.core.material import material, memories_text, parent_text, task_text
from coterie.operators.core.meta import Question
from coterie.operators.core.operator import Operator, operator_of
from coterie.operators.core.proposal import Parent, Proposal, RejectedProposal
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.strategy import Strategy
from coterie.pool.ledger.changes import Learnt
from coterie.schema.edits import SetNote


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a recipe may say of it."""

    pieces: int = 2


PIECES = {
    "description": "How many pieces of earlier advice an agent is reminded of.",
    "type": "integer", "minimum": 0, "maximum": 10, "x-unit": "pieces", "default": 2,
}  # fmt: skip
SCHEMA = {"type": "object", "additionalProperties": False, "properties": {"pieces": PIECES}}


async def advise(meta, path, task, parent, agent, *, memories=()):
    """Have a model coach one agent of a team."""
    schema = closed(advice={"type": "string", "minLength": 1, "maxLength": 200})
    names = (parent.team.name,)

    def read(text):
        said = structured(text, schema, meta.limits)["advice"]
        edits = (SetNote(agent=agent, note="coaching", text=said),)
        child = child_of(parent.team, edits, meta.catalogue, meta.ceiling)
        base = parent.team
        return Proposal(
            operator="advise", parents=names, base=base, edits=edits, reason="", child=child
        )

    shown = parent_text(parent, meta.catalogue, meta.limits)
    about = material(task_text(task, meta.limits), shown, memories_text(memories, meta.limits))
    asked = Question(
        operator="advise", instructions=f"Give the agent {agent} one piece of advice.",
        material=about, schema=schema, read=read, parents=names,
    )  # fmt: skip
    return await meta.ask(path, asked)


async def mentoring(episode: Episode) -> None:
    """Run a team whose agents know what they were told before; then have them told more."""
    team, task = next(iter(episode.view.members.values())).team, episode.task
    for agent in team.agents:
        own = await episode.recall(task.text, episode.settings.pieces, owner=agent, kind="lesson")
        known = "\n".join(lesson.text for lesson, _ in own)
        reminder = SetNote(agent=agent, note="coaching", text=known)
        team = child_of(team, (reminder,), episode.meta_model.catalogue, episode.meta_model.ceiling)
    run = await episode.run(team, "run")
    episode.answered(run)
    episode.figures["reminders"] = sum(bool(item.notes.coaching) for item in team.agents.values())
    parent = Parent(team=team, digest=digest(run))
    for agent in team.agents if episode.learning else ():
        path = f"{episode.path}advise {agent}"
        result = await operator_of("advise").act(episode.meta_model, path, task, parent, agent)
        if isinstance(result, RejectedProposal):
            episode.lose(result)
        else:
            said = result.child.agents[agent].notes.coaching
            episode.keep(Learnt(kind="lesson", owner=agent, task=task.text, text=said))


ADVISE = Operator(name="advise", scale="agent", act=advise, about="Have a model coach one agent.")
MENTORING = Strategy(
    name="mentoring", episode=mentoring, settings=Settings, schema=SCHEMA,
    needs=lambda settings: frozenset({"teams", "meta_model", "memory"}),
)  # fmt: skip
