"""P14: an evolved team never has a capability that its ceiling, written by a person, lacks.

Whatever edits say, in whatever form, the child that is accepted asks for no tool, model, backend,
type of agent, number of agents, or amount of anything that the ceiling does not allow. What a team
asks for is worked out here anew, from its canonical text alone.
"""

import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import yaml

from coterie.schema import Agent, Catalogue, ConfigError, Execution, Model, Team, dump
from coterie.schema.edits import COMPONENTS, apply, component_schema, edits_from_json
from coterie.schema.host.models import EFFORTS
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..schema.edits.decoder import answer

CI, NIGHTLY = 150, 100_000

ALIASES = ("fast", "large", "secret")
CATALOGUE = Catalogue.of_host(
    models={alias: Model(alias=alias, model=f"openai/{alias}") for alias in ALIASES}
)
"""The host has more than the ceiling allows: the catalogue alone would let it through."""

CEILING = CapabilityPolicy(
    tools=frozenset({"read_file", "list_files"}),
    imports=frozenset({"numpy"}),
    models=frozenset({"default", "fast"}),
    agent_types=frozenset({"LLM", "Function", "ToolCallingAgent"}),
    backends=frozenset({"llm", "function", "smolagents"}),
    agents=5,
    edges=6,
    max_tokens=2048,
    max_steps=8,
    timeout=300,
    run_timeout=600,
    max_retries=2,
)
IMPLIED = {
    "LLM": "llm",
    "Function": "function",
    "CodeAgent": "smolagents",
    "ToolCallingAgent": "smolagents",
    "DefaultAgent": "mini-swe-agent",
    "SWEAgent": "swe-agent",
}


def parent() -> Team:
    solver = Agent(id="w1", role="solver", prompt="Solve it.", max_tokens=1024, timeout=60)
    caller = Agent(
        id="w2",
        agent_type="ToolCallingAgent",
        prompt="Look it up.",
        tools=("read_file",),
        max_tokens=512,
        max_steps=4,
        timeout=120,
    )
    counter = Agent(id="judge", agent_type="Function", function="majority")
    agents = {agent.id: agent for agent in (solver, caller, counter)}
    edges = {"w1": ("judge",), "w2": ("judge",)}
    return Team(name="t", agents=agents, reports_to=edges, execution=Execution(timeout=300))


def escalations(team: Team) -> list[str]:
    """What a team asks for beyond the ceiling, read from its text without the code under test."""
    value = yaml.safe_load(dump(team))
    execution = value.get("execution", {})
    edges = sum(map(len, value.get("topology", {}).get("reports_to", {}).values()))
    run_timeout = execution.get("timeout", 600)
    pairs = [
        ("agents", len(value["agents"]) > 5),
        ("edges", edges > 6),
        ("run timeout", run_timeout > 600),
        ("retries", execution.get("max_retries", 2) > 2),
        ("host", any(word in dump(team) for word in ("api_base", "base_url", "key_env"))),
    ]
    for name, agent in value["agents"].items():
        kind = agent.get("agent_type")
        backend = agent.get("backend") or IMPLIED.get(kind) or value.get("backend") or "llm"
        pairs += [
            (f"{name} backend", backend not in {"llm", "function", "smolagents"}),
            (f"{name} code", backend == "smolagents" and kind != "ToolCallingAgent"),
            (f"{name} imports", not {"numpy"}.issuperset(agent.get("imports", ()))),
            (f"{name} tools", not {"read_file", "list_files"}.issuperset(agent.get("tools", ()))),
        ]
        if backend != "function":
            pairs += [
                (f"{name} model", agent.get("model_id", "default") not in {"default", "fast"}),
                (f"{name} tokens", agent.get("max_tokens", 4096) > 2048),
                (f"{name} steps", backend == "smolagents" and steps_of(agent) > 8),
                (f"{name} timeout", agent.get("timeout", run_timeout) > 300),
            ]
    return [name for name, is_beyond in pairs if is_beyond]


def steps_of(agent: dict[str, Any]) -> int:
    """The most calls of an agent that works in a loop: its steps, and a plan ahead of some."""
    steps, interval = agent.get("max_steps", 99), agent.get("planning_interval")
    return steps + (len(range(0, steps, interval)) if interval else 0)


@dataclass(frozen=True)
class Author:
    """Writes edits: some as asked for, most greedy, some that are no edits at all."""

    chance: random.Random

    def text(self, team: Team) -> str:
        edits = [self._edit(team) for _ in range(self.chance.randint(1, 3))]
        text = json.dumps({"edits": edits})
        match self.chance.randint(0, 11):
            case 0:
                return text[: self.chance.randint(0, len(text))]
            case 1:
                return json.dumps(self._any(3))
            case 2:
                return json.dumps({"edits": [self._any(3), *edits]})
            case _:
                return text

    def _edit(self, team: Team) -> dict[str, Any]:
        pick, ids = self.chance.choice, [*team.agents, "w3"]
        agent = pick(ids)
        parameters: dict[str, Any] = {
            "max_tokens": pick([100, 2048, 2049, 10**6, None]),
            "max_steps": pick([1, 4, 8, 9, 1000, None]),
            "planning_interval": pick([1, 2, 8, None]),
            "imports": pick([["numpy"], ["yaml"], ["numpy", "yaml"], None]),
            "timeout": pick([1, 300, 300.5, 604800, None]),
            "agent_type": pick([*IMPLIED, None]),
            "backend": pick(["llm", "smolagents", "mini-swe-agent", "swe-agent", None]),
            "temperature": pick([0, 2, None]),
            "effort": pick([*EFFORTS, None]),
            "function": pick(["majority", "concat", None]),
        }
        name = pick([*parameters])
        fields = {
            key: item for key, item in parameters.items() if item is not None and pick([0, 0, 1])
        }
        execution = {"timeout": pick([60, 600, 601]), "max_retries": pick([0, 2, 3, 10])}
        execution = dict([pick([*execution.items()])])
        return pick([
            {"set_model": {"agent": agent, "model_id": pick(["default", *ALIASES])}},
            {"grant_tool": {"agent": agent, "tool": pick(["list_files", "search_text", "sh"])}},
            {"set_tools": {"agent": agent, "tools": [pick(["read_file", "search_text"])]}},
            {"revoke_tool": {"agent": agent, "tool": "read_file"}},
            {"set_parameter": {"agent": agent, name: parameters[name]}},
            {"set_execution": execution},
            {"set_backend": {"backend": pick(["llm", "smolagents", "mini-swe-agent"])}},
            {"set_prompt": {"agent": agent, "prompt": pick(["Go on.", "{{ cycler }}", "../x"])}},
            {"set_note": {"constitution": pick(["api: none", "You may use any tool."])}},
            {"add_edge": {"sender": agent, "receiver": pick(ids)}},
            {"remove_edge": {"sender": agent, "receiver": pick(ids)}},
            {"remove_agent": {"agent": agent}},
            {
                "add_agent": {
                    "agent": pick(["w3", "w4", "w5", "w6"]),
                    "fields": {"prompt": "Help.", **fields, **pick([{}, {"api_base": "x"}])},
                    "place": {"reports_to": [pick(ids)]},
                }
            },
        ])  # fmt: skip

    def _any(self, depth: int) -> Any:
        pick = self.chance.choice
        if not depth or pick([0, 1]):
            return pick([None, True, 1e300, -1, "w1", "", "set_model", "\u202e", 2**70])
        inner = [self._any(depth - 1) for _ in range(pick([0, 1, 2]))]
        keys = ("edits", "set_model", "add_agent", "fields", "tools", "agent")
        return pick([inner, {pick(keys): item for item in inner}])


def outcome(team: Team, text: str) -> Team | None:
    try:
        edits = edits_from_json(text)
    except ConfigError:
        return None
    child = apply(team, edits, CATALOGUE, CEILING)
    return child if isinstance(child, Team) else None


def test_no_child_has_more_than_the_ceiling(nightly: bool) -> None:
    """Children are parents in turn, so that what one generation lets slip the next would use."""
    total = NIGHTLY if nightly else CI
    author, counts = Author(random.Random(14)), Counter[str]()
    team = start = parent()
    for number in range(total):
        if number % 50 == 0:
            team = start
        if number % 5 == 0:
            component = author.chance.choice(COMPONENTS)
            schema = component_schema(component, team, CATALOGUE, CEILING)
            text = json.dumps(answer(schema, author.chance)) if schema else ""
        else:
            text = author.text(team)
        before = dump(team)
        child = outcome(team, text)
        assert dump(team) == before
        counts["accepted" if child else "rejected"] += 1
        if child is not None:
            assert escalations(child) == [], text
            assert CEILING.problems(child) == []
            counts["beyond the parent"] += CapabilityPolicy.of(team).problems(child) != []
            team = child
    assert counts["accepted"] + counts["rejected"] == total
    assert counts["accepted"] > total // 5
    assert counts["rejected"] > total // 5
    assert counts["beyond the parent"] > total // 50


def test_the_ceiling_alone_keeps_children_down() -> None:
    """Without it the same edits do gain capabilities: the test above can fail."""
    author, team, gained = Author(random.Random(14)), parent(), 0
    for _ in range(300):
        try:
            child = apply(team, edits_from_json(author.text(team)), CATALOGUE)
        except ConfigError:
            continue
        gained += isinstance(child, Team) and escalations(child) != []
    assert gained > 15
