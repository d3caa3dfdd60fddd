"""Budgets: a call's highest cost is reserved before it, and its actual cost settled after it.

So concurrent calls cannot together exceed a cap that each of them respects. Budgets form a tree: an
agent's cost counts in its run, and the run's in its evolution.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ...schema.values.errors import LimitError
from ...schema.values.terminal import counted
from .caps import Caps
from .usage import NOTHING, Usage

__all__ = ["Budget", "BudgetReached", "Caps", "Reservation"]

Cap = Literal["usd", "tokens", "calls", "seconds"]

COUNTED: tuple[Literal["usd", "tokens", "calls"], ...] = ("usd", "tokens", "calls")
"""The caps on the consumption of calls, in the order of an `_Amounts`."""
PICOS_PER_USD = 10**12
"""USD are counted in whole picodollars: sums of floats would drift, and exceed or miss a cap."""

NO_CAPS = Caps()

_Amounts = tuple[int, int, int]


class BudgetReached(LimitError):
    """The next call exceeds the budget, or its time is up."""

    def __init__(self, message: str, *, cap: Cap, budget: Budget) -> None:
        super().__init__(message)
        self.cap: Cap = cap
        self.budget = budget


class Budget:
    """Caps, and what is spent and reserved under them. It belongs to one event loop.

    * Must never let the reserved and spent amounts exceed a cap, as long as no call consumes more
      than its reservation. A call that does is counted in full.
    * Must serve waiting calls first come, first served, unless a call waits for a budget that later
      ones do not use.

    Args:
        parent: The budget that this one is a part of; it and its parents count and cap too.
        name: Its owner, for messages: `the run`, `agent critic`.
        clock: Returns the time in seconds; only differences matter.

    Attributes:
        reached: Its own caps that refused a call, or whose time is up.
    """

    def __init__(
        self,
        caps: Caps = NO_CAPS,
        *,
        parent: Budget | None = None,
        name: str = "the run",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.caps = caps
        self.parent = parent
        self.name = name
        self.reached: set[Cap] = set()
        self._clock = clock
        self._started = clock()
        self._spent = NOTHING
        self._used = [0, 0, 0]
        self._reserved = [0, 0, 0]
        self._limits = () if caps is NO_CAPS else _limits(caps)
        self._above = () if parent is None else parent._chain
        # Most budgets cap nothing: nobody looks for room in them, and they do not refer to
        # themselves, so that those of calls are gone with their calls.
        capped, timed = ((), ()) if parent is None else (parent._capped, parent._timed)
        self._capped: tuple[Budget, ...] = (self, *capped) if self._limits else capped
        self._timed: tuple[Budget, ...] = timed if caps.seconds is None else (self, *timed)
        self._waiting = deque[Reservation]() if parent is None else parent._waiting

    def child(
        self, caps: Caps = NO_CAPS, name: str = "a part", *, spent: Usage | None = None
    ) -> Budget:
        """Create the budget of a part, which counts here as well.

        Args:
            spent: What the part has already spent, already counted here.
        """
        part = Budget(caps, parent=self, name=name, clock=self._clock)
        if spent is not None:
            part._add(spent)
        return part

    @property
    def _chain(self) -> tuple[Budget, ...]:
        return (self, *self._above)

    @property
    def spent(self) -> Usage:
        """The amount spent so far, by all parts."""
        return self._spent

    @property
    def seconds(self) -> float:
        """Seconds since the budget was created, plus the time of earlier processes."""
        return self._clock() - self._started

    def left(self) -> float | None:
        """Return the seconds until a time cap is reached, here or in a parent; None without one."""
        if not self._timed:
            return None
        late = self._latest()
        return None if late is None else max(0.0, late._time_left())

    def check_time(self) -> None:
        """Check that there is time left.

        Raises:
            BudgetReached: A cap on seconds is reached, here or in a parent.
        """
        if self.left() == 0:
            raise self.time_is_up()

    def time_is_up(self) -> BudgetReached:
        """Return the error that names the budget whose time is up first."""
        late = self._latest() or self
        late.reached.add("seconds")
        return BudgetReached(
            f"{late.name} has reached its budget {late._shown('seconds')}: so long has it been at"
            " work. Raise seconds to go on.",
            cap="seconds",
            budget=late,
        )

    def deposit(self, usage: Usage, *, seconds: float = 0.0) -> None:
        """Count an amount spent elsewhere, for example by an earlier process of the same run.

        Args:
            usage: Counts here and in all parents.
            seconds: Count here only, since concurrent parts share their parents' time.
        """
        self._started -= seconds
        self._count(usage)
        self._serve()

    async def reserve(
        self, *, tokens: int, usd: float | None, calls: int = 1, prompt_tokens: int = 0
    ) -> Reservation:
        """Reserve the highest cost of a call, here and in all parents.

        If it does not fit now but may fit later, this waits for other calls to cost less than
        reserved. The caller bounds that wait by `left`.

        Args:
            tokens: Prompt and output tokens.
            usd: Their price in USD; None if unknown, which no USD cap can bound.
            calls: The number of calls.
            prompt_tokens: The prompt's part of the tokens.

        Raises:
            BudgetReached: It cannot fit, whatever other calls cost; or time is up.
        """
        claim = Reservation(
            budget=self, tokens=tokens, usd=usd, calls=calls, prompt_tokens=prompt_tokens
        )
        self.check_time()
        # Behind others it waits even if it fits: small calls could otherwise starve a large one.
        if self._waiting or self._short(claim.amounts):
            await self._turn(claim)
        else:
            self._take(claim.amounts)
        return claim

    def reopen(
        self, deposited: Usage, tokens: int, usd: float | None, prompt_tokens: int
    ) -> Reservation:
        """Reserve the cost of a call that an earlier process left in flight.

        It replaces the amount `deposited` for the call, so it never waits and is never refused. The
        other arguments are those of `reserve`.
        """
        claim = Reservation(
            budget=self, tokens=tokens, usd=usd, calls=1, prompt_tokens=prompt_tokens
        )
        for budget in self._chain:  # budgets below the run began without a deposit
            budget._spent = budget._spent - deposited
            amounts = (round(deposited.usd * PICOS_PER_USD), deposited.tokens, deposited.calls)
            pairs = zip(budget._used, amounts, strict=True)
            budget._used = [max(0, used - amount) for used, amount in pairs]
        self._take(claim.amounts)
        return claim

    async def _turn(self, claim: Reservation) -> None:
        """Wait until a claim is reserved or refused."""
        claim.turn = asyncio.get_running_loop().create_future()
        self._waiting.append(claim)
        self._serve()
        try:
            refusal = await claim.turn
        except asyncio.CancelledError:
            self._give_up(claim)
            raise
        if refusal is not None:
            raise refusal

    def _give_up(self, claim: Reservation) -> None:
        """Withdraw a claim whose caller is gone: it may be waiting, or just have been served."""
        if claim in self._waiting:
            self._waiting.remove(claim)
            self._serve()
        elif claim.turn.result() is None:
            claim.release()

    def _serve(self) -> None:
        """Serve waiting claims in order. A waiting claim blocks others in its budget."""
        held: set[Budget] = set()
        root = self._chain[-1]
        for claim in tuple(self._waiting):
            if claim.turn.done():
                continue  # its caller was cancelled and is about to withdraw it
            budget = claim.budget
            if refusal := budget._refusal(claim.amounts):
                self._waiting.remove(claim)
                claim.turn.set_result(refusal)
            elif short := budget._short(claim.amounts):
                # It may fit once others settle for less, and keeps its place until then.
                held.update(short)
            elif held.isdisjoint(budget._chain):
                self._waiting.remove(claim)
                budget._take(claim.amounts)
                claim.turn.set_result(None)
            if root in held:
                return

    def _short(self, amounts: _Amounts) -> list[Budget]:
        """Return the budgets where amounts do not fit beside what is spent and reserved."""
        return [
            budget
            for budget in self._capped
            for index, limit in budget._limits
            if budget._used[index] + budget._reserved[index] + amounts[index] > limit
        ]

    def _refusal(self, amounts: _Amounts) -> BudgetReached | None:
        """Return why amounts can never fit beside what is already spent."""
        for budget in self._capped:
            for index, limit in budget._limits:
                if budget._used[index] + amounts[index] > limit:
                    cap = COUNTED[index]
                    budget.reached.add(cap)
                    message = budget._reached(cap, amounts[index])
                    return BudgetReached(message, cap=cap, budget=budget)
        return None

    def _take(self, amounts: _Amounts) -> None:
        for budget in self._capped:
            for index, amount in enumerate(amounts):
                budget._reserved[index] += amount

    def _close(self, amounts: _Amounts, usage: Usage | None) -> None:
        """Replace a reservation by the amount spent, if any."""
        for budget in self._capped:
            for index, amount in enumerate(amounts):
                budget._reserved[index] -= amount
        if usage is not None:
            self._count(usage)
        if self._waiting:
            self._serve()

    def _count(self, usage: Usage) -> None:
        self._add(usage)
        for budget in self._above:
            budget._add(usage)

    def _add(self, usage: Usage) -> None:
        self._spent += usage
        if not self._limits:
            return
        # Caps count doubted amounts as well, so that an endpoint cannot evade them by understating.
        self._used[0] += round((usage.usd + usage.doubted_usd) * PICOS_PER_USD)
        self._used[1] += usage.tokens + usage.doubted_tokens
        self._used[2] += usage.calls

    def _latest(self) -> Budget | None:
        return min(self._timed, key=Budget._time_left, default=None)

    def _time_left(self) -> float:
        return math.inf if self.caps.seconds is None else self.caps.seconds - self.seconds

    def _reached(self, cap: Literal["usd", "tokens", "calls"], amount: int) -> str:
        spent = self._spent
        match cap:
            case "usd":
                cost = spent.cost if spent.usd else "nothing"
                state = (
                    f"{cost} was spent so far, and the next call may cost up to"
                    f" ${amount / PICOS_PER_USD:.4f}. Raise usd, or lower max_tokens,"
                )
            case "tokens":
                state = (
                    f"{counted(spent.tokens, 'token')} were used so far, and the next call may take"
                    f" up to {amount}. Raise tokens, or lower max_tokens,"
                )
            case "calls":
                state = f"{counted(spent.calls, 'call')} made so far. Raise calls"
        return f"{self.name} has reached its budget {self._shown(cap)}: {state} to go on."

    def _shown(self, cap: Cap) -> str:
        """Return a cap as users write it."""
        return f"{cap}={getattr(self.caps, cap):.15g}"


def _limits(caps: Caps) -> tuple[tuple[int, int], ...]:
    """Return the caps that are set on the consumption of calls, each with its amount's index."""
    usd = None if caps.usd is None else round(caps.usd * PICOS_PER_USD)
    limits = enumerate((usd, caps.tokens, caps.calls))
    return tuple((index, limit) for index, limit in limits if limit is not None)


@dataclass(kw_only=True, slots=True, eq=False)
class Reservation:
    """The reserved cost of a call. Ends in one of three ways, once."""

    budget: Budget
    tokens: int
    usd: float | None
    calls: int
    prompt_tokens: int
    amounts: _Amounts = field(init=False)
    turn: asyncio.Future[BudgetReached | None] = field(init=False)
    _open: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self.amounts = (round((self.usd or 0.0) * PICOS_PER_USD), self.tokens, self.calls)

    def settle(self, usage: Usage) -> None:
        """Count the actual cost in place of the reserved one; it may be higher."""
        self._end(usage)

    def release(self) -> None:
        """Count nothing: nothing was spent."""
        self._end(None)

    def keep(self) -> None:
        """Count all that was reserved: the call may have been billed although no answer arrived."""
        self._end(self.most)

    @property
    def most(self) -> Usage:
        """The whole reservation, as the usage of a call without an answer."""
        return Usage(
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.tokens - self.prompt_tokens,
            usd=self.usd or 0.0,
            unpriced_calls=0 if self.usd is not None else self.calls,
            uncertain_calls=self.calls,
            uncertain_usd=self.usd or 0.0,
        )

    def _end(self, usage: Usage | None) -> None:
        if not self._open:
            raise RuntimeError("this reservation has ended already")
        self._open = False
        self.budget._close(self.amounts, usage)  # pyright: ignore[reportPrivateUsage]
