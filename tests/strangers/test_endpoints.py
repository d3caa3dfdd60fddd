"""Endpoints that lie about what they cost: under a cap, who is paid is not believed alone."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ..support.commands import invoked_in
from ..support.shares import every

WIDTH = 64
MAX_TOKENS = 60
USD_PER_MTOK = 50.0
CAP = 0.30
"""USD: enough for some of the calls, and not for all."""
WITHIN, BEYOND = 4 * 50, 4 * 10 * MAX_TOKENS
"""Characters of an answer that keeps to max_tokens, and of one that does not."""

Says = Mapping[str, Any] | Literal["computed", "missing"]


def _told(prompt: object, completion: object, **more: object) -> Says:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


SAYS: Mapping[str, Says] = {
    "honest": "computed",
    "silent": "missing",
    "one and one": _told(1, 1),
    "nothing": _told(0, 0),
    "less than nothing": _told(-5, -5),
    "words": _told("many", "more"),
    "free": _told(1, 1, cost=0),
    "cheap": _told(20, 20, cost=1e-9),
    "cached": _told(100, 1, prompt_tokens_details={"cached_tokens": 100}),
    "nonsense": _told(None, True, cost="nothing"),
}
"""What an endpoint says of a call's usage."""
WRITES = ("within", "beyond", "thinking", "cut off")
"""What it writes: as much as was asked, more, as much in thinking besides, or half an answer."""
KINDS = [(says, writes) for says in SAYS for writes in WRITES]


@dataclass(kw_only=True)
class Endpoint:
    """An endpoint, and the bill that it would send: four characters are a token."""

    says: Says
    writes: str
    usd: float = 0.0
    calls: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Reply:
        text = "a" * (BEYOND if self.writes == "beyond" else WITHIN)
        thought = BEYOND if self.writes == "thinking" else 0
        tokens = len(message_text(request)) // 4 + (len(text) + thought) // 4
        with self._counting:
            self.usd += tokens * USD_PER_MTOK / 1e6
            self.calls += 1
        says = self.says
        if thought and says == "computed":
            says = _told(len(message_text(request)) // 4, (len(text) + thought) // 4)
        reply = Reply(text=text, usage=says)
        return reply.replace(delivery="headers") if self.writes == "cut off" else reply

    @property
    def bound(self) -> float:
        """What may pass the cap, in USD: as docs/security.md says it."""
        excess = BEYOND / 4 * USD_PER_MTOK / 1e6
        match self.writes:
            case "thinking" if self.says != "computed":  # neither shown nor told: nobody can know
                return self.calls * excess
            case "beyond" | "thinking":  # the answers in flight when it turns out
                return WIDTH * excess
            case _:
                return 0.0


def team(width: int) -> str:
    agents = {
        f"agent_{number}": {"prompt": f"You are number {number}.", "max_tokens": MAX_TOKENS}
        for number in range(width)
    }
    agents["last"] = {"prompt": "Decide.", "max_tokens": MAX_TOKENS}
    reports = {name: ["last"] for name in agents if name != "last"}
    value = {
        "name": "wide",
        "agents": agents,
        "topology": {"reports_to": reports},
        "execution": {"max_retries": 0, "on_error": "degrade"},
    }
    return yaml.safe_dump(value, sort_keys=False)


def models(address: str) -> str:
    price = {"usd_per_mtok_input": USD_PER_MTOK, "usd_per_mtok_output": USD_PER_MTOK}
    return yaml.safe_dump({"models": {"default": {"model": "m", "api_base": address, **price}}})


def used(endpoint: Endpoint, cap: str, folder: Path) -> dict[str, Any]:
    """Run a wide team under a cap; return what its result says that it used."""
    (folder / "team.yaml").write_text(team(WIDTH))
    (folder / "task.json").write_text(json.dumps({"id": "t", "query": "Why? " * 40}))
    with ScriptedModel(endpoint) as model:
        (folder / "models.yaml").write_text(models(model.api_base))
        words = ["team.yaml", "task.json", "--budget", cap, "--quiet"]
        result = invoked_in(folder, main, words, "mas-run")
    assert result.code in {0, 1, 3}, result.err
    (run,) = (folder / "runs").iterdir()
    return json.loads((run / "result.json").read_text())["usage"]


@pytest.mark.parametrize(("says", "writes"), every(3, KINDS))
def test_the_true_bill_passes_no_cap_unsaid(says: str, writes: str, tmp_path: Path) -> None:
    endpoint = Endpoint(says=SAYS[says], writes=writes)
    fields = used(endpoint, f"usd={CAP}", tmp_path)
    assert endpoint.usd <= CAP + endpoint.bound, (endpoint.calls, fields)
    assert endpoint.calls == fields["calls"]
    if says == "honest" and writes == "within":
        assert fields["usd"] == pytest.approx(endpoint.usd, rel=0.1)
    if says in {"free", "cheap"}:  # it admits to two tokens a call at least, and they have a price
        assert fields["usd"] >= fields["calls"] * 1.9 * USD_PER_MTOK / 1e6


def test_a_cap_on_tokens_counts_what_is_in_the_texts(tmp_path: Path) -> None:
    endpoint, cap = Endpoint(says=SAYS["one and one"], writes="within"), 3000
    fields = used(endpoint, f"tokens={cap}", tmp_path)
    assert 1 < endpoint.calls == fields["calls"] < WIDTH
    assert endpoint.usd <= cap * USD_PER_MTOK / 1e6
