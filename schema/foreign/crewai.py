"""Converts CrewAI's agents.yaml and tasks.yaml to a team with one agent per task, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..host.models import DEFAULT_ALIAS
from ..loading.recognition import CREWAI
from ..team.team import Agent, Team
from ..values.document import Document
from ..values.hints import did_you_mean
from ..values.problems import Path, quoted
from .source import Edges, ForeignFile, Imported, as_prompt, ids_of, ill_fitting

ADVICE_ON_AGENTS = {
    "allow_code_execution": "Write agent_type: CodeAgent, whose code runs in a jail.",
    "allow_delegation": "Agents do not call each other: the topology says who reports to whom.",
    "function_calling_llm": "An agent has one model.",
    "knowledge_sources": "Give a pool's memory with recall, or the texts as files of the task.",
    "max_iter": "max_steps is for agents that use tools; this one makes one call.",
    "max_retry_limit": "Retries are the team's: execution.max_retries.",
    "max_rpm": "The limit on concurrent calls is in models.yaml: concurrency.",
    "reasoning": "Write effort to set how long a model thinks.",
    "step_callback": "The run's trace records every event.",
    "tools": "Grant tools by name: write agent_type: ToolCallingAgent and tools.",
    "verbose": "`mas-view --text` shows a run.",
}
ADVICE_ON_TASKS = {
    "callback": "The run's trace records every event.",
    "callbacks": "The run's trace records every event.",
    "guardrail": "Let another agent check it, or hold the answer to an output_schema.",
    "human_input": "No person is asked while a team works.",
    "output_file": "The run's folder has each agent's answer.",
    "output_json": "The class is code. Write its fields as output_schema.",
    "output_pydantic": "The class is code. Write its fields as output_schema.",
    "tools": ADVICE_ON_AGENTS["tools"],
}
NOT_READ = (
    "crew.py is code, and was not read: tasks run in the order of tasks.yaml. Check it for a"
    " manager, tools, memory and models."
)
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


@dataclass(kw_only=True, slots=True)
class _Inputs:
    """The replacements of placeholders such as `{topic}`: given values, or task references."""

    values: Mapping[str, str]
    missing: dict[str, None] = field(default_factory=dict[str, None])

    def filled(self, source: ForeignFile, path: Path) -> str:
        """Return a text with all its placeholders replaced."""
        text = source.text(path)
        for name in dict.fromkeys(_VARIABLE.findall(text)):
            if name not in self.values and name not in self.missing:
                self.missing[name] = None
                source.warn(
                    path,
                    f"'{{{name}}}' is filled in by crew.py there. Here it reads [{name}], and the"
                    f" task gives its value. Or set it: --input {name}=…",
                )
        return _VARIABLE.sub(lambda result: self.values.get(result[1], f"[{result[1]}]"), text)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Crew:
    """The two files of a crew, with state collected while reading."""

    agents: ForeignFile
    tasks: ForeignFile
    inputs: _Inputs
    models: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def crew_team(
    agents: Document, tasks: Document, name: str, inputs: Mapping[str, str] | None = None
) -> Imported:
    """Convert the two files of a CrewAI project.

    Each task becomes an agent: the agent that does it in CrewAI, with the task in its prompt. It
    reads the outputs of the tasks in its `context`, or of all earlier tasks.

    Args:
        inputs: The values of placeholders, by name.
    """
    crew = _Crew(
        agents=ForeignFile(document=agents),
        tasks=ForeignFile(document=tasks),
        inputs=_Inputs(values=inputs or {}),
    )
    works = crew.tasks.keys(())
    ids = _ids(crew, works)
    team_agents = {ids[work]: _agent(crew, work, ids[work]) for work in works}
    edges = _edges(crew.tasks, works, ids)
    doers = {crew.tasks.text((work, "agent")) for work in works}
    for agent in crew.agents.keys(()):
        if agent not in doers:
            crew.agents.lose((agent,), "it has no task in tasks.yaml, so it is left out.")
    crew.agents.lose_unread(ADVICE_ON_AGENTS)
    crew.tasks.lose_unread(ADVICE_ON_TASKS)
    team = Team(
        name=ids_of([name])[name],
        agents=team_agents,
        reports_to=edges.tuples,
        declared_output=ids[works[-1]] if len(works) > 1 else None,
    )
    return Imported(
        program=CREWAI,
        team=team,
        models=crew.models,
        losses=(*sorted(crew.agents.losses), *sorted(crew.tasks.losses)),
        advice=(NOT_READ, *_how_to_say(crew.inputs)),
    )


def _how_to_say(inputs: _Inputs) -> Iterator[str]:
    if inputs.missing:
        text = "; ".join(f"[{name}]: …" for name in inputs.missing)
        yield f'the task gives their values: --query "{text}"'


def _ids(crew: _Crew, works: list[str]) -> Mapping[str, str]:
    """Return the id of each task's agent: the agent's name, or the task's for a busy agent."""
    doers = {work: crew.tasks.text((work, "agent")) for work in works}
    often = Counter(doers.values())
    names = {
        name: doer if doer and often[doer] == 1 and doer not in works else name
        for name, doer in doers.items()
    }
    ids = ids_of(names.values())
    return {word: ids[name] for word, name in names.items()}


def _edges(source: ForeignFile, works: list[str], ids: Mapping[str, str]) -> Edges:
    edges = Edges()
    for work in works:
        for context in _context_tasks(source, works, work):
            edges.add(ids[context], ids[work])
    last = ids[works[-1]]
    for work in works[:-1]:
        if not edges.reports_to.get(ids[work]):
            edges.add(ids[work], last)
            source.warn(
                (work,),
                f"no agent reads its output there. Here all work leads to the answer: {ids[work]}"
                f" reports to {last}.",
            )
    return edges


def _context_tasks(source: ForeignFile, works: list[str], name: str) -> Iterator[str]:
    """Yield the tasks whose outputs a task receives."""
    before = works[: works.index(name)]
    runs_aside = source.take((name, "async_execution"))
    if source.take((name, "context")) is None:
        # An asynchronous task receives no context (CrewAI 1.15.30, `Crew._execute_tasks`).
        yield from () if runs_aside else before
        return
    for path, context in source.texts((name, "context")):
        if context in before:
            yield context
        elif context in works:
            source.lose(
                path, f"{quoted(context)} comes later, or is this task itself. It is left out."
            )
        else:
            hint = did_you_mean(context, works)
            source.lose(path, f"no task {quoted(context)} in the file.{hint} It is left out.")


def _agent(crew: _Crew, work: str, agent_id: str) -> Agent:
    tasks, agents, inputs = crew.tasks, crew.agents, crew.inputs
    doer = _doer(crew, work)
    parts = (
        ("", inputs.filled(agents, (doer, "backstory"))),
        ("Your goal: ", inputs.filled(agents, (doer, "goal"))),
        ("Your part of the task:\n", inputs.filled(tasks, (work, "description"))),
        ("What is expected of you:\n", inputs.filled(tasks, (work, "expected_output"))),
        ("", "Write it as Markdown." if tasks.take((work, "markdown")) else ""),
    )
    prompt = "\n\n".join(f"{head}{text}" for head, text in parts if text)
    role = " ".join(inputs.filled(agents, (doer, "role")).split())
    if named := [name for name in inputs.missing if f"[{name}]" in f"{role}{prompt}"]:
        listed = ", ".join(f"[{name}]" for name in named)
        prompt += f"\n\nThe task gives the values in brackets: {listed}."
    if len(role) > 200:
        agents.warn((doer, "role"), "a role has 200 characters at most. The rest is left out.")
    return Agent(
        id=agent_id,
        role=role[:200],
        agent_type="LLM",
        model_id=_model(crew, doer),
        prompt=as_prompt(prompt or "Do your part of the task."),
        **_limits(agents, doer),
    )


def _doer(crew: _Crew, work: str) -> str:
    """Return the CrewAI agent that does a task; warn if only the task itself is known."""
    names = crew.agents.keys(())
    doer = crew.tasks.text((work, "agent"))
    if not doer:
        crew.tasks.warn((work,), "crew.py assigns it. Here its agent has the task as its prompt.")
    elif doer not in names:
        hint = did_you_mean(doer, names)
        message = f"no agent {quoted(doer)} in {crew.agents.document.file}.{hint}"
        crew.tasks.warn((work, "agent"), f"{message} Its agent has the task as its prompt.")
    return doer


def _model(crew: _Crew, doer: str) -> str:
    """Return the alias of an agent's model, such as `openai/gpt-4o`; lose any other name."""
    named = crew.agents.take((doer, "llm"))
    name = named.strip() if isinstance(named, str) else ""
    if not named:
        return DEFAULT_ALIAS
    if "/" not in name:
        wrong = f"{quoted(name)} is not PROVIDER/NAME." if name else "PROVIDER/NAME is wanted."
        usual = "The agent uses the model default: define it with --model, or in models.yaml."
        crew.agents.lose((doer, "llm"), f"{wrong} {usual}")
        return DEFAULT_ALIAS
    alias = re.sub(r"[^A-Za-z0-9_.:/-]+", "_", name.rpartition("/")[2]) or "model"
    if crew.models.setdefault(alias, {"model": name}) != {"model": name}:
        alias = re.sub(r"[^A-Za-z0-9_.:/-]+", "_", name)
        crew.models[alias] = {"model": name}
    return alias


def _limits(agents: ForeignFile, doer: str) -> dict[str, Any]:
    names = {"max_tokens": "max_tokens", "timeout": "max_execution_time"}
    fields = {ours: agents.number((doer, theirs)) for ours, theirs in names.items()}
    limits = {name: number for name, number in fields.items() if number is not None}
    for name, message in ill_fitting(limits):
        limits.pop(name, None)
        agents.lose((doer, names[name]), message)
    return limits
