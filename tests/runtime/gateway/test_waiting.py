"""How long an answer in pieces is waited for, and what one that broke off has cost."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.stream_sink import StreamSink
from coterie.runtime.values.budget import Budget, Caps
from coterie.runtime.values.usage import Usage

from ...provider import PRICED, Provider, answer, gateway_to, model, request
from ...virtual_time import run_virtually, virtual_clock

PARTS = [(1.5, True)] * 4


class Piecewise(Provider):
    """Sends signs of life, and pieces of an answer, after some seconds each."""

    def __init__(
        self,
        parts: list[tuple[float, bool]],
        received: ChatAnswer | None = None,
        cut: CallError | None = None,
    ) -> None:
        super().__init__(self._none)
        self.parts = parts
        self.received = received
        self.cut = cut

    async def chat(self, endpoint: Any, body: Any, sink: StreamSink) -> ChatAnswer:
        self.asked.append(endpoint.model)
        for seconds, goes_on in self.parts:
            await asyncio.sleep(seconds)
            sink.on_bytes(goes_on)
            sink.on_words("x")
            if self.received is not None:
                sink.received = lambda: self.received or answer()
        if self.cut is not None:
            sink.is_cut = True
            raise self.cut
        return answer()

    async def _none(self, _model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        raise AssertionError


def asked(
    parts: list[tuple[float, bool]],
    *,
    received: ChatAnswer | None = None,
    cut: CallError | None = None,
    caps: Caps | None = None,
    **fields: Any,
) -> tuple[ChatAnswer | CallError, Usage, float, str]:
    """Ask with a timeout of 2 seconds; give what came, its cost, the seconds, and the words."""
    provider, words = Piecewise(parts, received, cut), list[str]()

    async def scene() -> tuple[ChatAnswer | CallError, Usage, float, str]:
        budget = Budget(caps or Caps(), clock=virtual_clock)
        result: ChatAnswer | CallError
        async with gateway_to(provider, model(**PRICED, timeout=2)) as gateway:
            asked = request(retries=0, max_tokens=100, **fields)
            try:
                result = await gateway.chat(asked, budget=budget, on_words=words.append)
            except CallError as error:
                result = error
        return result, budget.spent, virtual_clock(), "".join(words)

    return run_virtually(scene())


def test_an_answer_that_goes_on_may_take_longer_than_the_timeout() -> None:
    result, spent, seconds, words = asked(PARTS)
    assert isinstance(result, ChatAnswer)
    assert (result.attempts, spent.calls, seconds, words) == (1, 1, 6, "xxxx")


@pytest.mark.parametrize(
    ("parts", "seconds", "message"),
    [
        ([(3.0, True)], 2, "no whole answer within 2 seconds"),
        (
            [(1.5, True), (1.5, True), (2.5, True)],
            5,
            "the answer stalled: nothing received for 2 seconds",
        ),
        ([(1.5, False)] * 20, 20, "no whole answer within 20 seconds"),
        ([(1.5, True), *[(1.5, False)] * 20], 21.5, "only keep-alives received for 20"),
    ],
    ids=["nothing comes", "it stops", "it is only kept alive", "from then on it is kept alive"],
)
def test_a_timeout_is_silence(parts: Any, seconds: float, message: str) -> None:
    result, spent, took, _ = asked(parts)
    assert isinstance(result, CallError)
    assert (result.kind, result.may_be_billed) == ("timeout", True)
    assert message in str(result)
    assert (took, spent.uncertain_calls) == (seconds, 1)


def test_who_asks_may_wait_less_long_however_the_answer_goes_on() -> None:
    result, spent, seconds, _ = asked(PARTS, patience=4.0)
    assert isinstance(result, CallError)
    assert result.kind == "slow"
    assert "no whole answer within 4 seconds, the agent's timeout" in str(result)
    assert (seconds, spent.uncertain_calls) == (4, 1)


def broken_off(received: ChatAnswer | None) -> Usage:
    _, spent, _, _ = asked([(1.0, True), (9.0, True)], received=received)
    return spent


def test_an_answer_that_broke_off_counts_with_all_that_it_may_have_cost() -> None:
    unheard = broken_off(None)
    assert (unheard.calls, unheard.uncertain_calls, unheard.completion_tokens) == (1, 1, 100)
    some = ChatAnswer(text="x" * 20, usage=Usage(calls=1, unmetered_calls=1))
    assert broken_off(some) == unheard
    report = ChatAnswer(text="x", usage=Usage(calls=1, prompt_tokens=9, completion_tokens=1))
    usage = broken_off(report)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.uncertain_calls) == (9, 100, 1)
    assert usage.usd == usage.uncertain_usd == pytest.approx(9e-6 + 200e-6)
    much = ChatAnswer(text="x" * 900, usage=Usage(calls=1, unmetered_calls=1))
    assert broken_off(much).completion_tokens == 450


@pytest.mark.parametrize(
    ("received", "counted", "doubted"),
    [
        (None, 0, 100),
        (ChatAnswer(text="x" * 20, usage=Usage(calls=1, unmetered_calls=1)), 10, 90),
        (ChatAnswer(text="x" * 900, usage=Usage(calls=1, unmetered_calls=1)), 450, 0),
    ],
)
def test_a_stream_that_ended_too_early_counts_with_what_came(
    received: ChatAnswer | None, counted: int, doubted: int
) -> None:
    cut = CallError("It ended.", kind="malformed", may_be_billed=True)
    result, spent, _, _ = asked([(1.0, True)], received=received, cut=cut)
    assert result is cut
    assert spent.completion_tokens == counted
    assert (spent.calls, spent.uncertain_calls, spent.doubted_tokens) == (1, 1, doubted)
    price = spent.prompt_tokens * 1e-6 + counted * 2e-6
    assert spent.usd == spent.uncertain_usd == pytest.approx(price)
    assert spent.usd + spent.doubted_usd >= broken_off(received).usd


def over_http(
    replies: Any, *, times: int = 1, **fields: Any
) -> tuple[ChatAnswer, list[Mapping[str, Any]]]:
    """Ask a double; give its last answer, and what it was asked."""

    async def scene() -> ChatAnswer:
        spec = model(api_base=double.api_base, **fields)
        async with Gateway({"default": spec}) as gateway:
            return [await gateway.chat(request(retries=0)) for _ in range(times)][-1]

    with ScriptedModel(replies) as double:
        result = asyncio.run(scene())
    return result, [call.body or {} for call in double.calls]


def test_models_yaml_can_ask_for_whole_answers() -> None:
    result, bodies = over_http(Reply(text="four"), stream=False)
    assert result.text == "four"
    assert "stream" not in bodies[0]
    assert "stream_options" not in bodies[0]


@pytest.mark.parametrize(
    ("refused", "left"),
    [("stream_options", {"stream"}), ("stream", set())],
)
def test_an_endpoint_that_refuses_pieces_is_asked_without(refused: str, left: set[str]) -> None:
    def reply(body: Mapping[str, Any]) -> Reply:
        if refused in body:
            return Reply.error(400, message=f"Unknown parameter: '{refused}'.")
        return Reply(text="four")

    result, bodies = over_http(reply, times=2)
    assert result.text == "four"
    assert {"stream", "stream_options"} & bodies[-1].keys() == left
    assert refused not in bodies[-2]
