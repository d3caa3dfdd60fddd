"""The embedded model as an author of edits: held to a schema, it writes ones that fit."""

import pytest

from coterie.runtime import Gateway
from coterie.runtime.gateway.chat.messages import ChatRequest
from coterie.runtime.local.weights import find
from coterie.schema import Catalogue, Model, Team, load_team
from coterie.schema.edits import (
    COMPONENTS,
    Component,
    apply,
    component_schema,
    components,
    edits_from_json,
)

ANSWERS = 10
CATALOGUE = Catalogue.of_host(
    models={
        "default": Model(alias="default", model="local"),
        "large": Model(alias="large", model="openai/large"),
    }
)
NAMES = ("majority_vote_3", "debate_3", "majority_vote")


@pytest.fixture
def parents() -> list[Team]:
    if find() is None:
        pytest.skip("the embedded model is not here; `mas dev models pull` fetches it")
    return [load_team(f"seeds/{name}.yaml", CATALOGUE) for name in NAMES]


async def answers(parents: list[Team], component: Component) -> list[tuple[Team, str]]:
    """What the model writes when it is asked for edits of a component of each team in turn."""
    written: list[tuple[Team, str]] = []
    offers = [
        (team, component_schema(component, team, CATALOGUE, characters=200)) for team in parents
    ]
    offers = [(team, schema) for team, schema in offers if schema]
    async with Gateway({"default": CATALOGUE.models["default"]}) as gateway:
        await gateway.prepare(["default"])
        for seed in range(ANSWERS):
            team, schema = offers[seed % len(offers)]
            wish = f"Improve the team {team.name} by an edit of its {component}. Answer in JSON."
            request = ChatRequest(
                model="default",
                messages=[{"role": "user", "content": wish}],
                max_tokens=400,
                temperature=0.8,
                seed=seed,
                schema=schema,
            )
            written.append((team, (await gateway.chat(request)).text))
    return written


@pytest.mark.nightly
@pytest.mark.parametrize("component", COMPONENTS)
async def test_every_answer_makes_another_team(parents: list[Team], component: Component) -> None:
    written = await answers(parents, component)
    assert len(written) == ANSWERS
    for team, text in written:
        edits = edits_from_json(text, component=component)
        child = apply(team, edits, CATALOGUE)
        assert components(edits) == {component}
        assert isinstance(child, Team), (text, child)
        assert child != team, text
