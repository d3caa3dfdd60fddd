"""Calls in batches: each gets its own answer at half the price, and is paid for once."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Calls, Gateway, Journal
from coterie.runtime.batch import batch_client
from coterie.runtime.doubles import ScriptedCall
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, retry, spoken
from coterie.runtime.gateway.http.http_client import HttpClient
from coterie.runtime.values.budget import Budget, BudgetReached, Caps
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError, Model
from studies.doubles import KEY, PROVIDERS, Provider, Said
from studies.doubles.batches import BatchingServer, Fate
from studies.doubles.server import ProviderEndpoints

WITH_BATCHES = ("OpenAI", "OpenAI, responses", "Anthropic")
PATHS = ("a/call 1", "b/call 1", "c/call 1")
PRICES: dict[str, Any] = {"usd_per_mtok_input": 2.0, "usd_per_mtok_output": 8.0}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no time pass between two looks at a batch."""
    for name in ("LINGER", "FIRST_WAIT", "LONGEST_WAIT"):
        monkeypatch.setattr(batch_client, name, 0.0)
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.0)


@pytest.fixture(params=WITH_BATCHES)
def provider(request: pytest.FixtureRequest) -> Provider:
    return next(item for item in PROVIDERS if item.name == request.param)


OPENAI = next(item for item in PROVIDERS if item.name == "OpenAI")


def script() -> Iterator[Said]:
    return (Said(text=f"answer {number}") for number in range(100))


def serving(provider: Provider, steps: Any = None, **how: Any) -> BatchingServer:
    return BatchingServer(ProviderEndpoints(provider, steps or script()), **how)


@dataclass(kw_only=True)
class Asking:
    """Calls that are made side by side, with a journal."""

    provider: Provider
    server: BatchingServer
    folder: Path
    batched: bool = True
    budget: Budget | None = None
    retries: int = 0
    paths: tuple[str, ...] = PATHS
    report: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)
    fields: Mapping[str, Any] = field(default_factory=dict)

    async def answers(self) -> list[ChatAnswer | BaseException]:
        """Make a call under each path; what is raised takes an answer's place."""
        parts = {"origin": self.server.origin, "key": KEY}
        environment = {
            name: value.format(**parts) for name, value in self.provider.variables.items()
        }
        api: Any = "responses" if "responses" in self.provider.name else None
        model = Model(alias="default", model=self.provider.choice, api=api, **PRICES)
        gateway = Gateway({"default": model}, environment=environment, batched=self.batched)
        with Journal.open(self.folder) as journal:
            if self.budget is not None:
                self.budget.deposit(journal.spent())
            calls = Calls(gateway=gateway, journal=journal)
            async with gateway, batch_client.collecting(gateway, journal, self.report.append):
                gateway.check(["default"], priced=True)
                answers = await asyncio.gather(
                    *(self._asked(calls, path) for path in self.paths), return_exceptions=True
                )
            self.spent = journal.spent()
        return answers

    async def _asked(self, calls: Calls, path: str) -> ChatAnswer:
        request = ChatRequest(
            model="default",
            messages=[{"role": "user", "content": f"This is asked in {path}."}],
            max_tokens=100,
            retries=self.retries,
            **self.fields,
        )
        return await calls.chat(path, request, self._tell, budget=self.budget)

    def _tell(self, event: str, /, **fields: Any) -> None:
        self.events.append(event)

    def texts(self) -> list[str]:
        """Return what each call was answered, or the kind of its failure."""
        result = asyncio.run(self.answers())
        return [getattr(item, "kind", "") or getattr(item, "text", repr(item)) for item in result]


EACH_ITS_OWN = ["answer 0", "answer 1", "answer 2"]


def test_calls_at_once_are_one_batch_at_half_the_price(provider: Provider, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "batched").mkdir()
    with serving(provider) as server:
        alone = Asking(provider=provider, server=server, folder=tmp_path / "alone", batched=False)
        assert alone.texts() == EACH_ITS_OWN
        assert not server.batches
    with serving(provider) as server:
        asking = Asking(provider=provider, server=server, folder=tmp_path / "batched")
        assert asking.texts() == EACH_ITS_OWN
        (batch,) = server.batches
    assert len(batch.requests) == 3
    assert asking.spent.usd == pytest.approx(alone.spent.usd / 2)
    assert asking.spent.calls == alone.spent.calls == 3
    assert asking.spent.tokens == alone.spent.tokens
    assert asking.report == [
        f"batch 1: 3 requests of {provider.model} submitted as batch_0",
        "batch 1: 1 of 3 answered",
        "batch 1: 3 of 3 answered",
    ]


@dataclass
class Cut:
    """Stops a run for good at one of its requests, and keeps what was on disk at that moment."""

    at: int
    after: bool
    count: int = 0
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def patched(self, response: Callable[..., Any]) -> Callable[..., Any]:
        @asynccontextmanager
        async def cut(*words: Any, **sent: Any) -> AsyncGenerator[Any]:
            self.count += 1
            is_here = self.count == self.at
            if is_here and not self.after:
                await self._for_good()
            async with response(*words, **sent) as got:
                if is_here:
                    await self._for_good()
                yield got

        return cut

    async def _for_good(self) -> None:
        self.stopped.set()
        await asyncio.Event().wait()

    async def made(self, asking: Asking, kept: Path) -> bool:
        """Make calls until they are stopped; return whether they were."""
        work = asyncio.create_task(asking.answers())
        stop = asyncio.create_task(self.stopped.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        shutil.copytree(asking.folder, kept)
        for task in (work, stop):
            task.cancel()
        await asyncio.gather(work, stop, return_exceptions=True)
        return self.stopped.is_set()


@pytest.mark.parametrize("provider", ["OpenAI", "Anthropic"], indirect=True)
@pytest.mark.parametrize("after", [False, True])
def test_a_run_that_is_killed_at_any_request_pays_for_nothing_twice(
    provider: Provider, after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_stopped, at, spent = True, 0, list[Usage]()
    while was_stopped:
        at += 1
        folder, kept = tmp_path / f"run {at}", tmp_path / f"killed {at}"
        folder.mkdir()
        with serving(provider) as server, monkeypatch.context() as patch:
            cut = Cut(at, after)
            patch.setattr(HttpClient, "response", cut.patched(HttpClient.response))
            asking = Asking(provider=provider, server=server, folder=folder)
            was_stopped = asyncio.run(cut.made(asking, kept))
            patch.undo()
            # A budget with no more room than the calls take has none for those that are paid.
            caps = Caps(usd=0.0025, calls=3)
            again = Asking(provider=provider, server=server, folder=kept, budget=Budget(caps))
            assert again.texts() == EACH_ITS_OWN
            assert sorted(set(server.billed)) == sorted(server.billed)
            assert len(server.billed) == 3
            assert again.spent.uncertain_calls == 0
            assert again.spent.calls == 3
            spent = [asking.spent, again.spent]
    assert spent[0] == spent[1]
    assert at > 4


def test_a_run_on_whose_batch_answers_wait_is_not_asked_again_one_by_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    def waiting() -> int:
        with Journal.open(kept) as journal:
            return journal.waiting_in_batches

    with serving(OPENAI) as server:
        cut = Cut(3, after=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(HttpClient, "response", cut.patched(HttpClient.response))
            asking = Asking(provider=OPENAI, server=server, folder=tmp_path)
            assert asyncio.run(cut.made(asking, kept))
        assert waiting() == 3
        assert Asking(provider=OPENAI, server=server, folder=kept).texts() == EACH_ITS_OWN
        assert waiting() == 0


def test_expired_or_cancelled_requests_are_asked_again(provider: Provider, tmp_path: Path) -> None:
    def fate(batch: int, request: int) -> Fate:
        if batch:
            return "answered"
        return ("answered", "expired", "canceled")[request]

    with serving(provider, fate=fate) as server:
        asking = Asking(provider=provider, server=server, folder=tmp_path, retries=1)
        assert sorted(asking.texts()) == EACH_ITS_OWN
        assert len(server.billed) == 3
    assert asking.spent.calls == 3
    assert asking.events.count("model_retried") == 2


def test_an_expired_request_without_retries_fails_its_call_alone(tmp_path: Path) -> None:
    fates: list[Fate] = ["answered", "expired", "answered"]
    with serving(OPENAI, fate=lambda _, request: fates[request]) as server:
        asking = Asking(provider=OPENAI, server=server, folder=tmp_path)
        assert asking.texts() == ["answer 0", "timeout", "answer 1"]
    assert asking.spent.calls == 2


def test_a_refused_parameter_is_not_in_the_next_batch(provider: Provider, tmp_path: Path) -> None:
    with serving(provider) as server:
        fields = {"temperature": 0.5}
        asking = Asking(provider=provider, server=server, folder=tmp_path, fields=fields)
        assert sorted(asking.texts()) == EACH_ITS_OWN
        assert len(server.billed) == 3
    assert asking.events.count("parameter_adapted") >= 1
    assert asking.spent.calls == 3


@pytest.mark.parametrize(
    ("code", "kind"), [("token_limit_exceeded", "busy"), ("invalid_json_line", "rejected")]
)
def test_a_wholly_refused_batch_fails_its_calls(code: str, kind: str, tmp_path: Path) -> None:
    with serving(OPENAI, refuses={0: code}) as server:
        asking = Asking(provider=OPENAI, server=server, folder=tmp_path)
        assert asking.texts() == [kind] * 3
        again = Asking(provider=OPENAI, server=server, folder=tmp_path)
        assert again.texts() == EACH_ITS_OWN
    assert again.spent.calls == 3


def test_a_wrong_key_fails_each_call(provider: Provider, tmp_path: Path) -> None:
    with serving(provider) as server, pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "KEY", "sk-another-key-than-it-takes")
        asking = Asking(provider=provider, server=server, folder=tmp_path, retries=2)
        assert asking.texts() == ["denied"] * 3
        assert not server.batches


def test_what_fails_for_a_while_is_asked_again(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request of a batch API fails once; one that was taken all the same is found."""
    response, seen = HttpClient.response, set[tuple[str, str]]()

    @asynccontextmanager
    async def shaky(self: HttpClient, *words: Any, **sent: Any) -> AsyncGenerator[Any]:
        async with response(self, *words, **sent) as got:
            if (place := (words[1], words[2])) not in seen:
                seen.add(place)
                raise CallError("the connection broke.", kind="down", may_be_billed=True)
            yield got

    monkeypatch.setattr(HttpClient, "response", shaky)
    with serving(provider) as server:
        asking = Asking(provider=provider, server=server, folder=tmp_path)
        assert asking.texts() == EACH_ITS_OWN
        assert len(server.billed) == 3


def test_a_cap_holds_to_the_call(tmp_path: Path) -> None:
    with serving(OPENAI) as server:
        budget = Budget(Caps(calls=2))
        asking = Asking(provider=OPENAI, server=server, folder=tmp_path, budget=budget)
        result = asyncio.run(asking.answers())
        assert [type(item) for item in result] == [ChatAnswer, ChatAnswer, BudgetReached]
        assert len(server.billed) == 2


def test_a_model_without_a_batch_api_is_refused_by_its_alias() -> None:
    models = {
        "mine": Model(alias="mine", model="m", api_base="http://127.0.0.1:9/v1"),
        "declared": Model(
            alias="declared", model="m", api_base="http://127.0.0.1:9/v1", batch_price=0.25
        ),
        "poet": Model(alias="poet", model="mistral/small"),
    }
    gateway = Gateway(models, environment={"MISTRAL_API_KEY": "k"}, batched=True)
    gateway.check(["declared"])
    for alias in ("mine", "poet"):
        with pytest.raises(InputError, match=rf"alias '{alias}'.* a model of anthropic, openai"):
            gateway.check([alias])


def test_each_turn_of_tools_is_asked_in_the_next_batch(provider: Provider, tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    steps = [Said(calls=(ScriptedCall(name="add", arguments='{"a": 1}'),)), Said(text="five")]

    class Loop(Asking):
        async def _asked(self, calls: Calls, path: str) -> ChatAnswer:
            said: list[Any] = [{"role": "user", "content": "What is four and one?"}]
            for turn in (1, 2):
                wanted = ChatRequest(
                    model="default", messages=said, max_tokens=99, tools=[tool], effort="none"
                )
                answer = await calls.chat(f"{path} {turn}", wanted, self._tell)
                results = [
                    {"role": "tool", "tool_call_id": call.id, "content": "5"}
                    for call in answer.tool_calls
                ]
                said = [*said, spoken(answer, [call.id for call in answer.tool_calls]), *results]
            return answer

    with serving(provider, steps) as server:
        asking = Loop(provider=provider, server=server, folder=tmp_path, paths=("loop",))
        assert asking.texts() == ["five"]
        assert [len(batch.requests) for batch in server.batches] == [1, 1]
