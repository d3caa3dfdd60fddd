"""The embedded model as meta-model: what it writes is uninformed, but always valid."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Bounds, MetaModel, Proposal, mutate
from coterie.operators.core.bounds import SMALL
from coterie.operators.methods.search.components import ByChance, open_components
from coterie.runtime import Calls, Gateway
from coterie.runtime.local.weights import find
from coterie.schema import Catalogue, Model, Task, load_team
from coterie.schema.edits import components

from ...asking import ceiling_of, parent

WEIGHTS = find()
TASK = Task(id="film", query="Is this review positive or negative? I laughed from start to end.")
BRIEF: Bounds = replace(SMALL, characters=60, reason=24)
MUTATIONS = 10


@pytest.mark.nightly
@pytest.mark.skipif(WEIGHTS is None, reason="the embedded model's weights are not on this machine")
async def test_mutations_of_a_seed_team_are_all_valid() -> None:
    models = {alias: Model(alias=alias, model=f"local:{WEIGHTS}") for alias in ("default", "fast")}
    catalogue = Catalogue.of_host(models=models)
    seed = load_team("seeds/majority_vote_3.yaml", catalogue)
    repairs: list[Any] = []

    def tell(event: str, /, **fields: Any) -> None:
        if event == "operator_repair":
            repairs.append(fields)

    async with Gateway(models, seed=0, environment={}) as gateway:
        meta = MetaModel(
            calls=Calls(gateway=gateway, seed=1),
            catalogue=catalogue,
            ceiling=ceiling_of(seed),
            tell=tell,
            bounds=BRIEF,
        )
        of = parent(seed, digest="run: done\nanswer: negative", reward=0.0)
        result = open_components(meta, of)
        paths = [f"step {number}" for number in range(MUTATIONS)]
        policy = ByChance()
        asked = (
            mutate(meta, path, TASK, of, component=policy.choose(path, 0, result)) for path in paths
        )
        product: list[Any] = list(await asyncio.gather(*asked))
    assert [type(item) for item in product] == [Proposal] * MUTATIONS
    assert all(components(item.edits) == {item.component} for item in product)
    assert len({item.child.content_hash for item in product}) > 1
    assert len(repairs) <= 2
