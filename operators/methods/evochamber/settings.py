"""What a recipe says of a population; the defaults are those of EvoChamber, Table 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .dream.ideas import INSIGHTS


@dataclass(frozen=True, kw_only=True, slots=True)
class PopulationSettings:
    """How a population works and changes. `evochamber.schema.json` tells the units and the bounds.

    Attributes:
        founder: The agent file that all agents begin as; None: a generic assistant without tools.
        pool_size: How many agents there are at first (N).
        team_size: How many work on a task (k).
        alpha: How much the last task weighs in competence (Eq. 2).
        initial: The competence in a niche that an agent has not met.
        beta: How much the last task weighs in synergy (Eq. 6).
        synergy_tasks: Tasks of a niche that two have to share before their synergy counts.
        lambda_q: The weight of competence in choosing the complement (Eq. 4).
        lambda_sigma: The weight of synergy there.
        lambda_omega: The weight of being unlike the anchor there.
        lambda_u: The weight of inexperience in choosing the scout (Eq. 5).
        lambda_d: The weight of being unlike the others there.
        selector: How teams are chosen: by niche, or at random (an ablation).
        structure: What a team's structure is chosen by: its leader, or always one by its name.
        bank: How many earlier rounds of leadership a leader is shown.
        learning: Whether agents reflect on what they did, and keep lessons.
        lessons: How many lessons, and how many insights, an agent is reminded of.
        room: Characters that all of them together may take.
        dedup: Similarity above which two lessons of an agent are made one.
        codream: Whether knowledge flows between agents.
        theta: The mean reward below which a team dreams.
        own_attempts: When members attempt the task alone whose structure has them answer no task.
        shared_failure: What a team does of which nobody succeeded.
        reattempts: How many attempts with an insight have to be worth more than the first.
        transfer: To whom insights go: those who lack them, or everybody (an ablation).
        deficit: Who lacks an insight.
        cross_domain: To whom those go that are for tasks of any kind.
        insights: The most insights of a dream.
        lifecycle: Whether the roster changes.
        tau: Tasks between two looks at the roster.
        rolling: How many of an agent's last tasks its rolling reward is of.
        fork_top: The share of agents that are forked, the best by rolling reward.
        fork_tasks: Tasks that an agent needs for that.
        merge_similarity: Overlap of competence above which two agents are merged.
        prune_below: An agent lags when its score is below this share of the pool's mean.
        prune_by: Which score: its rolling reward, or that of the task.
        prune_tasks: Tasks in a row that an agent lags before it is retired.
        genesis_below: Agents under which new ones are made; at most as many as there were at first.
        genesis_affinity: The competence that somebody needs in a niche, or an agent is made for it.
        specialize_above: The competence in its dominant niche from which an agent is specialized.
        largest: The most agents that there may be.
    """

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
