"""Teams of the shapes that pictures and words have to cope with."""

from collections.abc import Iterable
from itertools import pairwise

import pytest

from coterie.schema import Agent, Team


def team_of(name: str, agents: Iterable[Agent], edges: Iterable[tuple[str, str]]) -> Team:
    receivers: dict[str, list[str]] = {}
    for sender, receiver in edges:
        receivers.setdefault(sender, []).append(receiver)
    return Team(
        name=name,
        agents={agent.id: agent for agent in agents},
        reports_to={sender: tuple(ids) for sender, ids in receivers.items()},
    )


def llm(agent_id: str, role: str = "") -> Agent:
    return Agent(id=agent_id, role=role, agent_type="LLM")


@pytest.fixture
def vote() -> Team:
    workers = [llm(f"worker_{number}", "worker") for number in range(1, 7)]
    aggregator = Agent(id="aggregator", role="vote", agent_type="Function", function="majority")
    return team_of(
        "vote", [*workers, aggregator], [(worker.id, "aggregator") for worker in workers]
    )


@pytest.fixture
def debate() -> Team:
    rounds = [
        [llm(f"debater_{number}_round_{place}", f"debater {number}") for number in range(1, 7)]
        for place in (1, 2, 3)
    ]
    edges = [
        (item.id, other.id)
        for place in (0, 1)
        for item in rounds[place]
        for other in rounds[place + 1]
    ]
    edges += [(debater.id, "moderator") for debater in rounds[2]]
    agents = [*(debater for item in rounds for debater in item), llm("moderator", "moderator")]
    return team_of("debate", agents, edges)


@pytest.fixture
def chain() -> Team:
    ids = ["product_manager", "architect", "project_manager", "engineer", "qa_engineer"]
    roles = [agent_id.replace("_", " ") for agent_id in ids]
    return team_of("chain", map(llm, ids, roles), pairwise(ids))


@pytest.fixture
def skipping() -> Team:
    """Edges that pass levels: the splitter reports to the writer, two levels further on."""
    ids = ["splitter", "finder", "reader", "writer"]
    edges = [*pairwise(ids), ("splitter", "writer"), ("finder", "writer")]
    return team_of("skipping", map(llm, ids), edges)


@pytest.fixture
def hostile() -> Team:
    """Words that mean something to the languages of pictures."""
    role = """a "quoted" <b>role</b> &amp; #1; | `x` {y} %%{init}%% \\n ; ] --> 日本語 \x07"""
    agents = [
        Agent(id="end", role=role, agent_type="LLM"),
        Agent(id="graph", role="x" * 200, agent_type="LLM", model_id="m/" + "y" * 100),
        Agent(id="o" + "x" * 63, agent_type="LLM"),
    ]
    return team_of("hostile", agents, [("end", "graph"), ("graph", "o" + "x" * 63)])


@pytest.fixture(params=["vote", "debate", "chain", "skipping", "hostile"])
def team(request: pytest.FixtureRequest) -> Team:
    """Each of the teams in turn."""
    return request.getfixturevalue(request.param)
