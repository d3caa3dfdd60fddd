"""What a team file means: rules that the shape of a file cannot express.

Each rule takes a reading of the file and gives the problems it finds. A rule never assumes that
another one holds, so that all problems show at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from graphlib import CycleError
from typing import TYPE_CHECKING, Any

from ._shape import shape_schema
from .catalogue import load_named, needs_reports, tool_identifier
from .errors import InputError
from .hints import did_you_mean
from .problems import Path, dotted, quoted, reason_of
from .secrets import LOOKS_LIKE_A_KEY, looks_secret
from .team import DEFAULT_BACKEND, IMPLIED_BACKENDS, READ_SKILL, is_prompt_id, natural
from .values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .catalogue import Catalogue
    from .document import Document
    from .problems import Problem
    from .team import Agent, Team

__all__ = [
    "AGENT_RULES",
    "GRAPH_RULES",
    "TEAM_RULES",
    "Reading",
    "Rule",
    "listed",
    "objections",
    "secrets_in",
]

_FILE_NAME = re.compile(r"[/\\]|\.(md|txt|ya?ml|prompt)$")
LONGEST_PROMPT = 65_536
GRAPH = ("topology", "execution.context")
"""The fields whose faults make it unclear which graph is meant."""
CLOSING: Path = ("execution", "rounds", "closing")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A team file as read.

    Attributes:
        document: What the file says.
        team: The team as far as the file has the right shape.
        catalogue: What is known.
        found: The problems of the file's shape.
    """

    document: Document
    team: Team
    catalogue: Catalogue
    found: Sequence[Problem] = ()

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Name a problem of the value at a path."""
        return self.document.problem(path, message, at_key=at_key)

    def sound(self, field: str) -> bool:
        """Tell whether a field and all in it have the right shape."""
        faulty = [problem.path for problem in self.found if problem.file == self.document.file]
        faulty += map(dotted, self.document.faulty_grafts({one.file for one in self.found}))
        return not any(f"{path}.".startswith(f"{field}.") for path in faulty)

    @property
    def agent_ids(self) -> Sequence[str]:
        """The ids that the file gives to agents, also to those of which it says nothing sound."""
        written = self.document.value.get("agents") if is_mapping(self.document.value) else None
        return tuple(written) if is_mapping(written) else ()

    def agents(self) -> Iterator[tuple[Agent, Path]]:
        """Give each agent and its path."""
        return ((agent, ("agents", agent.id)) for agent in self.team.agents.values())


def known_agents(reading: Reading) -> Iterator[Problem]:
    """Every name in the topology is an agent of the team."""
    known = reading.agent_ids
    if not known:
        return
    reports_to: Path = ("topology", "reports_to")
    for reporter, receivers in reading.team.reports_to.items():
        if reporter not in known:
            hint = did_you_mean(reporter, known) or f" Agents: {listed(known)}."
            yield reading.problem(
                (*reports_to, reporter), f"no agent {quoted(reporter)}.{hint}", at_key=True
            )
        for index, receiver in enumerate(receivers):
            if receiver not in known:
                hint = did_you_mean(receiver, known) or f" Agents: {listed(known)}."
                path = (*reports_to, reporter, index)
                yield reading.problem(path, f"no agent {quoted(receiver)}.{hint}")
    output = reading.team.declared_output
    if output is not None and output not in known:
        hint = did_you_mean(output, known) or f" Agents: {listed(known)}."
        yield reading.problem(("topology", "output"), f"no agent {quoted(output)}.{hint}")


def no_cycle(reading: Reading) -> Iterator[Problem]:
    """The topology is a directed acyclic graph."""
    team = _with_known_edges(reading.team)
    try:
        _ = team.levels
    except CycleError as error:
        cycle: list[str] = error.args[1]
        path: Path = ("topology", "reports_to", cycle[0])
        message = f"a cycle: {' -> '.join(cycle)}. Leave out one of these edges."
        yield reading.problem(path, message, at_key=True)


def one_output(reading: Reading) -> Iterator[Problem]:
    """Every agent's work finds its way into the output agent's."""
    team = reading.team
    if not team.agents or not _is_clear(reading):
        return
    sinks = [agent_id for agent_id in team.agents if not team.reports_to.get(agent_id)]
    if team.declared_output is None and team.execution.context != "all" and len(sinks) > 1:
        yield reading.problem(
            ("topology",) if team.edges else ("agents",),
            f"{len(sinks)} agents report to nobody: {listed(sinks)}. A team has one output: let"
            " the others report to it.",
        )
        return
    for lost in _lost(team):
        yield reading.problem(
            ("agents", lost),
            f"its output reaches nobody who works for the answer of {quoted(team.output)}."
            " Let it report to someone, or leave it out.",
            at_key=True,
        )


def rounds_that_end(reading: Reading) -> Iterator[Problem]:
    """Rounds that wait for somebody's word have somebody who can give it."""
    rounds = reading.team.execution.rounds
    if rounds is None or rounds.until != "finalized" or not _is_clear(reading):
        return
    repeating = [one for one in reading.team.agents.values() if one.id not in rounds.closing]
    if repeating and not any(one.can_finalize for one in repeating):
        yield reading.problem(
            ("execution", "rounds", "until"),
            "no agent that works in the rounds can say that it is done. Give one an output_schema"
            " with a boolean property final, or write until: unchanged.",
        )


def closing_at_the_end(reading: Reading) -> Iterator[Problem]:
    """Whoever closes works after all others, and gives the answer."""
    rounds, team, path = reading.team.execution.rounds, reading.team, CLOSING
    known = reading.agent_ids
    if rounds is None or not known or not reading.sound("execution.rounds"):
        return
    unknown = [one for one in rounds.closing if one not in known]
    for one in unknown:
        hint = did_you_mean(one, known) or f" Agents: {listed(known)}."
        place = (*path, rounds.closing.index(one))
        yield reading.problem(place, f"no agent {quoted(one)}.{hint}")
    if unknown or not rounds.closing or not _is_clear(reading):
        return
    if len(rounds.closing) == len(team.agents):
        yield reading.problem(path, "every agent closes. Leave out those that work in the rounds.")
        return
    if team.output not in rounds.closing:
        yield reading.problem(
            path,
            f"{quoted(team.output)}, whose output is the answer, is not among them. Add it, or"
            " leave out closing.",
        )
    for index, one in enumerate(rounds.closing):
        if others := [other for other in _hearing(team, one) if other not in rounds.closing]:
            yield reading.problem(
                (*path, index),
                f"{quoted(one)} closes, but its output is read in the rounds, by {listed(others)}."
                " Let them close as well, or let it work in the rounds.",
            )


def known_names(reading: Reading) -> Iterator[Problem]:
    """Tools, models, functions and prompts exist on this host and are granted."""
    known = reading.catalogue
    for agent, path in reading.agents():
        if agent.model_id not in known.aliases:
            yield reading.problem((*path, "model_id"), _unknown_model(agent.model_id, known))
        for index, tool in enumerate(agent.tools):
            if tool not in known.tools:
                yield reading.problem((*path, "tools", index), _unknown_tool(tool, known))
        if agent.function is not None and agent.function not in known.functions:
            hint = did_you_mean(agent.function, known.functions)
            message = f"no function {quoted(agent.function)}.{hint or _known(known.functions)}"
            yield reading.problem((*path, "function"), message)
        if problem := _prompt_problem(agent.prompt, known):
            yield reading.problem((*path, "prompt"), problem)


def distinct_tools(reading: Reading) -> Iterator[Problem]:
    """A model can tell an agent's tools apart by the identifiers that it sees."""
    for agent, path in reading.agents():
        taken: dict[str, str] = {"final_answer": "the answer itself"}
        if agent.notes.skills:
            taken[READ_SKILL] = "the way to its skills"
        for index, tool in enumerate(agent.tools):
            identifier = tool_identifier(tool)
            other = taken.setdefault(identifier, tool)
            if other != tool:
                yield reading.problem(
                    (*path, "tools", index),
                    f"for a model, {quoted(tool)} and {other} are both called {identifier}. Grant"
                    " one of them, or rename the server in tools.yaml.",
                )


def known_backends(reading: Reading) -> Iterator[Problem]:
    """Every agent has a backend that is installed and takes agents of its type."""
    team, known = reading.team, reading.catalogue
    if team.backend is not None and team.backend not in known.backends:
        yield reading.problem(("backend",), _unknown_backend(team.backend, known))
    for agent, path in reading.agents():
        if agent.backend is not None and agent.backend not in known.backends:
            yield reading.problem((*path, "backend"), _unknown_backend(agent.backend, known))
        elif agent.agent_type not in {None, *IMPLIED_BACKENDS} and agent.backend is None:
            hint = did_you_mean(str(agent.agent_type), IMPLIED_BACKENDS)
            message = f"no agent type {quoted(agent.agent_type)}.{hint or _known(IMPLIED_BACKENDS)}"
            yield reading.problem((*path, "agent_type"), message)
        elif team.backend_of(agent) in known.backends and reading.sound(f"agents.{agent.id}"):
            where = (*path, "agent_type" if agent.agent_type else "backend")
            where = where if where in reading.document.keys else path
            for message in objections(agent, team.backend_of(agent)):
                yield reading.problem(where, message, at_key=where == path)


def reported_functions(reading: Reading) -> Iterator[Problem]:
    """Every function that works on reports has a colleague who reports to it.

    Without one it fails whatever the task, in any context: an agent that nobody reports to is
    among the first to run.
    """
    if not _is_clear(reading):
        return
    heard = {receiver for _, receiver in reading.team.edges}
    for agent, path in reading.agents():
        function = agent.function
        if agent.id in heard or function not in reading.catalogue.functions:
            continue
        if reading.team.backend_of(agent) == "function" and (why := _idle(function)):
            yield reading.problem((*path, "function"), why)


def notes_on_others(reading: Reading) -> Iterator[Problem]:
    """No agent has a note on itself among those on its teammates."""
    for agent, path in reading.agents():
        if agent.id in agent.notes.teammates:
            yield reading.problem(
                (*path, "notes", "teammates", agent.id),
                "that is the agent itself. What it is to do differently is a patch.",
                at_key=True,
            )


def drafts_of_models(reading: Reading) -> Iterator[Problem]:
    """Whoever drafts does nothing but answer: what else it does, it would do twice."""
    for agent, path in reading.agents():
        backend = reading.team.backend_of(agent)
        if agent.drafts and backend in reading.catalogue.backends - {DEFAULT_BACKEND}:
            yield reading.problem(
                (*path, "recall", "by"),
                "agents of type LLM can draft, and no others: this one of the backend"
                f" {backend} would do everything twice. Write by: task.",
            )


def secrets_in(document: Document) -> Iterator[Problem]:
    """No text holds what looks like a key. The text itself is never shown."""
    for path, text, at_key in _texts(document.value):
        if looks_secret(text):
            yield document.problem(path, LOOKS_LIKE_A_KEY, at_key=at_key)


Rule = Callable[["Reading"], "Iterator[Problem]"]

GRAPH_RULES: tuple[Rule, ...] = (
    known_agents,
    no_cycle,
    one_output,
    rounds_that_end,
    closing_at_the_end,
)
"""The rules that hold on every host."""

AGENT_RULES: tuple[Rule, ...] = (
    known_names,
    distinct_tools,
    known_backends,
    notes_on_others,
    drafts_of_models,
)
"""The rules for an agent by itself."""

TEAM_RULES: tuple[Rule, ...] = (
    *GRAPH_RULES,
    known_names,
    distinct_tools,
    known_backends,
    reported_functions,
    notes_on_others,
    drafts_of_models,
)
"""All rules: what a file names is known on this host, too."""


def _with_known_edges(team: Team) -> Team:
    """Leave out edges to agents that do not exist, so that the rest of the graph can be judged."""
    from dataclasses import replace

    kept: Mapping[str, tuple[str, ...]] = {
        u: tuple(v for v in receivers if v in team.agents)
        for u, receivers in team.reports_to.items()
        if u in team.agents
    }
    return replace(team, reports_to=kept)


def _is_clear(reading: Reading) -> bool:
    """Tell whether the file says which graph is meant; if not, a lost agent is no news."""
    fields = {"", *shape_schema("team")["properties"]}
    return (
        set(reading.agent_ids) == set(reading.team.agents)
        and all(reading.sound(field) for field in GRAPH)
        and all(
            re.split(r"[.\[]", problem.path)[0] in fields
            for problem in reading.found
            if problem.file == reading.document.file
        )
        and not any(known_agents(reading))
        and not any(no_cycle(reading))
    )


def _lost(team: Team) -> list[str]:
    """Find the agents whose output the output agent sees neither directly nor through others."""
    if team.execution.context == "all":
        levels = team.levels
        last = next(index for index, level in enumerate(levels) if team.output in level)
        later = [agent_id for level in levels[last:] for agent_id in level]
        return sorted((lost for lost in later if lost != team.output), key=natural)
    reporters = team.predecessors
    reached, open_ends = {team.output}, [team.output]
    while open_ends:
        new = set(reporters[open_ends.pop()]) - reached
        reached |= new
        open_ends += new
    return [agent_id for agent_id in team.agents if agent_id not in reached]


def _hearing(team: Team, agent_id: str) -> Sequence[str]:
    """Name the agents that see an agent's output, by the team's rule for context."""
    if team.execution.context != "all":
        return team.reports_to.get(agent_id, ())
    levels = team.levels
    own = next(index for index, level in enumerate(levels) if agent_id in level)
    return [other for level in levels[own + 1 :] for other in level]


def _unknown_model(alias: str, known: Catalogue) -> str:
    hint = did_you_mean(alias, known.aliases)
    return (
        f"no model {quoted(alias)} on this host.{hint or _known(known.aliases)}"
        f" Define it in models.yaml, or with --model {alias}=PROVIDER/NAME."
    )


def _unknown_tool(tool: str, known: Catalogue) -> str:
    if tool in known.withheld_tools:
        return f"the tool {quoted(tool)} is not granted here. Granted: {listed(known.tools)}."
    hint = did_you_mean(tool, known.tools) or _known(known.tools)
    declare = " Its server would be declared in tools.yaml." if "." in tool else ""
    return f"no tool {quoted(tool)}.{hint}{declare}"


def _unknown_backend(name: str, known: Catalogue) -> str:
    others = f"{_known(known.backends)} A plugin may add others."
    return f"no backend {quoted(name)}.{did_you_mean(name, known.backends) or others}"


def _prompt_problem(prompt: str, known: Catalogue) -> str | None:
    if is_prompt_id(prompt):
        return _prompt_file_problem(prompt, known)
    if len(prompt.split()) == 1 and _FILE_NAME.search(prompt):
        return (
            f"{quoted(prompt)} looks like a file name. Write the id of a prompt file, for instance"
            " solve_step_by_step, or the text itself."
        )
    return None


def _prompt_file_problem(prompt_id: str, known: Catalogue) -> str | None:
    try:
        text = known.prompt(prompt_id)
    except (OSError, UnicodeDecodeError) as error:
        return f"the prompt file {prompt_id}.md cannot be read: {reason_of(error)}."
    if text is None:
        hint = did_you_mean(prompt_id, known.prompt_ids)
        return (
            f"no prompt file {prompt_id}.md.{hint} To give the text itself, write a sentence, or a"
            " block after `prompt: |`."
        )
    if not 0 < len(text) <= LONGEST_PROMPT:
        return (
            f"the prompt file {prompt_id}.md has {len(text)} characters; a prompt has 1 to"
            f" {LONGEST_PROMPT}."
        )
    return f"the prompt file {prompt_id}.md: {LOOKS_LIKE_A_KEY}" if looks_secret(text) else None


def _idle(function: str) -> str | None:
    """Say why a function cannot work without a report, or why it cannot be asked."""
    try:
        if not needs_reports(function):
            return None
    except InputError as error:
        return str(error)
    return (
        f"{function} works on what colleagues report, and nobody reports to this agent. Let someone"
        " report to it, under topology.reports_to, or leave it out."
    )


def objections(agent: Agent, backend: str) -> Sequence[str]:
    """Give what a backend has against an agent, or why it cannot be asked."""
    try:
        return tuple(load_named("runners", backend).objections(agent))
    except InputError as error:
        return (str(error),)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """Give every text of a document with its path, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif is_mapping(value):
        for key, item in value.items():
            yield (*path, key), key, True
            yield from _texts(item, (*path, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _known(names: Any) -> str:
    return f" Known: {listed(sorted(names))}."


def listed(names: Any, most: int = 8) -> str:
    """Name a few of many, and count the rest."""
    shown = list(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more if shown else "none"
