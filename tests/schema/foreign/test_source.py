"""Whatever stands in a file of another program is kept, or reported with its place."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import dump
from coterie.schema.foreign.crewai import crew_team
from coterie.schema.foreign.docker_agent import docker_agent_team
from coterie.schema.values.document import Document

FIELDS = st.sampled_from(
    ["name", "type", "description", "model", "base_url", "tools", "env", "args", "command", "ref",
     "temperature", "strict", "schema", "instruction", "remote", "url", "headers", "max_iterations",
     "anything", "structured_output", "toolsets", "commands", "fallback", "models", "token_key"]
)  # fmt: skip
TREES: st.SearchStrategy[Any] = st.recursive(
    st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text of a tree with its path, as problems write it."""
    if isinstance(value, str):
        yield path, value
    for key, part in value.items() if isinstance(value, dict) else ():
        yield from leaves(part, f"{path}.{key}" if path else key)
    for index, part in enumerate(value) if isinstance(value, list) else ():
        yield from leaves(part, f"{path}[{index}]")


def numbered(value: Any, count: Iterator[int]) -> Any:
    """Return a tree whose texts differ."""
    if isinstance(value, dict):
        return {key: numbered(part, count) for key, part in value.items()}
    return [numbered(part, count) for part in value] if value != "" else f"w{next(count)}w"


ALTERED = "files are read here, and never written, by"
"""What is reported of a toolset that is kept."""
MAPPINGS = st.dictionaries(FIELDS, TREES, max_size=5)


@given(MAPPINGS, MAPPINGS, MAPPINGS, st.sampled_from(["filesystem", "shell", "mcp", "think"]))
def test_each_value_is_kept_or_reported(agent: Any, toolset: Any, model: Any, kind: str) -> None:
    """Wherever a text stands, it is in what is written, or a warning has its path."""
    root = {key: part for key, part in agent.items() if key not in {"model", "fallback"}}
    root |= {"toolsets": [toolset], "instruction": ""}
    value = numbered({"agents": {"root": root}, "models": {"m": model}}, itertools.count())
    toolset = value["agents"]["root"]["toolsets"][0]
    toolset["type"] = kind
    imported = docker_agent_team(Document(file="d.yaml", value=value, places={}, keys={}), "t")
    written = f"{dump(imported.team)}{imported.models}{imported.servers}{imported.clients}"
    covering = "|".join(
        re.escape(item.path) for item in imported.losses if ALTERED not in item.message
    )
    for path, text in leaves(value):
        reported = bool(covering) and re.match(rf"({covering})($|[.\[])", path)
        assert text in written or reported or text == kind, path


CREW_FIELDS = st.sampled_from(
    ["role", "goal", "backstory", "llm", "max_tokens", "tools", "description", "expected_output",
     "context", "async_execution", "output_file", "guardrail", "name", "markdown", "anything"]
)  # fmt: skip
ENTRIES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.dictionaries(CREW_FIELDS, TREES, max_size=5), min_size=1
)
SWITCHES = r".*\.(async_execution|markdown)($|[.\[])"
"""Switches: any text in them is a yes."""


@given(ENTRIES, ENTRIES)
def test_each_value_of_a_crew_is_kept_or_reported(agents: Any, tasks: Any) -> None:
    count = itertools.count()
    value = {"agents": numbered(agents, count), "tasks": numbered(tasks, count)}
    for name, task in value["tasks"].items():
        task["agent"] = name
    agents_file, tasks_file = (
        Document(file=kind, value=entries, places={}, keys={}) for kind, entries in value.items()
    )
    imported = crew_team(agents_file, tasks_file, "t")
    written = " ".join(f"{dump(imported.team)}{imported.models}".split())
    altered = ("is filled in by", "nobody reads what", "no agent", "comes later", "is not PROVIDER")
    for kind, entries in value.items():
        paths = [
            re.escape(item.path)
            for item in imported.losses
            if item.file == kind and not any(part in item.message for part in altered)
        ]
        for path, text in leaves(entries):
            reported = bool(paths) and re.match(rf"({'|'.join(paths)})($|[.\[])", path)
            is_named = any(text in item.message for item in imported.losses)
            kept = text in written or is_named or re.match(SWITCHES, path)
            assert kept or reported or path.endswith(".agent"), path
