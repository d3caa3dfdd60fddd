"""What is written is read back as it was, by us and by others; nasty texts included."""

import json
from dataclasses import replace
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Lineage, Team, dump, parse_team, write_yaml
from coterie.schema.team.writing import canonical
from coterie.schema.values._json import read_json
from coterie.schema.values.yaml_text import read_yaml

from ..strategies import CATALOGUE, KEYS, VALUES, fewer, teams


def exact(value: Any) -> str:
    """Tell `1` from `1.0` and from `true`."""
    return json.dumps(value, sort_keys=True)


def read(text: str) -> Any:
    document, problems = read_yaml(text.encode(), "some.yaml")
    assert problems == []
    return document.value


@given(teams())
def test_a_written_team_loads_as_it_was_and_is_canonical_and_yaml_1_1(team: Team) -> None:
    written = dump(team)
    loaded = parse_team(written.encode(), "team.yaml", CATALOGUE)
    assert loaded == team
    assert loaded.lineage == team.lineage
    assert loaded.content_hash == team.content_hash
    assert list(loaded.agents) == list(team.agents)
    document, problems = read_yaml(written.encode(), "team.yaml")
    assert problems == []
    assert canonical(document, written) == written
    assert exact(yaml.safe_load(written)) == exact(document.value)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_any_plain_value_survives_writing_and_reading(value: dict[str, Any]) -> None:
    written = write_yaml(value)
    assert exact(read(written)) == exact(value)
    assert exact(yaml.safe_load(written)) == exact(value)


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_json_is_read_as_by_the_library(value: Any, indent: int | None, ascii_only: bool) -> None:
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document, problems = read_json(written.encode(), "some.json")
    assert problems == []
    assert exact(document.value) == exact(json.loads(written))


@fewer(2)
@given(teams(), st.randoms(use_true_random=False))
def test_the_hash_depends_on_no_order_and_nothing_unexecuted(team: Team, random: Any) -> None:
    def shuffled(items: Any) -> list[Any]:
        return random.sample(list(items), len(items))

    agents = {
        agent_id: replace(agent, tools=tuple(shuffled(agent.tools)))
        for agent_id, agent in shuffled(team.agents.items())
    }
    edges = {u: tuple(shuffled(receivers)) for u, receivers in shuffled(team.reports_to.items())}
    other = replace(team, agents=agents, reports_to=edges, declared_output=team.output)
    assert other.content_hash == team.content_hash
    other = replace(
        team, name="other", description="Other.", successful_tasks=(), lineage=Lineage(operator="o")
    )
    assert other.content_hash == team.content_hash


def test_equal_teams_have_equal_hashes() -> None:
    cold = Team(name="t", agents={"a": Agent(id="a", temperature=0, timeout=60)})
    same = Team(name="t", agents={"a": Agent(id="a", temperature=0.0, timeout=60.0)})
    assert cold == same
    assert cold.content_hash == same.content_hash
