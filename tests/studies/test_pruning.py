"""Whom a town retires: the study's own rules."""

from studies.pruning import retired


def test_those_who_lag_are_found_by_their_recent_mean() -> None:
    by_mean = retired(4, tasks=200, seed=0, prune_by="recent_mean", prune_tasks=6)
    by_task = retired(4, tasks=200, seed=0, prune_by="each_task", prune_tasks=10)
    assert by_mean[True] > by_task[True]
