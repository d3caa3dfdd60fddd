"""The recipe settings of a population; the defaults are those of EvoChamber, Table 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .dream.ideas import INSIGHTS


@dataclass(frozen=True, kw_only=True, slots=True)
class PopulationSettings:
    """Settings of a population. `mas dev explain settings` shows the fields."""

    founder: str | None = None
    pool_size: int = 20
    team_size: int = 3
    alpha: float = 0.3
    initial: float = 0.5
    beta: float = 0.3
    synergy_tasks: int = 5
    lambda_q: float = 1.0
    lambda_sigma: float = 0.3
    lambda_omega: float = 0.5
    lambda_u: float = 0.3
    lambda_d: float = 0.5
    selector: Literal["niche", "random"] = "niche"
    structure: str = "leader"
    bank: int = 3
    learning: bool = True
    lessons: int = 3
    room: int = 2400
    dedup: float = 0.85
    codream: bool = True
    theta: float = 0.6
    own_attempts: Literal["after_failure", "always", "never"] = "after_failure"
    shared_failure: Literal["learn", "abstain"] = "learn"
    reattempts: int = 1
    transfer: Literal["asymmetric", "symmetric"] = "asymmetric"
    deficit: Literal["niche_or_failed", "niche", "recent"] = "niche_or_failed"
    cross_domain: Literal["everybody", "deficit"] = "everybody"
    insights: int = INSIGHTS
    lifecycle: bool = True
    tau: int = 10
    rolling: int = 10
    fork_top: float = 0.1
    fork_tasks: int = 5
    merge_similarity: float = 0.95
    merge_tasks: int = 10
    prune_below: float = 0.8
    prune_by: Literal["recent_mean", "each_task"] = "recent_mean"
    prune_tasks: int = 10
    genesis_below: int = 15
    genesis_affinity: float = 0.4
    specialize_above: float = 0.8
    largest: int = 40
