"""Ablation: agents that take no part in a run, to measure the others' result without them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Ablation:
    """The silent agents of a run, or of a round of it (MATTRL §5.1).

    Colleagues work as if silent agents did not exist: they read no report and no message of them,
    and are not told that one is missing. They still read what others noted of silent agents. So an
    agent that does not read a silent one is asked the same question under the same path as in the
    run without silence, and that run's journal answers it.

    Attributes:
        agents: Silent in the whole run.
        turns: Silent in one round only, as (agent, number of the round). A team without rounds has
            one.
    """

    agents: frozenset[str] = frozenset()
    turns: frozenset[tuple[str, int]] = frozenset()

    def during(self, number: int) -> frozenset[str]:
        """Return the agents that are silent in a round."""
        return self.agents | {agent for agent, round_ in self.turns if round_ == number}

    @property
    def names(self) -> frozenset[str]:
        """The agents that are silent at any time."""
        return self.agents | {agent for agent, _ in self.turns}


NOBODY_SILENT = Ablation()
