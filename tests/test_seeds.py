"""The seed teams: their shapes, and that each of them runs with every real part inside."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Run, run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail.detect import detect
from coterie.runtime.record.trace import Event
from coterie.runtime.scoring.answer_line import ANSWER_ALONE, ANSWER_FORM
from coterie.schema import ScorerChoice, Task, Team, load_task, load_team
from coterie.schema.loading.agent_file import load_agent

from .scoring import found

ROOT = Path(__file__).parents[1]
SEEDS = sorted((ROOT / "seeds").glob("*.yaml"))
TASKS = sorted((ROOT / "examples" / "tasks").glob("*.json"))

# Agents and edges: EvoMAS Table 9, and the three settings of MATTRL.
SHAPES = {
    "majority_vote": (7, 6),
    "debate": (19, 78),
    "peer_review": (19, 78),
    "croto": (14, 16),
    "smoa": (11, 16),
    "metagpt": (5, 4),
    "chatdev": (5, 4),
    "single_agent": (1, 0),
    "consultation": (27, 26),
    "mathematics": (9, 14),
    "teaching": (7, 11),
}

# MATTRL App. A.2 and B.2: the departments of the catalogue, and as many seats as there are experts.
CATALOGUES = {"consultation": (24, 3, False), "mathematics": (3, 3, True)}


@pytest.mark.parametrize("name", CATALOGUES)
def test_a_seed_recruits_from_the_catalogue_of_its_setting(name: str) -> None:
    recruit = load_team(ROOT / "seeds" / f"{name}.yaml").execution.recruit
    assert recruit is not None
    assert (len(recruit.among), recruit.most, recruit.free) == CATALOGUES[name]


@pytest.mark.parametrize("name", SHAPES)
def test_a_seed_has_the_shape_of_its_pattern(name: str) -> None:
    team = load_team(ROOT / "seeds" / f"{name}.yaml")
    assert (len(team.agents), len(team.edges)) == SHAPES[name]
    assert team.name == name
    assert team.description


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_a_seed_is_canonical_and_has_one_output(path: Path) -> None:
    from coterie.schema.team.writing import canonical
    from coterie.schema.values.yaml_text import read_yaml

    content = path.read_bytes()
    document, problems = read_yaml(content, path.name)
    assert problems == []
    assert canonical(document, content.decode()) == content.decode()
    team = load_team(path)
    if team.execution.roster is None:
        ends = [agent for agent in team.agents if not team.reports_to.get(agent)]
        assert ends == [team.output]


def test_every_prompt_of_the_seeds_is_used() -> None:
    used = {agent.prompt for path in SEEDS for agent in load_team(path).agents.values()}
    assert {path.stem for path in (ROOT / "seeds" / "prompts").glob("*.md")} == used - {""}


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_an_example_task_loads_and_can_be_scored(path: Path) -> None:
    task = load_task(path)
    assert task.id == path.stem
    reference = json.dumps(task.answer) if not isinstance(task.answer, str) else task.answer
    assert found(task, reference).value == 1 or task.scorer.name == "regex"


def played(request: Mapping[str, Any]) -> Reply:
    """Answer as a model would that knows how each kind of agent wants to be answered."""
    tools = {tool["function"]["name"] for tool in request.get("tools", ())}
    text = json.dumps(request["messages"])
    if "bash" in tools:
        submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo The work is done."
        return Reply.bash(submit)
    if "final_answer" in tools:
        return Reply.tool("final_answer", answer="42")
    if "final_answer(" in text and "<code>" in text:
        return Reply.code("print(6 * 7)\nfinal_answer(str(6 * 7))")
    if "response_format" in request:
        schema = request["response_format"]["json_schema"]["schema"]
        return Reply.json(example(schema))
    return Reply(text="42")


def example(schema: dict[str, Any]) -> object:
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"type": "array", "items": items}:
            return [example(items)] * schema.get("minItems", 0)
        case {"type": "object", "properties": properties}:
            return {name: example(part) for name, part in properties.items()}
        case _:
            return "6*7"


def played_through(path: Path, events: list[Event]) -> Run:
    with ScriptedModel(played) as model:
        return run(
            path,
            ROOT / "examples" / "tasks" / "two_pipes.json",
            model=[f"scripted@{model.api_base}"],
            listener=events.append,
        )


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_a_seed_runs_to_its_answer_in_order(path: Path) -> None:
    events: list[Event] = []
    finished = played_through(path, events)
    assert finished.status == "done", finished.error
    team = load_team(path)
    recruit, roster = team.execution.recruit, team.execution.roster
    away = {*recruit.among} - {*finished.recruited} if recruit else set[str]()
    away |= {*team.agents} - {roster.lead} if roster else set[str]()  # whom it did not call upon
    away |= {name for name, outcome in finished.agents.items() if outcome.unneeded}
    present = {name for name, outcome in finished.agents.items() if outcome.status == "done"}
    assert present == {*team.agents} - away - idle(team, away)
    started = {
        event.agent: place for place, event in enumerate(events) if event.type == "agent_started"
    }
    ended = {
        event.agent: place for place, event in enumerate(events) if event.type == "agent_finished"
    }
    edges = [edge for edge in team.edges if present.issuperset(edge)]
    assert all(ended[reporter] < started[receiver] for reporter, receiver in edges)


def asks(text: str) -> str:
    """Normalise a prompt, whose lines may be broken anywhere."""
    return " ".join(text.split())


TEXTS = sorted(
    path
    for folder, ending in (("prompts", "md"), ("founders", "yaml"), ("roles", "yaml"))
    for path in (ROOT / "seeds" / folder).glob(f"*.{ending}")
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_prompts_ask_for_answers_in_one_form(path: Path) -> None:
    text = asks(path.read_text())
    if "`Answer:`" in text or "the final answer" in text:
        assert (ANSWER_FORM in text) != (ANSWER_ALONE in text)


SHORT = {
    "exact": ("B", {}),
    "choice": ("B", {}),
    "contains": ("B", {"case": True}),
    "regex": ("^B$", {}),
    "ranked": ("B", {}),
    "letter": ("B", {"letters": "ABCD"}),
    "mention": ("B", {"among": ["A", "B", "C", "D"]}),
    "sequence": (["B"], {}),
    "number": (42, {"tolerance": 0}),
    "json": (42, {}),
}
"""The scorers of short answers, each with a reference answer and options."""
OWN_FORM = {"chatdev", "metagpt", "code_repair", "consultation", "teaching", "write_and_revise"}
"""Seeds whose answer is a patch, a list of diagnoses, a choice after a lesson, or a text."""
BY_SCHEMA = {"majority_vote_3", "debate_3", "translate_and_calculate"}
ANSWERING = [seed for seed in SEEDS if seed.stem not in OWN_FORM | BY_SCHEMA]
FOUNDERS = sorted((ROOT / "seeds" / "founders").glob("*.yaml"))


def obedient(request: Mapping[str, Any]) -> Reply:
    """Answer B by what the prompt says of the form; with traps for who reads all of a text."""
    asked = asks(" ".join(str(message["content"]) for message in request["messages"]))
    is_reasoned = ANSWER_FORM in asked
    text = "A is out after 3 steps, (C) too.\n\n**Answer:** B" if is_reasoned else "B"
    if "response_format" not in request:
        return Reply(text=text)
    schema = request["response_format"]["json_schema"]["schema"]
    return Reply(text=json.dumps(example(schema)).replace("6*7", json.dumps(text)[1:-1]))


@pytest.mark.parametrize("path", [*ANSWERING, *FOUNDERS], ids=lambda path: path.stem)
def test_an_answer_in_the_form_of_its_prompt_is_right_by_every_scorer(path: Path) -> None:
    if path in FOUNDERS:
        founder = load_agent(path).agent
        team = Team(name="founder", agents={founder.id: founder}, reports_to={})
    else:
        team = load_team(path)
    agents = {
        name: agent
        if agent.agent_type == "Function"
        else replace(agent, agent_type="LLM", tools=())
        for name, agent in team.agents.items()
    }
    with ScriptedModel(obedient) as model:
        result = run(
            replace(team, agents=agents), query="A, B, C or D?", model=f"s@{model.api_base}"
        )
    assert result.answer is not None, result.error
    for name, (reference, options) in SHORT.items():
        scorer = ScorerChoice(name=name, options=options)
        answer = result.answer.replace("B", "42") if reference == 42 else result.answer
        task = Task(id="t", query="?", answer=reference, scorer=scorer)
        assert found(task, answer).value == 1, (name, answer)


def idle(team: Team, away: set[str]) -> set[str]:
    """Those who review only agents that are away."""
    reviewers = [agent.id for agent in team.agents.values() if agent.reviews]
    return {reviewer for reviewer in reviewers if away.issuperset(team.predecessors[reviewer])}
