"""Readers of operators' inputs from command-line arguments: teams, tasks and runs.

A reader has the name of the parameters that it fills. Its own parameters are other inputs,
arguments and options, which are read first. A parameter with a default keeps it, unless another
part of the command needs that input anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....schema.loading.loading import load_task
from ....schema.team.task import Task
from ....schema.values.errors import InputError
from ....schema.values.hints import did_you_mean
from ...core.account import RoundAccount
from ...core.recorded import read_run, with_dialogues
from ...core.roles import load_roles
from ...methods.evochamber.work import MemberWork, persona_of
from ...methods.meta_team import Ground, TaskFeedback, interactions, speakers
from ..arguments import OperatorHost, learnt, text_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ....pool.ledger.learnt import Learnt
    from ....schema.host.catalogue import Catalogue
    from ....schema.team.team import Agent, Team
    from ...core.proposal import Parent

DIALOGUE = 200_000
"""The most characters of each agent's dialogue."""


def host(options: dict[str, Any], catalogue: Catalogue) -> OperatorHost:
    """Return the resources of operators on this host."""
    return OperatorHost.of(options, catalogue)


def task(
    catalogue: Catalogue,
    task_file: Path | None,
    query: str | None,
    run_folder: Path | None = None,
    runs: tuple[Path, ...] = (),
) -> Task:
    """Load the task, by default that of the given run."""
    if task_file is not None and query is not None:
        raise InputError("give either a task file or a question with --query.")
    if query is not None:
        return Task(id="query", query=query)
    folders = (run_folder,) if run_folder else runs
    if task_file is None and folders:
        task_file = folders[0] / "task.json"
    if task_file is None:
        raise InputError("give the task: --task FILE, or --query QUESTION.")
    return load_task(task_file, catalogue)


def team(host: OperatorHost, team_file: str) -> Team:
    """Load a team."""
    [parent] = host.parents([team_file])
    return parent.team


def parent(host: OperatorHost, team_file: str, runs: tuple[Path, ...]) -> Parent:
    """Load a team, with the digest of its run."""
    [only] = host.parents([team_file], runs)
    return only


def couple(
    host: OperatorHost, first_file: str, second_file: str, runs: tuple[Path, ...]
) -> tuple[Parent, Parent]:
    """Load two teams, with the digests of their runs."""
    first, second = host.parents([first_file, second_file], runs)
    return first, second


def memories(
    catalogue: Catalogue, task: Task, memory_folder: Path | None, embedder: str | None
) -> tuple[Learnt, ...]:
    """Return what was learnt on similar tasks, if a pool is named."""
    from ....pool.teams.pool import Pool

    pool = None if memory_folder is None else Pool.open(memory_folder, catalogue=catalogue)
    return tuple(entry for entry, _ in learnt(pool, task, catalogue, embedder))


def roles(catalogue: Catalogue, roles_folder: Path) -> Mapping[str, Agent]:
    """Load a catalogue of roles."""
    return load_roles(roles_folder, catalogue)


def rubric(rubric_file: Path | None) -> str:
    """Read a rubric; "" for the operator's own."""
    return "" if rubric_file is None else text_in(rubric_file)


def agent(agent_id: str, team: Team | None = None, parent: Parent | None = None) -> str:
    """Return the id of an agent of the team."""
    return _agent_of(team or (parent and parent.team), agent_id)


def other_agent(other_agent_id: str, team: Team | None = None, parent: Parent | None = None) -> str:
    """Return the id of another agent of the team."""
    return _agent_of(team or (parent and parent.team), other_agent_id)


def asking_agent(team: Team, agent_id: str) -> str:
    """Return the id of an agent that calls a model."""
    _agent_of(team, agent_id)
    if not team.asks_model(team.agents[agent_id]):
        raise InputError(f"{agent_id!r} of {team.name} calls no model, so it cannot be coached.")
    return agent_id


def _agent_of(team: Team | None, name: str) -> str:
    if team is not None and name not in team.agents:
        hint = did_you_mean(name, team.agents) or f" Agents: {', '.join(team.agents)}."
        raise InputError(f"no agent {name!r} in {team.name}.{hint}")
    return name


def account(team: Team, run_folder: Path) -> RoundAccount:
    """Return the account of a team's recorded run."""
    run = read_run(run_folder)
    if {*run.agents} != {*team.agents}:
        raise InputError(
            f"{run_folder}: the agents of this run are {', '.join(run.agents)}, not those of"
            f" {team.name}. Use the team that worked: {run_folder / 'team.yaml'}; if it adapted,"
            " the team of the round that answered."
        )
    return RoundAccount(team=team, run=run)


def reward(account: RoundAccount, run_folder: Path, worth: float | None) -> float:
    """Return the reward of the team's answer: the given one, or the score of the run."""
    if worth is not None:
        return worth
    if (score := account.run.score) is None:
        raise InputError(
            f"{run_folder}: this run has no score, because its task has no reference answer. Add"
            " one: --reward 0.5."
        )
    return score.value


def work(catalogue: Catalogue, account: RoundAccount, agent: str) -> MemberWork:
    """Return the work of an agent of the team."""
    return _work(catalogue, account, agent, None)


def scored_work(
    catalogue: Catalogue, account: RoundAccount, agent: str, own_score: float | None
) -> MemberWork:
    """Return the work of an agent of the team, with its own score."""
    return _work(catalogue, account, agent, own_score)


def failed(
    catalogue: Catalogue, account: RoundAccount, failed_id: str, own_scores: tuple[float, float]
) -> MemberWork:
    """Return the work of the agent that failed."""
    return _work(catalogue, account, _agent_of(account.team, failed_id), own_scores[0])


def succeeded(
    catalogue: Catalogue, account: RoundAccount, succeeded_id: str, own_scores: tuple[float, float]
) -> MemberWork:
    """Return the work of the agent that succeeded."""
    return _work(catalogue, account, _agent_of(account.team, succeeded_id), own_scores[1])


def _work(
    catalogue: Catalogue, account: RoundAccount, name: str, score: float | None
) -> MemberWork:
    worker = account.team.agents[name]
    return MemberWork(
        agent=worker.member or name,
        persona=persona_of(worker, catalogue),
        account=account,
        positions=(name,),
        score=score,
    )


def ground(  # noqa: PLR0917 - all are given by their names
    task: Task,
    account: RoundAccount,
    run_folder: Path,
    worth: float | None,
    own_models: bool,
    show_answer: bool,
) -> Ground:
    """Read a run with its agents' dialogues, as the input of a retrospective."""
    from ....runtime.agents.outcomes import Score
    from ....runtime.record.events import all_events_of

    run = with_dialogues(account.run, all_events_of(run_folder), DIALOGUE)
    score = run.score if worth is None else Score(value=worth, reason="")
    feedback = TaskFeedback.of(task, run, score, shows_reference=show_answer)
    return Ground(team=account.team, run=run, feedback=feedback, own_model=own_models)


def speaker(ground: Ground, agent: str) -> str:
    """Return the id of an agent that has a conversation to continue."""
    speaking = speakers(ground.team, ground.run)
    if agent not in speaking:
        raise InputError(
            f"{agent} called no model in this run, so it has no conversation to continue. Agents"
            f" with one: {', '.join(speaking) or 'none'}."
        )
    return agent


def pair(ground: Ground, agent: str, other_agent: str) -> tuple[str, str]:
    """Return two agents that worked together, in the order of the team."""
    pairs = interactions(ground.team, ground.run)
    for both in pairs:
        if {*both} == {agent, other_agent}:
            return both
    listed = ", ".join(" and ".join(both) for both in pairs) or "none"
    raise InputError(
        f"{agent} and {other_agent} did not read each other's output. Pairs that did: {listed}."
    )
