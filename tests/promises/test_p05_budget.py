"""P5: a budget is never overshot, whatever calls cost, however they fail and whoever is cancelled.

Two proofs. The first plays whole runs: workers ask models of random prices through the gateway,
within budgets of agents, runs and an evolution, while the provider keeps books of its own. The
second lets hypothesis do with a tree of budgets what it likes.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Gateway
from coterie.runtime.gateway.metering import tokens_in
from coterie.runtime.values.budget import (
    PICOS_PER_USD,
    Budget,
    BudgetReached,
    Caps,
    Reservation,
)
from coterie.runtime.values.usage import Usage
from coterie.schema import Model

from ..provider import Provider
from ..virtual_time import virtual_clock, virtually

WORKERS = 8
SHARDS = 4
CASES = {"nightly": 100_000, "ci": 75}
"""Cases of each shard."""
ASKED = 500
"""Most characters of a prompt."""


@dataclass(kw_only=True, eq=False)
class Case:
    """One run of eight workers, with chance's caps, prices, answers and failures."""

    chance: random.Random
    outcomes: Counter[str]
    billed_usd: Fraction = Fraction(0)
    billed_tokens: int = 0
    billed_calls: int = 0
    budgets: list[Budget] = field(default_factory=list[Budget])

    async def play(self) -> None:
        chance = self.chance
        models = {name: self._model(name) for name in ("default", "other")}
        self.evolution = self._budget(None, "the evolution")
        run = self._budget(self.evolution, "the run")
        provider = Provider(self._behave)
        async with Gateway(models, environment={}, seed=1, clock=virtual_clock) as gateway:
            gateway._clients["openai"] = provider
            self.models = gateway.models
            workers = [
                asyncio.create_task(self._work(gateway, self._budget(run, f"agent {number}")))
                for number in range(WORKERS)
            ]
            for worker in workers:
                if chance.random() < 0.1:
                    delay = chance.uniform(0, 3)
                    asyncio.get_running_loop().call_later(delay, worker.cancel)
            await asyncio.gather(*workers, return_exceptions=True)
        assert provider.open == 0
        self._compare(at_end=True)

    def _model(self, name: str) -> Model:
        chance = self.chance
        prices = [chance.choice([0.0, 0.15, chance.uniform(0, 50)]) for _ in range(3)]
        return Model(
            alias=name,
            model=name,
            api_base="http://provider/v1",
            usd_per_mtok_input=prices[0],
            usd_per_mtok_cached=prices[1],
            usd_per_mtok_output=prices[2],
            concurrency=chance.choice([None, 1, 3]),
            timeout=chance.choice([1.0, 300.0]),
            fallback=("other",) if name == "default" and chance.random() < 0.3 else (),
        )

    def _budget(self, parent: Budget | None, name: str) -> Budget:
        chance = self.chance

        def maybe(value: float) -> float | None:
            return value if chance.random() < 0.35 else None

        caps = Caps(
            usd=maybe(10 ** chance.uniform(-5, -1.5)),
            tokens=maybe(chance.randint(50, 20_000)),  # pyright: ignore[reportArgumentType]
            calls=maybe(chance.randint(1, 20)),  # pyright: ignore[reportArgumentType]
            seconds=maybe(chance.uniform(0.1, 20)),
        )
        budget = Budget(caps, parent=parent, name=name, clock=virtual_clock)
        self.budgets.append(budget)
        return budget

    async def _work(self, gateway: Gateway, budget: Budget) -> None:
        for _ in range(self.chance.randint(1, 2)):
            request = ChatRequest(
                model=self.chance.choice(["default", "other"]),
                messages=[{"role": "user", "content": "x" * self.chance.randint(0, ASKED)}],
                max_tokens=self.chance.randint(1, 1000),
                retries=self.chance.randint(0, 2),
            )
            try:
                await gateway.chat(request, budget=budget)
            except BudgetReached as reached:
                self.outcomes[reached.cap] += 1
                return
            except CallError as error:
                self.outcomes[error.kind] += 1
            except asyncio.CancelledError:
                self.outcomes["cancelled"] += 1
                raise
            else:
                self.outcomes["answered"] += 1

    async def _behave(self, name: str, body: Mapping[str, Any]) -> ChatAnswer:
        """Answer, or fail, or hang; and bill what is consumed, said or not."""
        chance = self.chance
        self._compare()
        fate = chance.random()
        if fate < 0.1:
            raise CallError("no", kind="busy", retry_after=chance.choice([None, 1.0, 30.0]))
        if fate < 0.15:
            raise CallError("no", kind=chance.choice(["down", "denied", "overflow"]))
        usage, text = self._consumed(body)
        self._bill(name, usage)
        await asyncio.sleep(chance.choice([0.0, 0.0, chance.uniform(0, 2)]))
        self._compare()
        if fate < 0.25:
            raise CallError("lost", kind=chance.choice(["down", "malformed"]), may_be_billed=True)
        if fate < 0.35:
            report = chance.choice([Usage(calls=1), Usage(calls=1, prompt_tokens=1)])
            return ChatAnswer(text=text, usage=report + Usage(unmetered_calls=1))
        return ChatAnswer(text=text, usage=usage)

    def _consumed(self, body: Mapping[str, Any]) -> tuple[Usage, str]:
        """Draw a usage that stays within our estimate of the prompt and within max_tokens."""
        chance = self.chance
        prompt = chance.randint(1, tokens_in(len(str(body["messages"]).encode())))
        completion = chance.randint(0, body["max_tokens"])
        usage = Usage(
            calls=1,
            prompt_tokens=prompt,
            cached_tokens=chance.choice([0, prompt, chance.randint(0, prompt)]),
            completion_tokens=completion,
        )
        return usage, "y" * (2 * completion)

    def _bill(self, name: str, usage: Usage) -> None:
        model = self.models[name]
        prices = [model.usd_per_mtok_input, model.usd_per_mtok_cached, model.usd_per_mtok_output]
        read, cached, written = (Fraction(price or 0) / 10**6 for price in prices)
        uncached = usage.prompt_tokens - usage.cached_tokens
        self.billed_usd += uncached * read + usage.cached_tokens * cached
        self.billed_usd += usage.completion_tokens * written
        self.billed_tokens += usage.tokens
        self.billed_calls += 1

    def _compare(self, *, at_end: bool = False) -> None:
        """Hold the budgets against their caps, and the provider's books against the caps."""
        for budget in self.budgets:
            for index, limit in budget._limits:
                assert budget._used[index] + budget._reserved[index] <= limit, budget.name
            assert not at_end or budget._reserved == [0, 0, 0]
        caps = self.evolution.caps
        rounding = Fraction(1, 10**9)  # of picodollars, for each call
        assert caps.usd is None or self.billed_usd <= Fraction(caps.usd) + rounding
        assert caps.tokens is None or self.billed_tokens <= caps.tokens
        assert caps.calls is None or self.billed_calls <= caps.calls
        if at_end:
            spent = self.evolution.spent
            assert self.billed_usd <= Fraction(spent.usd) + rounding
            assert self.billed_tokens <= spent.tokens
            assert self.billed_calls == spent.calls
            seconds = caps.seconds
            assert seconds is None or virtual_clock() - self.evolution._started <= seconds + 1e-6


@pytest.mark.parametrize("shard", range(SHARDS))
@virtually
async def test_p5_the_providers_own_books_never_pass_a_cap(shard: int, nightly: bool) -> None:
    cases = CASES["nightly" if nightly else "ci"]
    outcomes: Counter[str] = Counter()
    for number in range(cases):
        await Case(chance=random.Random(shard * 10**6 + number), outcomes=outcomes).play()
    expected = {"answered", "usd", "tokens", "calls", "seconds", "cancelled", "busy", "timeout"}
    assert expected <= set(outcomes)
    assert sum(outcomes[cap] for cap in ("usd", "tokens", "calls", "seconds")) > cases


AMOUNTS = {
    "usd": st.one_of(st.none(), st.floats(0, 2)),
    "tokens": st.integers(0, 200),
    "calls": st.integers(0, 2),
}
CAPS = st.builds(
    Caps,
    usd=st.none() | st.floats(0.01, 5),
    tokens=st.none() | st.integers(1, 500),
    calls=st.none() | st.integers(1, 6),
)


class BudgetMachine(RuleBasedStateMachine):
    """Reserves, settles, keeps, releases and cancels, in a tree of budgets, in any order.

    Attributes:
        excess: By how much calls passed what was reserved for them, for each budget.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.budgets: list[Budget] = []
        self.asking: list[tuple[asyncio.Task[Reservation], Budget]] = []
        self.held: list[Reservation] = []
        self.excess: Counter[tuple[Budget, int]] = Counter()

    def teardown(self) -> None:
        for task, _ in self.asking:
            task.cancel()
        self._let_run()
        self.loop.close()

    @rule(caps=CAPS, data=st.data())
    def divide(self, caps: Caps, data: st.DataObject) -> None:
        if len(self.budgets) < 5:
            parent = data.draw(st.sampled_from(self.budgets)) if self.budgets else None
            self.budgets.append(parent.child(caps) if parent else Budget(caps))

    @precondition(lambda self: self.budgets)
    @rule(amounts=st.fixed_dictionaries(AMOUNTS), data=st.data())
    def reserve(self, amounts: dict[str, Any], data: st.DataObject) -> None:
        budget = data.draw(st.sampled_from(self.budgets))
        self.asking.append((self.loop.create_task(budget.reserve(**amounts)), budget))

    @precondition(lambda self: self.held)
    @rule(share=st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.5]), data=st.data(), cancels=st.booleans())
    def settle(self, share: float, data: st.DataObject, cancels: bool) -> None:
        reservation = self._drawn(data)
        tokens, usd = int(reservation.tokens * share), (reservation.usd or 0) * share
        usage = Usage(calls=reservation.calls, completion_tokens=tokens, usd=usd)
        reservation.settle(usage)
        used = (round(usage.usd * PICOS_PER_USD), tokens, usage.calls)
        for index, amount in enumerate(reservation.amounts):
            more = used[index] - amount
            for budget in reservation.budget._chain:
                self.excess[budget, index] += max(0, more)
        if cancels and self.asking:  # who may just have been served, and does not know yet
            self.cancel(data)

    @precondition(lambda self: self.held)
    @rule(billed=st.booleans(), data=st.data())
    def fail(self, billed: bool, data: st.DataObject) -> None:
        reservation = self._drawn(data)
        if billed:
            reservation.keep()
        else:
            reservation.release()

    @precondition(lambda self: self.asking)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        task, _ = data.draw(st.sampled_from(self.asking))
        task.cancel()

    @invariant()
    def no_cap_is_passed_but_by_what_calls_cost_beyond_their_reservation(self) -> None:
        for turn in range(5):
            for budget in self.budgets:
                for index, limit in budget._limits:
                    promised = budget._used[index] + budget._reserved[index]
                    assert promised <= limit + self.excess[budget, index]
            if turn < 4:  # at every step of whoever waits
                self.loop.run_until_complete(asyncio.sleep(0))
        self._let_run()

    @invariant()
    def what_is_reserved_is_what_is_held(self) -> None:
        self._let_run()
        for budget in (budget for budget in self.budgets if budget._limits):
            held = [item.amounts for item in self.held if budget in item.budget._chain]
            sums = [sum(column) for column in zip((0, 0, 0), *held, strict=True)]
            assert budget._reserved == sums

    @invariant()
    def who_waits_waits_for_a_call_in_flight_of_a_budget_that_it_needs(self) -> None:
        self._let_run()
        for _, budget in self.asking:
            assert any(set(budget._chain) & set(item.budget._chain) for item in self.held)
        if self.asking:
            first = self.budgets[0]._waiting[0]
            assert first.budget._short(first.amounts)

    def _drawn(self, data: st.DataObject) -> Reservation:
        return self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))

    def _let_run(self) -> None:
        """Let tasks go on until all wait, and sort them by how they ended."""
        for _ in range(4):
            self.loop.run_until_complete(asyncio.sleep(0))
        ended = [task for task, _ in self.asking if task.done() and not task.cancelled()]
        self.asking = [(task, budget) for task, budget in self.asking if not task.done()]
        for task in ended:
            refusal = task.exception()
            if refusal is None:
                self.held.append(task.result())
            else:
                assert isinstance(refusal, BudgetReached)


def test_p5_a_tree_of_budgets_holds_under_any_interleaving(nightly: bool) -> None:
    examples = 20_000 if nightly else 30
    run_state_machine_as_test(
        BudgetMachine,
        settings=settings(max_examples=examples, stateful_step_count=40),
    )
