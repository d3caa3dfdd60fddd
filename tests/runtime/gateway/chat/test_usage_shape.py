"""What providers say of a call's usage: no token is lost, and what they say it cost counts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.gateway.chat.usage_shape import consumed
from coterie.runtime.gateway.metering import metered
from coterie.runtime.gateway.prices import TokenPrices
from coterie.runtime.values.usage import Usage


def used(**fields: Any) -> dict[str, Any]:
    return {"usage": fields}


SHAPES: dict[str, tuple[Any, ...]] = {
    # body; read, of it from the cache, put there; written, of it thinking; and USD where it is said
    # platform.openai.com/docs/api-reference/chat/object (2026-11): thinking is a part of it
    "openai": (
        used(
            prompt_tokens=1117,
            completion_tokens=446,
            total_tokens=1563,
            prompt_tokens_details={"cached_tokens": 1024, "audio_tokens": 0},
            completion_tokens_details={"reasoning_tokens": 400},
        ),
        (1117, 1024, 0, 446, 400),
    ),
    # docs.x.ai/docs/key-information/consumption-and-rate-limits: thinking is in the total only;
    # these counts and the price in ticks: github.com/Wei-Shaw/sub2api/issues/5771 (2026-08-18)
    "xai": (
        used(
            prompt_tokens=10120,
            completion_tokens=1499,
            total_tokens=14428,
            prompt_tokens_details={"cached_tokens": 128},
            completion_tokens_details={"reasoning_tokens": 2809},
            cost_in_usd_ticks=232856000,
        ),
        (10120, 128, 0, 4308, 2809),
        0.0232856,
    ),
    # github.com/UKGovernmentBEIS/inspect_ai/issues/5528 (2026-09-23)
    "xai, short": (
        used(
            prompt_tokens=32,
            completion_tokens=9,
            total_tokens=135,
            completion_tokens_details={"reasoning_tokens": 94},
        ),
        (32, 0, 0, 103, 94),
    ),
    # ai.google.dev/gemini-api/docs/openai (2026-11): thoughts are in the total, and nowhere named
    "gemini": (
        used(prompt_tokens=8, completion_tokens=0, total_tokens=77),
        (8, 0, 0, 69, 0),
    ),
    # api-docs.deepseek.com/api/create-chat-completion (2026-11)
    "deepseek": (
        used(
            prompt_tokens=900,
            completion_tokens=54,
            total_tokens=954,
            prompt_cache_hit_tokens=500,
            prompt_cache_miss_tokens=400,
            completion_tokens_details={"reasoning_tokens": 40},
        ),
        (900, 500, 0, 54, 40),
    ),
    # docs.litellm.ai/docs/completion/usage (2026-11): Anthropic's, as litellm writes it
    "anthropic through the chat API": (
        used(
            prompt_tokens=2110,
            completion_tokens=30,
            total_tokens=2140,
            prompt_tokens_details={"cached_tokens": 1000, "cache_creation_tokens": 1100},
            cache_creation_input_tokens=1100,
            cache_read_input_tokens=1000,
        ),
        (2110, 1000, 1100, 30, 0),
    ),
    # openrouter.ai/docs/use-cases/usage-accounting (2026-11): it says what a call cost, unasked
    "openrouter": (
        used(
            prompt_tokens=26930,
            completion_tokens=6451,
            total_tokens=33381,
            cost=0.092374,
            is_byok=False,
            prompt_tokens_details={"cached_tokens": 128, "cache_write_tokens": 12},
            cost_details={"upstream_inference_cost": 0.092374},
            completion_tokens_details={"reasoning_tokens": 4886},
        ),
        (26930, 128, 12, 6451, 4886),
        0.092374,
    ),
    # the same page: with a key of the user's own, the fee and what the model's provider takes
    "openrouter, own key": (
        used(
            prompt_tokens=10,
            completion_tokens=5,
            cost=0.01,
            is_byok=True,
            cost_details={"upstream_inference_cost": 0.2},
        ),
        (10, 0, 0, 5, 0),
        0.21,
    ),
    # console.groq.com/docs/api-reference (2026-11): in a stream, the last piece has it aside
    "groq": (
        {"x_groq": used(prompt_tokens=18, completion_tokens=5, total_time=0.1)},
        (18, 0, 0, 5, 0),
    ),
    # docs.mistral.ai/api (2026-11)
    "mistral": (
        used(prompt_tokens=16, completion_tokens=34, total_tokens=50),
        (16, 0, 0, 34, 0),
    ),
    # docs.perplexity.ai/api-reference (2026-11): a table of what the call cost
    "perplexity": (
        used(
            prompt_tokens=9,
            completion_tokens=30,
            total_tokens=39,
            cost={"input_tokens_cost": 0.00001, "total_cost": 0.00504},
        ),
        (9, 0, 0, 30, 0),
        0.00504,
    ),
    # deepinfra.com/docs/advanced/openai_api (2026-11)
    "deepinfra": (
        used(prompt_tokens=15, completion_tokens=16, estimated_cost=0.0000268),
        (15, 0, 0, 16, 0),
        0.0000268,
    ),
    # platform.moonshot.ai/docs/api/chat (2026-11)
    "moonshot": (
        used(prompt_tokens=190, completion_tokens=21, cached_tokens=10),
        (190, 10, 0, 21, 0),
    ),
    # github.com/ollama/ollama/blob/main/docs/openai.md, docs.vllm.ai (2026-11)
    "ollama, vllm": (
        used(
            prompt_tokens=26,
            completion_tokens=298,
            total_tokens=324,
            prompt_tokens_details=None,
        ),
        (26, 0, 0, 298, 0),
    ),
    # github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (2026-11)
    "llama.cpp": (
        {"timings": {"cache_n": 236, "prompt_n": 1, "predicted_n": 35, "predicted_ms": 661.0}},
        (237, 236, 0, 35, 0),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_provider_is_counted_in_full(name: str) -> None:
    body, (read, cached, stored, written, thought), *usd = SHAPES[name]
    usage, reported = consumed(body, answered=True)
    assert usage == Usage(
        calls=1,
        prompt_tokens=read,
        cached_tokens=cached,
        stored_tokens=stored,
        completion_tokens=written,
        reasoning_tokens=thought,
    )
    assert reported == (pytest.approx(usd[0]) if usd else None)


def test_thinking_that_exceeds_what_was_written_is_counted_without_a_total() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "reasoning_tokens": 317}
    assert consumed({"usage": usage}, answered=True).usage.completion_tokens == 319


@pytest.mark.parametrize("cost", [-1, True, "0.1", float("nan"), float("inf"), 1e9, {}, []])
def test_a_cost_that_cannot_be_is_none(cost: Any) -> None:
    assert consumed({"usage": {"cost": cost}}, answered=True).usd is None


def test_what_a_provider_says_that_it_cost_comes_before_the_price_list() -> None:
    answer = ChatAnswer(text="x", usage=Usage(calls=1, prompt_tokens=9), reported_usd=0.5)
    assert metered(answer, 9, TokenPrices(1.0, 1.0, 1.0)).usd == 0.5
    unlisted = metered(answer, 9, None)
    assert (unlisted.usd, unlisted.unpriced_calls) == (0.5, 0)


COUNTS = st.none() | st.integers(-1, 300) | st.floats() | st.text(max_size=2)
NAMES = st.sampled_from(
    [
        "prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens",
        "cache_write_tokens", "cost", "estimated_cost", "cost_in_usd_ticks", "is_byok",
    ]
)  # fmt: skip
DETAILS = st.sampled_from(["prompt_tokens_details", "completion_tokens_details", "cost_details"])
TOLD = st.dictionaries(NAMES, COUNTS, max_size=6)


@given(
    usage=st.builds(
        lambda flat, deep: {**flat, **deep}, TOLD, st.dictionaries(DETAILS, TOLD | COUNTS)
    ),
    place=st.sampled_from(["usage", "x_groq", "timings"]),
)
def test_whatever_is_said_the_parts_fit_into_the_whole(usage: Any, place: str) -> None:
    result, usd = consumed({place: {"usage": usage} if place == "x_groq" else usage}, answered=True)
    assert result.cached_tokens + result.stored_tokens <= result.prompt_tokens
    assert result.reasoning_tokens <= result.completion_tokens
    assert usd is None or 0 <= usd <= 1e5
    rates = TokenPrices(1.0, 0.1, 4.0, 1.25, 5.0, ((100, TokenPrices(2.0, 0.2, 8.0)),))
    if not result.unmetered_calls:
        assert result.prompt_tokens >= usage["prompt_tokens"]
        assert result.completion_tokens >= usage["completion_tokens"]
        most = rates.highest(result.prompt_tokens, result.completion_tokens)
        assert 0 <= rates.usd(result) <= most * (1 + 1e-9)
