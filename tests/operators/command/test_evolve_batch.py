"""`mas-evolve --batch`: the same pool, by calls in batches."""

import pytest

from coterie.runtime.batch import batch_client
from coterie.runtime.doubles.endpoints import Endpoints
from coterie.runtime.doubles.script import choose_from
from studies.doubles.batches import BatchingServer

from .conftest import Lab, thinking

MODELS = 'models: {{default: {{model: m, api_base: "{origin}/v1", batch_price: 0.5}}}}\n'


def test_batches_lead_to_the_same_pool(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LINGER", "FIRST_WAIT", "LONGEST_WAIT"):
        monkeypatch.setattr(batch_client, name, 0.0)
    words = ("recipe.yaml", "tasks.jsonl", "--quiet", "--limit", "1", "--models", "models.yaml")
    inner = Endpoints(choose_from(thinking), key=None, latency=0.0)
    with BatchingServer(inner, looks=1) as server:
        lab.write("models.yaml", MODELS.format(origin=server.origin))
        alone = lab.command(*words, "--pool", "alone")
        assert (alone.code, server.batches) == (0, ()), alone.err
        calls = len(server.calls)
        batched = lab.command(*words, "--pool", "batched", "--batch").ended(0)
        assert len(server.billed) == calls > 0
        again = lab.command(*words, "--pool", "batched", "--batch")
        assert (again.code, len(server.billed)) == (0, calls)
    teams = [entry.get("content_hash") for entry in lab.ledger("batched")]
    assert teams == [entry.get("content_hash") for entry in lab.ledger("alone")]
    assert batched.out.replace("batched", "alone") == alone.out
