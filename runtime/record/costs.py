"""What the calls of a journal cost, so that sums need not read it back."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..values.usage import Usage

State: TypeAlias = Literal["open", "settled", "lost"]
Cost: TypeAlias = tuple[Usage, State]
"""What an attempt cost, or may have, and whether that is settled."""
ATTEMPTS = "/attempts"
"""What follows the path of a call in the path of its attempts."""


@dataclass(kw_only=True, eq=False)
class Costs:
    """What each attempt of each call cost, as far as is known.

    An answer says what it cost only where no attempt does, as where it came from the cache.
    """

    _calls: list[str] = field(default_factory=list[str])
    _attempts: dict[str, dict[str, Cost]] = field(default_factory=dict[str, dict[str, Cost]])
    _answers: dict[str, dict[str, Usage]] = field(default_factory=dict[str, dict[str, Usage]])

    def attempt(self, path: str, number: str, usage: Usage, state: State) -> None:
        """Take note of an attempt, in place of what was noted of it before.

        Args:
            path: The path of its call's attempts.
        """
        call = path.removesuffix(ATTEMPTS)
        self._add(call)
        self._attempts.setdefault(call, {})[number] = usage, state

    def answer(self, call: str, key: str, usage: Usage) -> None:
        """Take note of an answer of a call."""
        self._add(call)
        self._answers.setdefault(call, {})[key] = usage

    def has_attempts(self, call: str) -> bool:
        """Return whether an attempt of a call is known."""
        return call in self._attempts

    def under(self, begin: str) -> Iterator[Cost]:
        """Return what everything cost whose call's path begins so, in the order of the paths."""
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
