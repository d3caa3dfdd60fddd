"""What hypothesis makes up for the schema's tests: texts as nasty as users', teams, values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from coterie.schema import (
    Agent,
    Catalogue,
    Execution,
    Lineage,
    LineageStep,
    Model,
    Notes,
    Recall,
    Skill,
    SolvedTask,
    Team,
)
from coterie.schema.host.models import EFFORTS
from coterie.schema.team.team import OF_OTHERS


def fewer(times: int) -> settings:
    """Return settings with so many times fewer examples, for a test whose examples are dear."""
    return settings(max_examples=settings().max_examples // times)


CATALOGUE = Catalogue.of_host(models={"fast": Model(alias="fast", model="openai/m")})

REFUSED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
"""What the readers take out of texts."""
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
"""What the readers take out of keys."""

MISLEADING = st.sampled_from([
    "yes", "No", "on", "y", "null", "~", "true", "1:30", "0o10", "010", "0x1F", "1e3", ".5", "-",
    "---", "...", "2026-11-21", "2026-11-21 10:00:00", "1_000", "=", "<<", "!tag", "&a", "*a",
    "? a", "- a", "a: b", "a:", ":a", "a #b", "#", "a#b", "%a", "@a", "`a`", "{{ x }}",
    "{% if %}", "[a, b]", "{a: b}", '"', "'", "|", ">", " a", "a ", "\ta", "a\t", "a\n", "a\n\n",
    "\na", "a\n\n\nb", "a\n  b\n c", "  a\nb", "a\r\nb", "a\rb", "a \nb", "\n", "a\\nb", "a\n \n",
    "a\u2028b", "\ufeffa", "a\xa0", "👩\u200d🔬", "\U000e0001", "漢字", "é", "# a\nb",
    "a\n# b", "x" * 120, "x " * 80, "---\na", "...\na", "a\n---\nb",
])  # fmt: skip
"""Texts that a writer of YAML gets wrong, or a reader takes for something else."""


_SIGNS = st.sampled_from(" \n\t:#-'\"|>{}[],&*!%@`?=\\~\r\x85\u2028\ufeff\xa0\u200baZ09_é漢😀")
_LETTERS = st.text(_SIGNS | st.characters(exclude_categories=["Cs"]), max_size=30)

TEXTS = st.one_of(MISLEADING, _LETTERS, st.tuples(MISLEADING, _LETTERS).map("".join)).map(
    lambda text: REFUSED.sub("", text)
)
"""Any text that a file may hold."""

KEYS = TEXTS.map(lambda text: INVISIBLE.sub("", text))
"""Any key that a file may hold."""

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
"""Any value that is neither a list nor a mapping."""

VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
"""Any plain value."""

IDS = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)

PROMPTS = TEXTS.map(lambda text: text if len(text.split()) > 1 else f"{text} in short")
"""Any prompt that is neither the id nor, by its looks, the name of a file."""

_LEAVES = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "number", "boolean", "integer"])},
    optional={
        "description": TEXTS,
        "enum": st.lists(SCALARS, min_size=1, max_size=3),
        "const": VALUES,
    },
)
_OBJECTS = st.dictionaries(KEYS.filter(lambda key: 0 < len(key) <= 128), _LEAVES, max_size=2).map(
    lambda fields: {"type": "object", "properties": fields, "required": [*fields]}
)
OUTPUT_SCHEMAS = _OBJECTS | _OBJECTS.map(lambda item: {"type": "array", "items": item})
"""Some of the schemas that an agent's answer may have."""

_NOTED = TEXTS.filter(bool)
TASK_IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True)
_SKILLS = st.builds(
    Skill,
    description=_NOTED,
    body=_NOTED,
    license=TEXTS,
    metadata=st.dictionaries(IDS.filter(lambda key: key != "task"), TEXTS, max_size=1),
)
_UNTAUGHT = st.builds(
    Notes,
    patches=st.dictionaries(IDS, _NOTED, max_size=2),
    teammates=st.dictionaries(IDS, _NOTED, max_size=2),
    pairs=st.dictionaries(IDS, _NOTED, max_size=2),
    skills=st.dictionaries(IDS | st.just("pdf-forms"), _SKILLS, max_size=2),
    coaching=TEXTS,
)


def _taught(notes: Notes) -> SearchStrategy[Notes]:
    tasks = st.fixed_dictionaries({}, optional=dict.fromkeys(notes.places, TASK_IDS))
    return tasks.map(lambda taught: replace(notes, taught=taught))


NOTES = _UNTAUGHT.flatmap(_taught)
"""Whatever an agent may have learnt, of agents that may be anywhere, and on some which tasks."""

RECALLS = st.builds(
    Recall,
    k=st.integers(1, 50),
    of=st.sampled_from(["own", "pool"]),
    kinds=st.lists(IDS, max_size=2, unique=True).map(tuple),
    by=st.sampled_from(["task", "opinion"]),
    room=st.none() | st.integers(500, 1_000_000),
    niche=st.booleans(),
    each=st.booleans(),
)

_SECONDS = st.floats(0.001, 604_800) | st.integers(1, 604_800)
_ANY_AGENT: Mapping[str, SearchStrategy[Any]] = {
    "role": TEXTS.filter(bool),
    "model_id": st.sampled_from(["default", "fast"]),
    "max_tokens": st.integers(1, 1_000_000),
    "temperature": st.floats(0, 2) | st.integers(0, 2),
    "top_p": st.floats(0, 1) | st.integers(0, 1),
    "effort": st.sampled_from(EFFORTS),
    "max_steps": st.integers(1, 1000),
    "planning_interval": st.integers(1, 1000),
    "imports": st.permutations(["numpy", "yaml"]).map(tuple),
    "files": st.none() | st.permutations(["*.png", "a.txt"]).map(tuple) | st.just(()),
    "timeout": _SECONDS,
    "output_schema": OUTPUT_SCHEMAS,
    "notes": NOTES,
    "recall": RECALLS,
    "member": IDS,
}
_TOOLS = st.permutations(["read_file", "list_files", "search_text"])
_KINDS: Sequence[Mapping[str, SearchStrategy[Any]]] = (
    {"agent_type": st.just("LLM"), "prompt": PROMPTS},
    {"prompt": PROMPTS, "backend": st.sampled_from([None, "llm"])},
    {"agent_type": st.just("Function"), "function": st.sampled_from(["majority", "concat"])},
    {"agent_type": st.just("ToolCallingAgent"), "prompt": PROMPTS, "tools": _TOOLS.map(tuple)},
)
AGENTS: SearchStrategy[dict[str, Any]] = st.one_of(
    [st.fixed_dictionaries(kind, optional=_ANY_AGENT) for kind in _KINDS]
)
"""The fields of an agent of any kind that needs nothing but this package."""

EXECUTIONS = st.builds(
    Execution,
    parallel_workers=st.booleans() | st.integers(2, 1024),
    timeout=_SECONDS,
    max_retries=st.integers(0, 10),
    on_error=st.sampled_from(["fail", "skip", "degrade"]),
    context=st.sampled_from(["predecessors", "ancestors"]),
)
"""Any way to run a team."""

_SOLVED = st.lists(st.builds(SolvedTask, q=TEXTS, notes=TEXTS), max_size=2)
_STEPS = st.builds(
    LineageStep,
    operator=IDS,
    edits=st.lists(TEXTS, max_size=2).map(tuple),
    fields=st.lists(TEXTS, max_size=2).map(tuple),
    reason=TEXTS,
)
_LINEAGES = st.builds(
    Lineage,
    operator=IDS,
    parents=st.lists(IDS, max_size=2, unique=True).map(tuple),
    edits=st.lists(TEXTS, max_size=2).map(tuple),
    reason=TEXTS,
    task=TEXTS,
    run=TEXTS,
    steps=st.lists(_STEPS, max_size=2).map(tuple),
)
_NAMES = st.lists(IDS, min_size=1, max_size=5, unique=True)


@st.composite
def teams(draw: DrawFn) -> Team:
    """Any team that loads: its graph is a random one without cycles and with one sink."""
    ids = draw(_NAMES)
    receivers = {
        agent_id: tuple(draw(st.lists(st.sampled_from(later), min_size=1, unique=True)))
        for index, agent_id in enumerate(ids)
        if (later := ids[index + 1 :])
    }
    agents = {name: Agent(id=name, **draw(AGENTS)) for name in draw(st.permutations(ids))}
    team = Team(
        name=draw(IDS),
        description=draw(TEXTS),
        backend=draw(st.sampled_from([None, "llm"])),
        constitution=draw(TEXTS),
        agents={name: _with_notes(draw, agent, ids) for name, agent in agents.items()},
        reports_to=receivers,
        declared_output=draw(st.sampled_from([None, ids[-1]])),
        execution=draw(EXECUTIONS),
        successful_tasks=tuple(draw(_SOLVED)),
        lineage=draw(st.none() | _LINEAGES),
    )
    return working(team)


def _with_notes(draw: DrawFn, agent: Agent, ids: Sequence[str]) -> Agent:
    """The agent with notes on some of the others, and none on itself."""
    on = draw(st.lists(st.sampled_from(ids), max_size=2))
    known = dict.fromkeys(on, "They check their work.")
    noted = {other: {**getattr(agent.notes, other), **known} for other in OF_OTHERS}
    notes = replace(agent.notes, **noted)
    return replace(agent, notes=notes.following({agent.id: None}))


def working(team: Team) -> Team:
    """The team with a chat call in place of every function that nobody reports to."""
    heard = {receiver for _, receiver in team.edges}
    agents = {
        item: agent if item in heard or agent.function is None else Agent(id=item, prompt="Begin.")
        for item, agent in team.agents.items()
    }
    return replace(team, agents=agents)
