"""The limits of a run over all its rounds: the team's time, and each agent's spending."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

from ..values.own_time import OwnTime
from ..values.usage import NOTHING, Usage

if TYPE_CHECKING:
    from ..agents.outcomes import Run
    from ..record.journal import Journal


class Allowance:
    """The time of a run, and the spending of its agents in its passes so far.

    Args:
        timeout: Seconds that all passes together may take.

    Attributes:
        time: The part of that time in which some agent worked instead of waiting for its model.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.time = OwnTime(timeout)
        self._ends: float | None = None
        self._paths: list[str] = []
        self._ended: set[str] = set()
        self._recorded: dict[str, tuple[int, Usage]] = {}
        self._spent: defaultdict[str, Usage] = defaultdict(lambda: NOTHING)
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def left(self) -> float:
        """Return the seconds that are left, counted from the first call."""
        now = asyncio.get_running_loop().time()
        if self._ends is None:
            self._ends = now + self.timeout
        return max(0.0, self._ends - now)

    def count(self, run: Run, path: str) -> None:
        """Count a pass that has ended.

        Args:
            path: The pass's path in the journal.
        """
        if path not in self._ended:
            self._ended.add(path)
            self._paths.append(path)
        for agent_id, outcome in run.agents.items():
            self._spent[agent_id] += outcome.usage
            self._seconds[agent_id] += outcome.seconds

    def of(self, agent_id: str, path: str, journal: Journal | None) -> tuple[Usage, float]:
        """Return an agent's spending so far, and the seconds that it has worked.

        The journal also holds the cost of failed calls of earlier processes.

        Args:
            path: The path of the pass that it is about to work in.
            journal: The run's journal, if it has one.
        """
        seconds = self._seconds[agent_id]
        if journal is None:
            return self._spent[agent_id], seconds
        # A pass that has ended costs no more, so each is read once.
        read, spent = self._recorded.get(agent_id, (0, NOTHING))
        ended = self._paths[read:]
        spent = sum((journal.spent(f"{name}{agent_id}/") for name in ended), spent)
        self._recorded[agent_id] = len(self._paths), spent
        if path not in self._ended:
            spent += journal.spent(f"{path}{agent_id}/")
        return spent, seconds
