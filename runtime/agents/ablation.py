"""Ablation: who takes no part in a run, so that it shows what the others come to without them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Ablation:
    """Who takes no part in a run, or in a round of it (MATTRL §5.1).

    Colleagues work as if those who are silent were not there: they read no report and no letter of
    them, and nobody tells them that one is missing. What others have noted of them they go on
    reading, so whoever does not hear them is asked what it is asked in the run without silence, in
    the same words and under the same path: a journal of that run answers it.

    Attributes:
        agents: Silent in the whole run.
        turns: Silent in one round only, as (agent, number of the round). A team without rounds
            makes one.
    """

    agents: frozenset[str] = frozenset()
    turns: frozenset[tuple[str, int]] = frozenset()

    def during(self, number: int) -> frozenset[str]:
        """Name those who are silent in a round."""
        return self.agents | {agent for agent, round_ in self.turns if round_ == number}

    @property
    def names(self) -> frozenset[str]:
        """The agents that are silent at any time."""
        return self.agents | {agent for agent, _ in self.turns}


NOBODY_SILENT = Ablation()
