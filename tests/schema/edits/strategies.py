"""What hypothesis makes up for the tests of edits: related teams, and edits good and bad."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from coterie.schema import Agent, Team
from coterie.schema.edits import (
    AddAgent,
    AddEdge,
    Edit,
    GrantTool,
    OrderAgents,
    RemoveAgent,
    RemoveEdge,
    RenameAgent,
    ReplaceTopology,
    RevokeTool,
    SetBackend,
    SetExecution,
    SetMetadata,
    SetModel,
    SetNote,
    SetOutput,
    SetParameter,
    SetPrompt,
    SetRole,
    SetTools,
)
from coterie.schema.edits.components import AGENT_FIELDS
from coterie.schema.team.writing import team_value
from coterie.schema.values.values import equal_numbers_alike

from ..strategies import AGENTS, IDS, PROMPTS, TEXTS, VALUES, teams, working

TOOLS = ("read_file", "list_files", "search_text", "shell", "read_flie")
EXECUTION = ("parallel_workers", "timeout", "max_retries", "on_error", "context")
PARAMETERS = sorted(field for field, owner in AGENT_FIELDS.items() if owner == "parameters")


def exact(team: Team) -> str:
    """A team to the last bit of order, without where it and its agents come from."""
    agents = {
        item: replace(agent, member=None, notes=agent.notes.untaught)
        for item, agent in team.agents.items()
    }
    value = team_value(replace(team, agents=agents, lineage=None))
    return json.dumps(equal_numbers_alike(value))


def relabelled(team: Team, new: dict[str, str]) -> Team:
    """A team whose agents have other ids."""

    def now(agent_id: str) -> str:
        return new.get(agent_id, agent_id)

    return replace(
        team,
        agents={now(item): agent.renamed(now(item), new) for item, agent in team.agents.items()},
        reports_to={now(u): tuple(map(now, vs)) for u, vs in team.reports_to.items()},
        declared_output=team.declared_output and now(team.declared_output),
    )


@st.composite
def relatives(draw: DrawFn) -> tuple[Team, Team]:
    """Two teams with some agents, ids, edges and fields in common."""
    item, other = draw(teams()), draw(teams())
    free = [agent_id for agent_id in item.agents if agent_id not in other.agents]
    shared = dict(zip(draw(st.permutations(list(other.agents))), free, strict=False))
    other = relabelled(other, shared)
    for agent_id in other.agents:
        if draw(st.booleans()) and item.agents:
            fields = draw(st.sampled_from(list(item.agents.values())))
            agents = {**other.agents, agent_id: replace(fields, id=agent_id)}
            other = relabelled(replace(other, agents=agents), {})
    if set(item.agents) == set(other.agents) and draw(st.booleans()):
        other = replace(other, reports_to=item.reports_to, declared_output=item.declared_output)
    if draw(st.booleans()):
        other = replace(other, execution=item.execution, constitution=item.constitution)
    return item, working(other)


def edits_of(team: Team) -> SearchStrategy[list[Edit]]:
    """Lists of edits of a team: some fit, some do not, some make no sense at all."""
    here = st.sampled_from(list(team.agents))
    ids = here | here | IDS
    tools = st.sampled_from(TOOLS)
    some = st.lists(ids, max_size=3, unique=True).map(tuple)
    agents = st.builds(lambda name, fields: Agent(id=name, **fields), ids, AGENTS)
    kinds: list[SearchStrategy[Any]] = [
        st.builds(SetPrompt, agent=ids, prompt=PROMPTS | TEXTS),
        st.builds(SetRole, agent=ids, role=TEXTS),
        st.builds(SetModel, agent=ids, model_id=st.sampled_from(["default", "fast", "gpt"])),
        st.builds(GrantTool, agent=ids, tool=tools),
        st.builds(RevokeTool, agent=ids, tool=tools),
        st.builds(SetTools, agent=ids, tools=st.lists(tools, max_size=3).map(tuple)),
        st.builds(AddEdge, sender=ids, receiver=ids),
        st.builds(RemoveEdge, sender=ids, receiver=ids),
        st.builds(SetOutput, agent=ids | st.none()),
        st.builds(
            ReplaceTopology,
            reports_to=st.dictionaries(ids, some, max_size=3),
            output=ids | st.none(),
        ),
        st.builds(
            SetParameter,
            agent=ids,
            field=st.sampled_from(PARAMETERS),
            value=st.sampled_from([1, 300, 0.5, "LLM", "llm", "majority"]) | VALUES,
        ),
        st.builds(SetBackend, backend=st.sampled_from([None, "llm", "shell"])),
        st.builds(
            SetExecution,
            field=st.sampled_from(EXECUTION),
            value=st.sampled_from([True, 1, 3, 60, "skip", "all"]) | VALUES,
        ),
        st.builds(
            AddAgent, agent=agents, before=ids | st.none(), reports_to=some, receives_from=some
        ),
        st.builds(RemoveAgent, agent=ids),
        st.builds(RenameAgent, agent=ids, id=ids),
        st.builds(OrderAgents, agents=st.permutations(list(team.agents)).map(tuple)),
        st.builds(SetNote, agent=st.none(), note=st.just("constitution"), text=TEXTS),
        st.builds(SetNote, agent=ids, note=st.just("coaching"), text=TEXTS),
        st.builds(
            SetNote,
            agent=ids,
            note=st.sampled_from(["patch", "teammate", "pair"]),
            name=ids,
            text=TEXTS,
        ),
        st.builds(SetNote, agent=ids, note=st.just("skill"), name=ids),
        st.builds(
            SetNote,
            agent=ids,
            note=st.just("skill"),
            name=ids,
            text=TEXTS.filter(bool),
            description=TEXTS.filter(bool),
        ),
        st.builds(
            SetMetadata,
            field=st.sampled_from(["name", "description", "successful_tasks"]),
            value=TEXTS | VALUES,
        ),
    ]
    return st.lists(st.one_of(kinds), max_size=4)


@st.composite
def teams_and_edits(draw: DrawFn) -> tuple[Team, list[Edit]]:
    """A team, and edits that are meant for it."""
    team = draw(teams())
    return team, draw(edits_of(team))
