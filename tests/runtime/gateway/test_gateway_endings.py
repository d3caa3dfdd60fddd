"""How an answer ended, over every API, whole or in pieces: one gate, by the providers' words."""

import json
from random import Random
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer
from coterie.runtime.gateway.chat.provider_words import FINISH_WORDS, REFUSAL_WORDS
from coterie.runtime.gateway.chat.usage_shape import consumed
from coterie.runtime.gateway.metering import metered
from coterie.runtime.gateway.prices import TokenPrices

from ...canned import DONE, Read, Response, document, pieces, read, seeds, stream, whole
from ...overflows import placed, too_long, waiting

WIRES = ("chat", "anthropic", "responses")
TEXT = "The answer is 42, and so is 41 plus 1."
UNKNOWN = ("upstream_lost", "worker_died", "ERROR_UPSTREAM", "quota", "evicted", "stopped_by_host")
KEPT_ALIVE = ["null", "[]", "{}", '"ping"', "0", "ping", "event: ping\ndata: {}", ": wait", "true"]
WORDS = {means: [*words] for means, words in FINISH_WORDS.items()}


def answered(chance: Random, wire: str, word: Any, text: str = TEXT) -> Response:
    """An answer that ends with a word, whole or in pieces."""
    if chance.random() < 0.5:
        return document(whole(wire, text, word))
    last = [DONE] if chance.random() < 0.5 else []
    return stream(*pieces(wire, text, word, chance.randint(1, 9)), *last)


def spelt(chance: Random, word: str) -> str:
    """A word as some endpoint spells it."""
    camel = "".join(part.title() if at else part for at, part in enumerate(word.split("_")))
    return chance.choice([word, word.upper(), word.replace("_", "-"), camel])


def failure(result: Read) -> CallError:
    assert isinstance(result.answer, CallError), result
    return result.answer


def answer(result: Read) -> ChatAnswer:
    assert isinstance(result.answer, ChatAnswer), result
    return result.answer


def test_every_word_has_one_meaning_and_a_source() -> None:
    assert {*FINISH_WORDS} == {
        *("stop", "tool_calls", "length", "content_filter", "filtered", "failed", "unsaid")
    }
    for groups in (FINISH_WORDS, REFUSAL_WORDS):
        words = [word for group in groups.values() for word in group]
        assert len({*words}) == len(words)
        assert all(word == word.lower() for word in words)
        assert all("/" in source for group in groups.values() for source in group.values())


def test_an_answer_that_ended_well_is_taken_at_the_first_try(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        words = WORDS["stop"] if wire != "responses" else ["completed"]
        result = read(answered(chance, wire, spelt(chance, chance.choice(words))), wire=wire)
        assert (answer(result).text, answer(result).finish_reason, result.requests) == (
            TEXT,
            "stop",
            1,
        )


def test_an_answer_that_was_cut_counts_and_says_so(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        means = chance.choice(["length", "content_filter", "filtered"])
        word = spelt(chance, chance.choice(WORDS[means]))
        result = read(answered(chance, wire, word), wire=wire)
        text = word if means == "filtered" else means
        assert (answer(result).text, answer(result).finish_reason, result.requests) == (
            TEXT,
            text,
            1,
        )


@pytest.mark.parametrize("last", [None, "", "stop", "tool_calls"])
def test_what_was_cut_does_not_become_whole_by_a_later_word(last: str | None) -> None:
    ends = [{"choices": [{"index": 0, "delta": {}, "finish_reason": word}]} for word in (last,)]
    result = read(stream(*pieces("chat", TEXT, "length")[:-1], *ends, DONE))
    assert answer(result).finish_reason == "length"


def test_every_other_word_is_a_failure_by_its_own_name(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        word = chance.choice([*WORDS["failed"], *UNKNOWN])
        result = read(answered(chance, wire, word), wire=wire)
        assert word in str(failure(result))
        assert failure(result).may_pass
        assert (result.requests, result.tokens) == (3, 45)  # what it says itself, and no guess


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"message": "Provider returned error", "code": 502}, "down"),
    ({"message": "No auth credentials found", "code": 401}, "denied"),
    ({"message": "Insufficient credits", "code": "402"}, "denied"),
    ({"message": "slow down", "code": 429}, "busy"),
    ({"message": "slow down", "type": "rate_limit_error"}, "busy"),
    ({"message": "Overloaded", "type": "overloaded_error"}, "down"),
    ({"message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}, "busy"),
    ({"message": "Prompt exceeds max length", "code": "1261"}, "overflow"),
    ({"message": "maximum context length is 8192 tokens", "code": 400}, "overflow"),
    ({"message": "no such thing", "code": "invalid_prompt"}, "rejected"),
    ({"message": "went wrong", "code": "server_error"}, "down"),
]


def wrapped(chance: Random, wire: str, error: dict[str, Any]) -> Response:
    """An error with status 200, as one provider or another wraps it."""
    partial = whole("chat", "half", "error")
    partial["choices"][0]["error"] = error
    failed = {"status": "failed", "error": error, "output": []}
    forms = [
        document({"error": error}),
        document([{"error": error}]),
        document({"type": "error", "error": error}),
        document({"errors": [error], "success": False, "result": None}),
        document({"object": "error", **error} if "type" not in error else {"error": error}),
        document({"Response": {"RequestId": "7", "Error": error}}),
        document({"fault": {**error, "faultstring": "a fault"}}),
        document({"response": {"errors": [error]}, "usage": None}),
        stream({"Response": {"Error": error}}, DONE),
        stream({"error": error}),
        stream(f"event: error\ndata: {json.dumps(error)}"),
        stream({"type": "error", "error": error}),
        stream(*KEPT_ALIVE, {"error": error}, DONE),
    ]
    forms += {
        "chat": [document(partial), stream({"choices": [{"index": 0, "error": error}]})],
        "anthropic": [],
        "responses": [
            document(failed),
            stream({"type": "response.failed", "response": failed}),
        ],
    }[wire]
    return chance.choice(forms)


def test_an_error_with_status_200_is_that_error_and_costs_nothing(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        error, kind = chance.choice(ERRORS)
        result = read(wrapped(chance, wire, error), wire=wire)
        assert (failure(result).kind, result.tokens) == (kind, 0), error
        assert error["message"] in str(failure(result))
        assert result.requests == (3 if failure(result).may_pass else 1)


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, "down", "rate limit"),
        ({"choices": None, "base_resp": {"status_code": 2013, "status_msg": "x"}}, "down", "x"),
        ({"error_code": 18, "error_msg": "qps limit reached"}, "down", "qps limit reached"),
        ({"errno": 1, "errmsg": "no such thing"}, "down", "no such thing"),
        ({"type": "about:blank", "title": "Busy", "status": 429, "detail": "x"}, "busy", "Busy x"),
        ({"fault": {"faultstring": "Quota", "detail": {"errorcode": "q"}}}, "down", "Quota"),
        ({"Response": {"Error": {"Code": "Limit", "Message": "slow"}}}, "down", "slow Limit"),
        ({"error": True, "message": "overloaded", "status": 503}, "down", "True"),
        ({"errors": ["overloaded"]}, "down", "overloaded"),
    ],
)
def test_other_errors_of_status_200_are_free(body: dict[str, Any], kind: str, words: str) -> None:
    for sent in (document(body), stream(body), stream(*KEPT_ALIVE, body, DONE)):
        result = read(sent)
        assert (failure(result).kind, result.tokens, words in str(failure(result))) == (
            kind,
            0,
            True,
        )


def test_a_failure_in_the_middle_costs_no_more_than_came(nightly: bool) -> None:
    for seed in seeds(nightly):
        wire = WIRES[seed % 3]
        begun = pieces(wire, TEXT, None, 1 + seed % 9)[:-2]
        lost = {"error": {"message": "lost", "code": 502}}
        result = read(stream(*begun, "error: lost" if seed % 2 else lost), wire=wire)
        assert failure(result).kind == "down"
        assert 0 < result.tokens < 3 * 300, "nothing like the 4,096 that it might have written"


def test_what_keeps_a_connection_says_nothing(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        events = pieces(wire, TEXT, "stop", chance.randint(1, 9))
        for _ in range(chance.randint(1, 6)):
            events.insert(chance.randrange(len(events)), chance.choice(KEPT_ALIVE))
        result = read(stream(*events), wire=wire)
        assert (answer(result).text, result.requests) == (TEXT, 1)


def test_a_stream_is_whole_by_a_reason_or_by_its_last_word(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        unsaid = chance.choice([None, "", "null"])
        begun = pieces(wire, TEXT, unsaid, chance.randint(1, 9))
        if wire == "chat":
            for event in begun[:-1]:
                event["choices"][0]["finish_reason"] = unsaid
        else:
            begun.pop()
        cut = read(stream(*begun), wire=wire)
        assert (failure(cut).kind, cut.requests) == ("malformed", 3)
        done = read(stream(*begun, chance.choice([DONE, "[done]", " [DONE] "])), wire=wire)
        assert (answer(done).text, answer(done).finish_reason, done.requests) == (TEXT, "stop", 1)


def test_calls_come_whole_whatever_their_pieces_look_like(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance = Random(seed)
        wanted = [("look_up", '{"city": "Oslo"}'), ("look_up", '{"city": "Rome"}'), ("end", "{}")]
        index = chance.choice([int, str])
        deltas = [
            {"index": index(at), "function": {"arguments": part}}
            for at, (_, arguments) in enumerate(wanted)
            for part in (arguments[:3], arguments[3:])
            if part
        ]
        chance.shuffle(halves := [deltas[at : at + 2] for at in range(0, 4, 2)])
        begun = [
            {"index": index(at), "id": f"c{at}", "function": {"name": part}}
            for at, (name, _) in enumerate(wanted)
            for part in (chance.choice([[name], [name, name], [name[:2], name[2:]]]))
        ]
        parts = [*begun, *deltas[4:], *halves[0], *halves[1]]
        first, other = index(0), index(1)
        events = [{"choices": [{"index": other, "delta": {"content": "the second"}}]}]
        events += [
            {"choices": [{"index": first, "delta": {"tool_calls": [part]}}]} for part in parts
        ]
        events += [{"choices": [{"index": first, "delta": {}, "finish_reason": "tool_calls"}]}]
        result = answer(read(stream(*events, DONE)))
        assert [(call.name, call.arguments) for call in result.tool_calls] == wanted
        assert result.text == ""


@pytest.mark.parametrize("beside", [None, {}, {"name": None, "arguments": None}, {"name": ""}])
def test_a_call_in_the_field_before_tool_calls_is_one(beside: Any) -> None:
    former = {"name": "look_up", "arguments": '{"city": "Oslo"}'}
    halves = [{"name": "look_up", "arguments": '{"ci'}, {"arguments": 'ty": "Oslo"}'}]
    text = {"content": "I look."}
    last = {"index": 0, "delta": {}, "finish_reason": "function_call"}
    deltas = [{**text, "function_call": beside}, *({"function_call": half} for half in halves)]
    events: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    message: dict[str, Any] = {**text, "function_call": former}
    body: Any = {"choices": [{"message": message, "finish_reason": "function_call"}]}
    for sent in (document(body), stream(*events, {"choices": [last]}, DONE)):
        [call] = answer(read(sent)).tool_calls
        assert (call.name, call.arguments) == tuple(former.values())
    message["tool_calls"] = [{"id": "c", "function": {"name": "end", "arguments": "{}"}}]
    events[0]["choices"][0]["delta"]["tool_calls"] = message["tool_calls"]
    for sent in (document(body), stream(*events, {"choices": [last]}, DONE)):
        assert [call.name for call in answer(read(sent)).tool_calls] == ["end"]
    body = {"choices": [{"message": {**text, "function_call": beside}, "finish_reason": "stop"}]}
    for sent in (document(body), stream(body, DONE)):
        assert (answer(read(sent)).text, answer(read(sent)).tool_calls) == ("I look.", ())


def test_the_first_choice_is_the_one_with_the_lowest_index() -> None:
    item, two = (whole("chat", text, "stop")["choices"][0] for text in ("first", "second"))
    body = {"choices": [{**two, "index": "1"}, {**item, "index": "0"}]}
    assert answer(read(document(body))).text == "first"


def test_a_prompt_that_is_too_long_is_one_in_every_providers_words() -> None:
    spare = [document(whole("chat", "from the spare", "stop"))]
    for status in (200, 400, 413, 422, 500):
        for words in REFUSAL_WORDS["overflow"]:
            error = {"error": {"message": f"Sorry: {words.upper()} [8192]", "code": None}}
            result = read(document(error, status), others=spare)
            assert (answer(result).text, result.requests, result.tokens) == (
                "from the spare",
                2,
                15,
            )
    assert answer(read(Response(b"<html>413", 413), others=spare)).text == "from the spare"
    assert failure(read(document({"error": {"message": "too many"}}, 429))).kind == "busy"


def test_a_prompt_that_is_too_long_is_one_wherever_a_provider_says_so(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        text, status = too_long(chance), chance.choice([200, 400, 413, 422, 500])
        refused = placed(chance, text, wire, status)
        spare = [document(whole(wire, "from the spare", "stop"))]
        result = read(refused, wire=wire, others=spare)
        assert isinstance(result.answer, ChatAnswer), refused
        assert (answer(result).text, result.requests, result.tokens) == ("from the spare", 2, 15)


def test_who_asks_to_wait_is_waited_for(nightly: bool) -> None:
    for seed in seeds(nightly):
        chance, wire = Random(seed), WIRES[seed % 3]
        seconds = chance.choice([0.25, 1.5, 2, 30, round(chance.uniform(0.6, 59), 3)])
        headers, fields = waiting(chance, seconds)
        status = chance.choice([200, 408, 429, 429, 500, 503, 529])
        code = 429 if status == 200 else status
        busy = placed(chance, "slow down", wire, status, **{**fields, "code": code})
        busy = busy._replace(headers=headers)
        result = read(busy, document(whole(wire, TEXT, "stop")), wire=wire)
        assert (answer(result).text, result.requests) == (TEXT, 2), busy
        assert seconds <= result.seconds < seconds + 0.6, busy


def test_a_price_of_nothing_does_not_overrule_the_hosts() -> None:
    body = {**whole("chat", TEXT, "stop"), "usage": {**whole("chat", "", None)["usage"], "cost": 0}}
    used = consumed(body, answered=True)
    assert used.usd == 0
    priced = ChatAnswer(text=TEXT, usage=used.usage, reported_usd=used.usd)
    rates = TokenPrices(1e-6, 1e-6, 2e-6)
    assert metered(priced, 10, rates, declared=True).usd == pytest.approx(20e-6)
