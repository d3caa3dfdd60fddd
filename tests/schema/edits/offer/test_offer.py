"""The law of the offer: whatever a schema lets through makes a team that is below the ceiling."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coterie.operators import Bounds
from coterie.schema import Agent, Catalogue, Model, Team, load_team
from coterie.schema.edits import (
    COMPONENTS,
    Component,
    apply,
    component_schema,
    components,
    components_schema,
    edits_from_json,
)
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..decoder import answer
from ..test_applying import llm, team

CI, NIGHTLY = 200, 100_000

CATALOGUE = Catalogue.of_host(
    models={alias: Model(alias=alias, model=f"openai/{alias}") for alias in ("fast", "large")}
)
BY_NAME = {path.stem: load_team(path, CATALOGUE) for path in sorted(Path("seeds").glob("*.yaml"))}
SEEDS = [*BY_NAME.values()]
DEFAULT = CapabilityPolicy.of(
    *(BY_NAME[name] for name in ("peer_review", "majority_vote", "debate"))
)
ALL = replace(CapabilityPolicy.of(*SEEDS), models=CATALOGUE.aliases)
ADAPTED: tuple[Component, ...] = ("prompts", "model_id", "topology", "roster")
LISTS: list[tuple[Component, ...]] = [
    *((component,) for component in COMPONENTS),
    ADAPTED,
    COMPONENTS,
]
EMBEDDED = Bounds.of(Model(alias="default", model="local"))
OTHER = Bounds.of(Model(alias="default", model="openai/m"))


def tied(parent: Team, *, below: CapabilityPolicy) -> list[CapabilityPolicy]:
    """The ceilings that the parent keeps to itself."""
    return [item for item in (CapabilityPolicy.of(parent), below, ALL) if not item.problems(parent)]


@dataclass
class Offers:
    """Schemas of all seeds, each written once."""

    chance: random.Random
    written: dict[Any, Any] = field(default_factory=dict)

    def draw(self) -> tuple[Team, CapabilityPolicy, Any]:
        """Draw a team, a ceiling and what is offered; large teams take long, so seldom those."""
        pick = self.chance.choice
        [parent] = self.chance.choices(SEEDS, [1 / len(seed.agents) for seed in SEEDS])
        ceiling, listed = pick(tied(parent, below=DEFAULT)), pick(LISTS)
        bounds, most = pick([(EMBEDDED, 1), (OTHER, 1), (OTHER, 3), (OTHER, 80)])
        key = parent.content_hash, ceiling, listed, most, bounds.characters
        if key not in self.written:
            self.written[key] = components_schema(
                listed, parent, CATALOGUE, ceiling, most=most, characters=bounds.characters
            )
        return parent, ceiling, self.written[key]


def test_whatever_is_offered_is_accepted(nightly: bool) -> None:
    """Every answer is read, makes a team that loads, and stays below the ceiling."""
    chance = random.Random(10)
    offers, counts = Offers(chance), Counter[str]()
    while counts["answers"] < (NIGHTLY if nightly else CI):
        parent, ceiling, schema = offers.draw()
        if schema is None:
            continue
        counts["answers"] += 1
        said = answer(schema, chance)
        edits = edits_from_json(json.dumps(said))
        result = apply(parent, edits, CATALOGUE, ceiling)
        assert isinstance(result, Team), (parent.name, said, result)
        assert ceiling.problems(result) == []
        counts["others"] += result != parent
        counts["larger"] += len(result.agents) > len(parent.agents)
        counts["smaller"] += len(result.agents) < len(parent.agents)
    assert counts["others"] > 0.95 * counts["answers"]
    assert min(counts["larger"], counts["smaller"]) > 0.05 * counts["answers"]


def test_the_answers_are_ones_that_the_schemas_let_through() -> None:
    chance = random.Random(11)
    offers = Offers(chance)
    for _ in range(20):
        _, _, schema = offers.draw()
        if schema is not None:
            Draft202012Validator(schema).validate(answer(schema, chance))


@pytest.mark.parametrize("parent", SEEDS, ids=lambda item: item.name)
def test_a_component_is_not_offered_where_no_edit_can_be_valid(parent: Team) -> None:
    """With its own ceiling a star or a chain is full, and no agent in it may lose an edge.

    Where agents open, recruit, consult or work on a condition, the structure is for people.
    """
    own = CapabilityPolicy.of(parent)
    offered = {
        component for component in COMPONENTS if component_schema(component, parent, CATALOGUE, own)
    }
    assert offered >= {"prompts", "parameters", "notes", "metadata"}
    consults = any(agent.consults or agent.reviews for agent in parent.agents.values())
    has_terms = any(agent.when or agent.each for agent in parent.agents.values())
    is_fixed = bool(parent.opening or parent.execution.roster) or consults or has_terms
    branches = any(len(receivers) > 1 for receivers in parent.reports_to.values())
    assert ("topology" in offered) == (branches and not is_fixed)
    assert ("tools" in offered) == bool(own.tools)
    assert "model_id" not in offered
    assert ("roster" in offered) == (len(parent.agents) > 1 and not is_fixed)


@pytest.mark.parametrize(
    ("written", "limit", "offered"),
    [
        (None, "none", None),
        (None, None, None),
        (None, "low", ["none", "minimal", "low"]),
        ("low", None, ["none", "minimal", "low", "medium", "high"]),
        ("minimal", "minimal", ["none", "minimal"]),
    ],
)
def test_efforts_are_offered_up_to_the_ceiling_where_somebody_speaks_of_one(
    written: Any, limit: Any, offered: list[str] | None
) -> None:
    seed = BY_NAME["majority_vote_3"]
    agents = {item: replace(agent, effort=written) for item, agent in seed.agents.items()}
    ceiling = replace(CapabilityPolicy.of(seed), effort=limit)
    schema = component_schema("parameters", replace(seed, agents=agents), CATALOGUE, ceiling)
    result = [
        parameter["effort"]["enum"] for parameter in _parameters(schema) if "effort" in parameter
    ]
    assert result == ([offered] if offered else [])


def _parameters(schema: Any) -> list[Any]:
    """The fields of each edit of a parameter that is offered."""
    items = schema["properties"]["edits"]["items"]
    edits = [item["properties"] for item in items.get("anyOf", [items])]
    return [edit["set_parameter"]["properties"] for edit in edits if "set_parameter" in edit]


@pytest.mark.parametrize("name", ["majority_vote_3", "translate_and_calculate"])
def test_a_reader_may_still_hear_another_where_there_is_room(name: str) -> None:
    assert (
        component_schema("topology", BY_NAME[name], CATALOGUE, CapabilityPolicy.of(BY_NAME[name]))
        is None
    )
    schema = component_schema("topology", BY_NAME[name], CATALOGUE, ALL)
    assert "add_edge" in json.dumps(schema)


def newcomer(agent_id: str, role: str, prompt: str, ceiling: CapabilityPolicy, **place: Any) -> Any:
    fields = {
        "role": role,
        "agent_type": "LLM",
        "model_id": "default",
        "prompt": prompt,
        "max_tokens": min(ceiling.max_tokens or 256, 256),
        "timeout": ceiling.timeout,
    }
    return {"add_agent": {"agent": agent_id, "fields": fields, "place": place}}


def grown(parent: Team, ceiling: CapabilityPolicy, *edits: Any, most: int = 80) -> Team:
    """The team that an answer under the schema makes."""
    schema = components_schema(ADAPTED, parent, CATALOGUE, ceiling, most=most)
    assert schema is not None
    Draft202012Validator(schema).validate({"edits": list(edits)})
    result = apply(parent, edits_from_json(json.dumps({"edits": edits})), CATALOGUE, ceiling)
    assert isinstance(result, Team), result
    return result


ROOMY = [("majority_vote", DEFAULT), ("majority_vote_3", replace(ALL, max_tokens=64, timeout=60))]
MAJORITY = pytest.mark.parametrize(("name", "ceiling"), ROOMY, ids=lambda item: str(item)[:15])


@MAJORITY
@pytest.mark.parametrize("most", [1, 80])
def test_a_verifier_can_stand_between(name: str, ceiling: CapabilityPolicy, most: int) -> None:
    """EvoMAS App. D.1, from six workers and an aggregator to solvers and a verifier."""
    parent = BY_NAME[name]
    first, second = list(parent.agents)[:2]
    verifier = newcomer(
        *("verifier_1", "verifier", "Check the solutions one by one.", ceiling),
        receives_from=[first, second],
        reports_to=[parent.output],
    )
    result = grown(parent, ceiling, verifier, most=most)
    assert result.predecessors["verifier_1"] == (first, second)
    assert result.output == parent.output
    if most > 1:
        gone = [agent for agent in list(parent.agents)[2:] if agent != parent.output]
        leave = [{"remove_agent": {"agent": item}} for item in gone]
        assert set(grown(parent, ceiling, verifier, *leave).agents) == {
            *(first, second, "verifier_1", parent.output)
        }


def test_a_single_agent_can_grow_into_a_team_in_one_answer() -> None:
    """From EvoMAS's phi pool, with the ceiling of other teams."""
    alone = BY_NAME["single_agent"]
    result = grown(
        alone,
        DEFAULT,
        newcomer("decomposer_1", "decomposer", "Divide it up.", DEFAULT, reports_to=["solver"]),
        newcomer("combiner_1", "combiner", "Put it together.", DEFAULT, is_output=True),
    )
    assert result.edges == (("solver", "combiner_1"), ("decomposer_1", "solver"))
    assert result.output == "combiner_1"


def test_newcomers_may_use_tools_or_be_functions_as_far_as_the_ceiling_allows() -> None:
    voters = json.dumps(component_schema("roster", BY_NAME["majority_vote"], CATALOGUE, DEFAULT))
    assert '"enum": ["CodeAgent", "ToolCallingAgent"]' in voters
    assert '"enum": ["list_files", "read_file", "search_text"]' in voters
    assert '"Function"' not in voters
    readers = json.dumps(component_schema("roster", BY_NAME["debate_3"], CATALOGUE, ALL))
    assert '"enum": ["calculate", "concat", "extract_json", "majority", "vote"]' in readers
    assert "SWEAgent" not in readers


def test_a_newcomer_that_comes_alone_may_have_all_edges_that_there_is_room_for() -> None:
    workers = BY_NAME["majority_vote"]
    tight = replace(DEFAULT, agents=9, edges=len(workers.edges) + 3)
    assert '"maxItems": 2' in json.dumps(component_schema("roster", workers, CATALOGUE, tight))


def test_where_all_see_all_nothing_is_offered_that_could_move_others_past_the_output() -> None:
    execution = replace(team().execution, context="all")
    loose = team("aj", agents="a b j", execution=execution, declared_output="j")
    assert component_schema("topology", loose, CATALOGUE) is None
    assert component_schema("roster", loose, CATALOGUE) is None
    assert '"context"' not in json.dumps(component_schema("parameters", loose, CATALOGUE))


def test_tools_that_a_model_could_not_tell_apart_are_not_granted_together() -> None:
    names = frozenset({"clock.now", "clock_now", "read_file", "read.file", "final_answer"})
    known = replace(CATALOGUE, tools=names)
    caller = Agent(id="a", agent_type="ToolCallingAgent", prompt="Hm.", tools=("read_file",))
    parent = Team(name="t", agents={"a": caller, "j": llm("j")}, reports_to={"a": ("j",)})
    schema = component_schema("tools", parent, known)
    assert schema
    grant = schema["properties"]["edits"]["items"]["anyOf"][0]["properties"]["grant_tool"]
    assert grant["properties"]["tool"]["enum"] == ["clock.now"]


def test_a_limit_below_one_second_is_not_offered_as_one() -> None:
    ceiling = replace(CapabilityPolicy.of(BY_NAME["debate_3"]), timeout=0.5)
    schema = json.dumps(component_schema("parameters", BY_NAME["debate_3"], CATALOGUE, ceiling))
    assert '"set_parameter": {"type": "object", "properties": {"timeout"' not in schema
    assert '"agent"' in schema


def test_a_long_run_is_not_offered_to_agents_that_take_as_long_as_the_run() -> None:
    parent = team(execution=replace(team().execution, timeout=60))
    ceiling = replace(CapabilityPolicy.of(parent), run_timeout=600)
    schema = component_schema("parameters", parent, CATALOGUE, ceiling)
    assert '{"timeout": {"type": "integer", "minimum": 1, "maximum": 60}}' in json.dumps(schema)


@pytest.mark.parametrize(
    ("labels", "required", "fits"),
    [
        (["yes", "no"], ["answer"], True),
        ([*"abcdefgh"], ["answer"], True),
        (["yes"], ["answer"], False),
        ([*"abcdefghi"], ["answer"], False),
        (["yes", ""], ["answer"], False),
        (["yes", "no"], [], False),
        (["yes", "no"], ["answer", "answer"], False),
    ],
)
def test_answers_may_be_held_to_labels(labels: list[str], required: list[str], fits: bool) -> None:
    schema = component_schema("parameters", BY_NAME["majority_vote_3"], CATALOGUE, ALL)
    answer = {"type": "string", "enum": labels}
    fields = {
        "type": "object",
        "properties": {"answer": answer},
        "required": required,
        "additionalProperties": False,
    }
    [offered] = [parameter for parameter in _parameters(schema) if "output_schema" in parameter]
    assert Draft202012Validator(offered["output_schema"]).is_valid(fields) == fits


def test_large_teams_can_be_offered() -> None:
    """Also to a model that reads little: a grammar as long as its context would be of no use."""
    for parent in SEEDS:
        for listed, most in ((ADAPTED, 80), (ADAPTED, 1)):
            schema = components_schema(listed, parent, CATALOGUE, ALL, most=most)
            assert len(json.dumps(schema)) < 24_000, parent.name


def test_several_components_are_offered_in_one_list_that_may_be_empty() -> None:
    parent = BY_NAME["majority_vote"]
    schema = components_schema(ADAPTED, parent, CATALOGUE, ALL, least=0, most=80)
    assert schema
    assert schema["properties"]["edits"]["minItems"] == 0
    kinds = {
        next(iter(item["properties"])) for item in schema["properties"]["edits"]["items"]["anyOf"]
    }
    assert kinds == {"set_prompt", "set_model", "add_edge", "add_agent", "remove_agent"}
    assert components(edits_from_json('{"edits": []}')) == frozenset()
