"""The costs of a journal's calls, so that sums need not read the journal again."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ...schema.values.codec import stored
from ..values.usage import Usage

State: TypeAlias = Literal["open", "settled", "lost"]
Cost: TypeAlias = tuple[Usage, State]
"""The cost of an attempt, or the highest possible one, and whether it is settled."""
ATTEMPTS = "/attempts"
"""The suffix that turns the path of a call into that of its attempts."""


@stored()
class Attempt:
    """An attempt of a call.

    Attributes:
        usage: Its cost, or the highest possible one.
        state: Whether the cost is settled. A lost or open attempt may have cost the most.
        since: When it began, in seconds since the run did; None if unknown.
        asked: The digest of a request in a batch, which another process can collect; else None.
    """

    usage: Usage
    state: State
    since: float | None = None
    until: float | None = None
    asked: str | None = None


@dataclass(kw_only=True, eq=False)
class Costs:
    """The known cost of each attempt of each call.

    An answer's own cost counts only without attempts, as when it came from the cache.
    """

    _calls: list[str] = field(default_factory=list[str])
    _attempts: dict[str, dict[str, Cost]] = field(default_factory=dict[str, dict[str, Cost]])
    _answers: dict[str, dict[str, Usage]] = field(default_factory=dict[str, dict[str, Usage]])

    def attempt(self, path: str, number: str, usage: Usage, state: State) -> None:
        """Record the cost of an attempt, replacing the earlier one."""
        call = path.removesuffix(ATTEMPTS)
        self._add(call)
        self._attempts.setdefault(call, {})[number] = usage, state

    def answer(self, call: str, key: str, usage: Usage) -> None:
        """Record the cost of a call's answer."""
        self._add(call)
        self._answers.setdefault(call, {})[key] = usage

    def has_attempts(self, call: str) -> bool:
        """Return whether an attempt of a call is known."""
        return call in self._attempts

    def under(self, begin: str) -> Iterator[Cost]:
        """Return all costs of calls whose paths begin with `under`, in the order of the paths."""
        first = bisect_left(self._calls, begin)
        last = bisect_left(self._calls, f"{begin}\U0010ffff")
        for call in self._calls[first:last]:
            if call in self._attempts:
                yield from self._attempts[call].values()
            else:
                for usage in self._answers[call].values():
                    yield usage, "settled"

    def _add(self, call: str) -> None:
        if call not in self._attempts and call not in self._answers:
            insort(self._calls, call)
