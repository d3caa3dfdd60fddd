from __future__ import annotations

import json
from typing import TYPE_CHECKING

from coterie.schema.picture import draw

if TYPE_CHECKING:
    from coterie.schema import Team


def test_a_program_finds_levels_agents_edges_and_output(vote: Team) -> None:
    graph = json.loads(draw(vote, "json"))
    assert list(graph) == ["name", "output", "levels", "agents", "edges"]
    assert graph["output"] == "aggregator"
    assert graph["levels"] == [[f"worker_{number}" for number in range(1, 7)], ["aggregator"]]
    assert graph["edges"] == [[f"worker_{number}", "aggregator"] for number in range(1, 7)]
    assert graph["agents"]["aggregator"] == {
        "role": "vote",
        "agent_type": "Function",
        "backend": "function",
        "model_id": "default",
        "function": "majority",
        "tools": [],
    }
