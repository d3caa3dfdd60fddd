"""Files are known for what they are, and ours for ours."""

from pathlib import Path
from typing import Any

import pytest

from coterie.schema import ConfigError
from coterie.schema.foreign import CREWAI, DOCKER_AGENT, program_of
from coterie.schema.foreign.source import ids_of
from coterie.schema.foreign.taking_over import take_over
from coterie.schema.loading.loading import read_shape
from coterie.schema.loading.seeds import seed_files

CREW_AGENT = {"role": "R", "goal": "G", "backstory": "B"}


@pytest.mark.parametrize(
    ("value", "program"),
    [
        ({"agents": {"root": {"instruction": "Hi."}}}, DOCKER_AGENT),
        ({"agents": {"root": {"model": "auto"}}, "models": {}}, DOCKER_AGENT),
        ({"a": CREW_AGENT, "b": {**CREW_AGENT, "llm": "x"}}, CREWAI),
        ({"t": {"description": "D", "expected_output": "E"}}, CREWAI),
        ({"agents": {"a": {"prompt": "Hi.", "model": "m"}}}, None),
        ({"agents": {"a": {"instruction": "Hi."}}, "name": "ours_with_a_slip"}, None),
        ({"agents": ["a"]}, None),
        ({"agents": {}}, None),
        ({"a": CREW_AGENT, "b": {"prompt": "Hi."}}, None),
        ({}, None),
        (["agents"], None),
    ],
)
def test_what_a_file_says_tells_whose_it_is(value: Any, program: str | None) -> None:
    assert program_of(value) == program


def test_no_team_of_ours_is_taken_for_anothers() -> None:
    teams = [read_shape(file, "team") for file in seed_files().values()]
    assert {program_of(team) for team in teams} == {None}


def test_names_become_ids_that_differ() -> None:
    assert ids_of(["UX Designer", "ux-designer", "ux_designer", "2nd", "漢字", "a_"]) == {
        "UX Designer": "ux_designer_2",
        "ux-designer": "ux_designer_3",
        "ux_designer": "ux_designer",
        "2nd": "agent_2nd",
        "漢字": "agent",
        "a_": "a_",
    }


def test_a_model_that_models_yaml_cannot_hold_is_told(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(
        "models: {m: {provider: openai, model: x, base_url: not an address}}\n"
        "agents: {root: {model: m, instruction: Hi there.}}\n"
    )
    with pytest.raises(ConfigError, match=r"models\.yaml:4:15: error: models\.m\.api_base"):
        take_over(tmp_path / "d.yaml")


def test_an_agent_that_is_named_twice_reports_once(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").write_text(
        "agents:\n  root: {instruction: Hi., sub_agents: [a, a]}\n  a: {instruction: Hi.}\n"
    )
    assert take_over(tmp_path / "d.yaml").team.edges == (("a", "root"),)
