"""What a call costs: by models.yaml, else by the list, with its steps, and never too low before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import prices
from coterie.runtime.gateway.prices import TokenPrices, batch_price_of, rates_of
from coterie.runtime.values.usage import Usage
from coterie.schema import Model


def model(name: str, **fields: object) -> Model:
    return Model(alias="default", model=name, **fields)  # pyright: ignore[reportArgumentType]


def test_declared_prices_come_first_and_the_list_second() -> None:
    declared = model("openai/gpt-4o-mini", usd_per_mtok_input=1.0, usd_per_mtok_output=2.0)
    assert rates_of(declared) == TokenPrices(1e-6, 1e-6, 2e-6)
    listed = rates_of(model("openai/gpt-4o-mini"))
    assert listed is not None
    assert listed.read > listed.cached > 0
    assert rates_of(model("gpt-4o-mini", api_base="http://h/v1")) is None
    assert rates_of(model("openai/no-such-model")) is None
    assert rates_of(model("local")) == TokenPrices(0.0, 0.0, 0.0)


def test_models_yaml_may_say_the_same_as_the_list() -> None:
    steps = ({"above": 200, "usd_per_mtok_input": 4.0}, {"above": 100, "usd_per_mtok_input": 2.0})
    declared = model(
        "m",
        usd_per_mtok_input=1.0,
        usd_per_mtok_cached=0.5,
        usd_per_mtok_output=5.0,
        usd_per_mtok_cache_write=1.25,
        usd_per_mtok_thinking=6.0,
        usd_steps=steps,
    )
    usual = TokenPrices(1e-6, 5e-7, 5e-6, 1.25e-6, 6e-6)
    assert rates_of(declared) == usual._replace(
        steps=((100, usual._replace(read=2e-6)), (200, usual._replace(read=4e-6)))
    )


LISTED = {
    "stepped": {
        "input_cost_per_token": 1e-6,
        "input_cost_per_token_above_200k_tokens": 2e-6,
        "output_cost_per_token": 4e-6,
        "output_cost_per_token_above_200k_tokens": 6e-6,
        "cache_read_input_token_cost": 1e-7,
        "cache_creation_input_token_cost": 1.25e-6,
    },
    "tiered": {
        "tiered_pricing": [
            {"range": [0, 32000], "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
            {"range": [32000, 128000], "input_cost_per_token": 3e-6, "output_cost_per_token": 5e-6},
        ]
    },
    "thinking": {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "output_cost_per_reasoning_token": 8e-6,
    },
}


def read(name: str, **tokens: int) -> float:
    rates = rates_of(model(f"x/{name}"))
    assert rates is not None
    usage = Usage(calls=1, **tokens)
    usd = rates.usd(usage)
    assert usd <= rates.highest(usage.prompt_tokens, usage.completion_tokens) * (1 + 1e-9)
    return usd * 1e6


@pytest.mark.parametrize(
    ("name", "tokens", "micro_usd"),
    [
        ("stepped", {"prompt_tokens": 1000, "completion_tokens": 10}, 1040),
        ("stepped", {"prompt_tokens": 1000, "cached_tokens": 600, "stored_tokens": 400}, 560),
        ("stepped", {"prompt_tokens": 200_000}, 200_000),
        # All of a call that is longer costs more; what the step does not say is as below it.
        ("stepped", {"prompt_tokens": 300_000, "completion_tokens": 10}, 600_060),
        ("stepped", {"prompt_tokens": 300_000, "cached_tokens": 300_000}, 30_000),
        ("tiered", {"prompt_tokens": 1000, "completion_tokens": 10}, 1020),
        ("tiered", {"prompt_tokens": 100_000, "completion_tokens": 10}, 300_050),
        ("thinking", {"prompt_tokens": 10, "completion_tokens": 10, "reasoning_tokens": 6}, 66),
    ],
)
def test_the_list_is_read_with_its_steps(
    name: str, tokens: dict[str, int], micro_usd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prices, "_price_list", lambda: LISTED)
    assert read(name, **tokens) == pytest.approx(micro_usd)


def test_models_of_today_are_listed_with_what_their_cache_and_their_length_cost() -> None:
    claude = rates_of(model("anthropic/claude-sonnet-4-5"))
    gemini = rates_of(model("gemini/gemini-2.5-pro"))
    assert claude is not None
    assert claude.stored == pytest.approx(1.25 * claude.read)
    assert gemini is not None
    assert [above for above, _ in gemini.steps] == [200_000]


PRICE = st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.25, 3.0, 10.0])
MAYBE = st.none() | PRICE
RATES = st.tuples(PRICE, PRICE, PRICE, MAYBE, MAYBE).map(lambda prices: TokenPrices(*prices))
TOKENS = st.integers(0, 1000)


@given(
    rates=RATES,
    steps=st.lists(st.tuples(TOKENS, RATES), max_size=3),
    counts=st.tuples(TOKENS, TOKENS, TOKENS, TOKENS, TOKENS),
    slack=st.tuples(TOKENS, TOKENS),
)
def test_no_call_costs_more_than_was_reserved_for_it(
    rates: TokenPrices,
    steps: list[tuple[int, TokenPrices]],
    counts: tuple[int, ...],
    slack: tuple[int, int],
) -> None:
    """Whatever its tokens are, as long as they are no more than were reserved."""
    rates = rates._replace(steps=tuple(sorted(steps, key=lambda step: step[0])))
    fresh, cached, stored, number, thought = counts
    usage = Usage(
        prompt_tokens=fresh + cached + stored,
        cached_tokens=cached,
        stored_tokens=stored,
        completion_tokens=number + thought,
        reasoning_tokens=thought,
    )
    most = rates.highest(usage.prompt_tokens + slack[0], usage.completion_tokens + slack[1])
    assert rates.usd(usage) <= most * (1 + 1e-9)


def test_batches_cost_the_part_that_the_provider_or_the_host_says() -> None:
    dear = TokenPrices(4.0, 2.0, 8.0, 6.0, None, ((100, TokenPrices(8.0, 8.0, 16.0)),))
    half = TokenPrices(2.0, 1.0, 4.0, 3.0, None, ((100, TokenPrices(4.0, 4.0, 8.0)),))
    assert dear.times(0.5) == half
    assert batch_price_of(model("openai/gpt-4o-mini")) == 0.5
    assert batch_price_of(model("anthropic/claude", batch_price=0.25)) == 0.25
    assert batch_price_of(model("gpt-4o-mini", api_base="http://h/v1")) is None
    assert batch_price_of(model("groq/llama")) is None
