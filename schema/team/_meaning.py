"""The meaning of a team file: rules that a JSON schema cannot express.

Each rule takes a reading of the file and yields the problems it finds. A rule never assumes that
another one holds, so that all problems are reported at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..host.catalogue import (
    find_package,
    is_installed,
    load_named,
    load_tool,
    needs_reports,
    tool_identifier,
)
from ..host.conforming import expected
from ..host.foreign_code import foreign_code
from ..values.errors import InputError
from ..values.hints import did_you_mean, listed
from ..values.problems import Path, quoted, reason_of
from ..values.secrets import LOOKS_LIKE_A_KEY, looks_secret
from ..values.values import is_list, is_mapping
from ._graph import Reading, Rule, is_clear, known_agents, no_cycle, one_output
from .team import ACTS, DEFAULT_BACKEND, IMPLIED_BACKENDS, OF_OTHERS, READ_SKILL, is_prompt_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..host.catalogue import Catalogue
    from ..values.document import Document
    from ..values.problems import Problem
    from .team import Agent

__all__ = [
    "AGENT_RULES",
    "GRAPH_RULES",
    "TEAM_RULES",
    "Reading",
    "Rule",
    "objections",
    "secrets_in",
]

FILE_NAME = re.compile(r"[/\\]|\.(md|txt|ya?ml|prompt)$")
"""Matches a one-word prompt that was probably meant as a file name."""
LONGEST_PROMPT = 65_536


def known_names(reading: Reading) -> Iterator[Problem]:
    """Check that tools, models, functions and prompts exist on this host and are granted."""
    catalogue = reading.catalogue
    for agent, path in reading.agents():
        if agent.model_id not in catalogue.aliases:
            yield reading.problem((*path, "model_id"), _unknown_model(agent.model_id, catalogue))
        for index, tool in enumerate(agent.tools):
            if complaint := _tool_complaint(tool, catalogue):
                yield reading.problem((*path, "tools", index), complaint)
        if agent.function is not None and agent.function not in catalogue.functions:
            hint = did_you_mean(agent.function, catalogue.functions)
            message = f"no function {quoted(agent.function)}.{hint or _hint(catalogue.functions)}"
            yield reading.problem((*path, "function"), message)
        if problem := _prompt_problem(agent.prompt, catalogue):
            yield reading.problem((*path, "prompt"), problem)


def known_imports(reading: Reading) -> Iterator[Problem]:
    """Check that the packages that agents import are installed on this host and allowed."""
    allowed = reading.catalogue.imports
    for agent, path in reading.agents():
        for index, package in enumerate(agent.imports):
            if why := _no_import(package, allowed):
                yield reading.problem((*path, "imports", index), why)


def distinct_tools(reading: Reading) -> Iterator[Problem]:
    """Check that no two tools of an agent have the same identifier for a model."""
    for agent, path in reading.agents():
        uses: dict[str, str] = {"final_answer": "the answer itself"}
        if agent.notes.skills:
            uses[READ_SKILL] = "the way to its skills"
        if reading.team.execution.roster is not None:
            uses |= dict.fromkeys(ACTS, "a way to act on its team")
        for index, tool in enumerate(agent.tools):
            identifier = tool_identifier(tool)
            earlier = uses.setdefault(identifier, tool)
            if earlier != tool:
                yield reading.problem(
                    (*path, "tools", index),
                    f"for a model, {quoted(tool)} and {earlier} are both called {identifier}. Grant"
                    " one of them, or rename the server in tools.yaml.",
                )


def known_backends(reading: Reading) -> Iterator[Problem]:
    """Check that each agent's backend is installed and accepts agents of its type."""
    team, catalogue = reading.team, reading.catalogue
    if team.backend is not None and team.backend not in catalogue.backends:
        yield reading.problem(("backend",), _unknown_backend(team.backend, catalogue))
    for agent, path in reading.agents():
        if agent.backend is not None and agent.backend not in catalogue.backends:
            yield reading.problem((*path, "backend"), _unknown_backend(agent.backend, catalogue))
        elif agent.agent_type not in {None, *IMPLIED_BACKENDS} and agent.backend is None:
            hint = did_you_mean(str(agent.agent_type), IMPLIED_BACKENDS)
            message = f"no agent type {quoted(agent.agent_type)}.{hint or _hint(IMPLIED_BACKENDS)}"
            yield reading.problem((*path, "agent_type"), message)
        elif team.backend_of(agent) in catalogue.backends and reading.sound(f"agents.{agent.id}"):
            where = (*path, "agent_type" if agent.agent_type else "backend")
            where = where if where in reading.document.keys else path
            for message in objections(agent, team.backend_of(agent)):
                yield reading.problem(where, message, at_key=where == path)


def reported_functions(reading: Reading) -> Iterator[Problem]:
    """Check that each function loads, and has a reporting agent if it works on reports.

    A function without reports fails on every task and in every context, because an agent that
    nobody reports to is among the first to run.
    """
    if not is_clear(reading):
        return
    receivers = {receiver for _, receiver in reading.team.edges}
    for agent, path in reading.agents():
        function = agent.function
        if function not in reading.catalogue.functions:
            continue
        is_function = reading.team.backend_of(agent) == "function"
        if is_function and (why := _idle(function, has_reports=agent.id in receivers)):
            yield reading.problem((*path, "function"), why)


def notes_on_others(reading: Reading) -> Iterator[Problem]:
    """Check that no agent has a note on itself among its notes on others."""
    for agent, path in reading.agents():
        for kind in OF_OTHERS:
            if agent.id in getattr(agent.notes, kind):
                yield reading.problem(
                    (*path, "notes", kind, agent.id),
                    "that is the agent itself. Write a patch to change its conduct.",
                    at_key=True,
                )


def taught_notes(reading: Reading) -> Iterator[Problem]:
    """Check that every note listed in `taught` exists."""
    for agent, path in reading.agents():
        places = agent.notes.places
        for place in sorted(agent.notes.taught.keys() - {*places}):
            hint = did_you_mean(place, places) or " Leave this line out."
            where = (*path, "notes", "taught", place)
            yield reading.problem(where, f"there is no note {quoted(place)}.{hint}", at_key=True)


def drafts_of_models(reading: Reading) -> Iterator[Problem]:
    """Check that agents that draft only answer; any other action would happen twice."""
    for agent, path in reading.agents():
        backend = reading.team.backend_of(agent)
        if agent.drafts and backend in reading.catalogue.backends - {DEFAULT_BACKEND}:
            yield reading.problem(
                (*path, "recall", "by"),
                "agents of type LLM can draft, and no others: this one of the backend"
                f" {backend} would do everything twice. Write by: task.",
            )


def declared_parts(reading: Reading) -> Iterator[Problem]:
    """Check the parts that few teams declare: passes, an open roster, agents' conditions."""
    execution = reading.team.execution
    rules: tuple[Rule, ...] = ()
    if execution.rounds is not None or execution.recruit is not None:
        from ._passes import PASS_RULES

        rules += PASS_RULES
    if execution.roster is not None:
        from ._roster import ROSTER_RULES

        rules += ROSTER_RULES
    if any(agent.is_conditional for agent in reading.team.agents.values()):
        from ._conditional import CONDITION_RULES

        rules += CONDITION_RULES
    for rule in rules:
        yield from rule(reading)


def secrets_in(document: Document) -> Iterator[Problem]:
    """Check that no text looks like a key. Messages never show the text itself."""
    for path, text, at_key in _texts(document.value):
        if looks_secret(text):
            yield document.problem(path, LOOKS_LIKE_A_KEY, at_key=at_key)


GRAPH_RULES: tuple[Rule, ...] = (
    known_agents,
    no_cycle,
    one_output,
    declared_parts,
)
"""The rules that hold on every host."""

AGENT_RULES: tuple[Rule, ...] = (
    known_names,
    known_imports,
    distinct_tools,
    known_backends,
    notes_on_others,
    taught_notes,
    drafts_of_models,
)
"""The rules for a single agent."""

TEAM_RULES: tuple[Rule, ...] = (
    *GRAPH_RULES,
    known_names,
    known_imports,
    distinct_tools,
    known_backends,
    reported_functions,
    notes_on_others,
    taught_notes,
    drafts_of_models,
)
"""All rules, including whether this host knows every name in the file."""


def _unknown_model(alias: str, catalogue: Catalogue) -> str:
    hint = did_you_mean(alias, catalogue.aliases)
    return (
        f"no model {quoted(alias)} on this host.{hint or _hint(catalogue.aliases)}"
        f" Define it in models.yaml, or with --model {alias}=PROVIDER/NAME."
    )


def _tool_complaint(tool: str, catalogue: Catalogue) -> str:
    """Return why a tool is unavailable; empty if it is available."""
    if tool not in catalogue.tools:
        return _unknown_tool(tool, catalogue)
    if tool in catalogue.python_tools or "." in tool or not is_installed(tool):
        return ""
    try:
        load_tool(tool)
    except InputError as error:
        return str(error)
    return ""


def _unknown_tool(tool: str, catalogue: Catalogue) -> str:
    proposed = catalogue.tools - catalogue.benchmark_tools
    if tool in catalogue.withheld_tools:
        return f"the tool {quoted(tool)} is not granted here. Granted: {listed(proposed)}."
    hint = did_you_mean(tool, catalogue.tools) or _hint(proposed)
    declare = " Declare its server in tools.yaml." if "." in tool else ""
    return f"no tool {quoted(tool)}.{hint}{declare}"


def _no_import(package: str, allowed: frozenset[str] | None) -> str | None:
    """Return why agents need not, may not or cannot import a package; None if they can."""
    if package in sys.stdlib_module_names:
        return f"{package} comes with Python, so every CodeAgent has it. Leave it out."
    if allowed is not None and package not in allowed:
        return (
            f"the package {quoted(package)} is not allowed here. Allowed:"
            f" {listed(sorted(allowed))}."
        )
    if find_package(package) is None:
        return f"no package {quoted(package)} is installed beside coterie, in {sys.prefix}."
    return None


def _unknown_backend(name: str, catalogue: Catalogue) -> str:
    others = f"{_hint(catalogue.backends)} A plugin may add others."
    return f"no backend {quoted(name)}.{did_you_mean(name, catalogue.backends) or others}"


def _prompt_problem(prompt: str, catalogue: Catalogue) -> str | None:
    if is_prompt_id(prompt):
        return _prompt_file_problem(prompt, catalogue)
    if len(prompt.split()) == 1 and FILE_NAME.search(prompt):
        return (
            f"{quoted(prompt)} looks like a file name. Write the id of a prompt file, for instance"
            " solve_step_by_step, or the text itself."
        )
    return None


def _prompt_file_problem(prompt_id: str, catalogue: Catalogue) -> str | None:
    try:
        text = catalogue.prompt(prompt_id)
    except (OSError, UnicodeDecodeError) as error:
        return f"the prompt file {prompt_id}.md cannot be read: {reason_of(error)}."
    if text is None:
        hint = did_you_mean(prompt_id, catalogue.prompt_ids)
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


def _idle(function: str, *, has_reports: bool) -> str | None:
    """Return why a function cannot work with or without reports; None if it can."""
    try:
        if not needs_reports(function) or has_reports:
            return None
    except InputError as error:
        return str(error)
    return (
        f"{function} works on colleagues' reports, but no agent reports to this one. Let an agent"
        " report to it, under topology.reports_to, or leave it out."
    )


def objections(agent: Agent, backend: str) -> Sequence[str]:
    """Return a backend's objections to an agent, or why the backend cannot be loaded."""
    try:
        with foreign_code(f"the backend {backend}", InputError):
            result = load_named("runners", backend).objections(agent)
            return [*expected(result, Iterable[str], f"the backend {backend}")]
    except InputError as error:
        return (str(error),)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """Yield each text of a document with its path, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif is_mapping(value):
        for key, item in value.items():
            yield (*path, key), key, True
            yield from _texts(item, (*path, key))
    elif is_list(value):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _hint(names: Any) -> str:
    return f" Known: {listed(sorted(names))}."
