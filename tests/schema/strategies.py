"""What hypothesis makes up for the schema's tests: texts as nasty as users', teams, plain values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from coterie.schema import Agent, Catalogue, Execution, Model, SolvedTask, Team
from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

CATALOGUE = Catalogue.of_host(models={"fast": Model(alias="fast", model="openai/m")})

REFUSED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
"""What the readers take out of texts."""
INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
"""What the readers take out of keys."""

MISLEADING = st.sampled_from([
    "yes", "No", "on", "y", "null", "~", "true", "1:30", "0o10", "010", "0x1F", "1e3", ".5", "-", "---", "...",
    "2026-11-21", "2026-11-21 10:00:00", "1_000", "=", "<<", "!tag", "&a", "*a", "? a", "- a", "a: b", "a:",
    ":a", "a #b", "#", "a#b", "%a", "@a", "`a`", "{{ x }}", "{% if %}", "[a, b]", "{a: b}", '"', "'", "|", ">",
    " a", "a ", "\ta", "a\t", "a\n", "a\n\n", "\na", "a\n\n\nb", "a\n  b\n c", "  a\nb", "a\r\nb", "a\rb", "a \nb",
    "\n", "a\\nb", "a\n \n", "a\u2028b", "\ufeffa", "a\xa0", "👩\u200d🔬", "\U000e0001", "漢字", "é", "# a\nb", "a\n# b",
    "x" * 120, "x " * 80, "---\na", "...\na", "a\n---\nb",
])  # fmt: skip
"""Texts that a writer of YAML gets wrong, or a reader takes for something else."""


def texts(*, most: int = 40) -> SearchStrategy[str]:
    """Any text that a file may hold."""
    signs = st.sampled_from(" \n\t:#-'\"|>{}[],&*!%@`?=\\~\r\x85\u2028\ufeff\xa0\u200baZ09_é漢😀")
    any_sign = st.characters(exclude_categories=["Cs"])
    made = st.text(signs | any_sign, max_size=most).filter(lambda text: not REFUSED.search(text))
    return st.one_of(made, MISLEADING, st.tuples(MISLEADING, made).map("".join))


def keys() -> SearchStrategy[str]:
    """Any key that a file may hold."""
    return texts(most=20).filter(lambda text: not INVISIBLE.search(text))


def scalars() -> SearchStrategy[Any]:
    """Any value that is neither a list nor a mapping."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    return st.none() | st.booleans() | st.integers(-(2**70), 2**70) | finite | texts()


def values() -> SearchStrategy[Any]:
    """Any plain value."""
    return st.recursive(
        scalars(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys(), inner, max_size=4),
        max_leaves=12,
    )


IDS = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)


def prompts() -> SearchStrategy[str]:
    """Any prompt that is neither the id nor, by its looks, the name of a file."""
    return texts(most=80).map(lambda text: text if len(text.split()) > 1 else f"{text} in short")


def output_schemas() -> SearchStrategy[dict[str, Any]]:
    """Some of the schemas that an agent's answer may have."""
    leaf = st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "number", "boolean", "integer"])},
        optional={
            "description": texts(),
            "enum": st.lists(scalars(), min_size=1, max_size=3),
            "const": values(),
        },
    )
    names = st.lists(keys().filter(lambda key: 0 < len(key) < 129), max_size=3, unique=True)

    @st.composite
    def an_object(draw: DrawFn) -> dict[str, Any]:
        properties = {name: draw(leaf) for name in draw(names)}
        return {"type": "object", "properties": properties, "required": [*properties]}

    return an_object() | st.builds(lambda item: {"type": "array", "items": item}, an_object())


@st.composite
def agents(draw: DrawFn, agent_id: str) -> Agent:
    """An agent of any kind that needs nothing but this package, with any of its fields."""
    seconds = st.floats(0.001, 604_800) | st.integers(1, 604_800)
    fields: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "role": texts().filter(bool),
                "model_id": st.sampled_from(["default", "fast"]),
                "max_tokens": st.integers(1, 1_000_000),
                "temperature": st.floats(0, 2) | st.integers(0, 2),
                "max_steps": st.integers(1, 1000),
                "timeout": seconds,
                "output_schema": output_schemas(),
            },
        )
    )
    kind = draw(st.sampled_from(["LLM", "Function", "ToolCallingAgent", None]))
    tools = st.permutations(["read_file", "list_files", "search_text"])
    match kind:
        case "Function":
            fields |= {"function": draw(st.sampled_from(["majority", "concat"]))}
        case "ToolCallingAgent":
            fields |= {"prompt": draw(prompts()), "tools": tuple(draw(tools)[: draw(st.integers(0, 3))])}
        case _:
            fields |= {"prompt": draw(prompts())}
            fields |= {"backend": "llm"} if draw(st.booleans()) else {}
    return Agent(id=agent_id, agent_type=kind, **fields)


def executions() -> SearchStrategy[Execution]:
    """Any way to run a team."""
    return st.builds(
        Execution,
        parallel_workers=st.booleans() | st.integers(2, 1024),
        timeout=st.floats(0.001, 604_800) | st.integers(1, 604_800),
        max_retries=st.integers(0, 10),
        on_error=st.sampled_from(["fail", "skip", "degrade"]),
        context=st.sampled_from(["predecessors", "ancestors"]),
    )


@st.composite
def teams(draw: DrawFn) -> Team:
    """Any team that loads: its graph is a random one without cycles and with one sink."""
    ids = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    receivers = {
        agent_id: tuple(draw(st.lists(st.sampled_from(later), min_size=1, unique=True)))
        for index, agent_id in enumerate(ids)
        if (later := ids[index + 1 :])
    }
    order = draw(st.permutations(ids))
    solved = st.builds(SolvedTask, q=texts(), notes=texts())
    return Team(
        name=draw(IDS),
        description=draw(texts(most=200)),
        backend=draw(st.sampled_from([None, "llm"])),
        constitution=draw(texts()),
        agents={agent_id: draw(agents(agent_id)) for agent_id in order},
        reports_to={one: receivers[one] for one in draw(st.permutations([*receivers]))},
        declared_output=draw(st.sampled_from([None, ids[-1]])),
        execution=draw(executions()),
        successful_tasks=tuple(draw(st.lists(solved, max_size=2))),
    )
