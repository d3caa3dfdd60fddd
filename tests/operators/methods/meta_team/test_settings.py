"""What a recipe says of a team that evolves as a team."""

from dataclasses import replace

import pytest

from coterie.operators.methods.meta_team.settings import RetrospectiveSettings, check


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scheme": "none", "retry": True}, "retry"),
        ({"scheme": "none", "team_level": False}, "team_level"),
        ({"scheme": "centralised", "evidence": 1}, "evidence"),
        ({"scheme": "partitioned", "evidence": 1}, "evidence"),
        ({"scheme": "partitioned", "discussion": 1}, "discussion"),
        ({"team_level": False, "edges": 1}, "edges"),
        ({"scheme": "centralised", "looks": 1}, "looks"),
        ({"agent_level": False, "looks": 1}, "looks"),
        ({"roster": "closed", "alive": 3}, "alive"),
    ],
)
def test_what_nothing_reads_is_told_by_its_field(fields: dict[str, object], field: str) -> None:
    assert [*check(RetrospectiveSettings(**fields), fields)] == [field]  # type: ignore[arg-type]


def test_a_team_in_which_nothing_can_change_says_so() -> None:
    settings = RetrospectiveSettings(agent_level=False, pair_level=False, team_level=False)
    assert not settings.looks_back
    assert "scheme: none" in check(settings, {"agent_level": False})["scheme"]
    assert replace(settings, team_level=True).looks_back
    assert not RetrospectiveSettings(scheme="none").looks_back
